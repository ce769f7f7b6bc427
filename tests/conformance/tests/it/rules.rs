//! Each check is tagged with a sentence that stands in the documentation of the core, or of the transport.

use std::{collections::BTreeSet, fs, path::Path};

use informer_testkit::{block_on, conformance::Report};

/// All comments of documentation in the core, and of the transport, as one line.
fn documentation() -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let core = fs::read_dir(crates.join("informer-core/src")).unwrap();
    let mut files: Vec<_> = core.map(|file| file.unwrap().path()).collect();
    files.push(crates.join("informer-transport/src/transport.rs"));
    let mut text = String::new();
    for file in files {
        let source = fs::read_to_string(file).unwrap();
        let lines = source.lines().map(str::trim);
        for line in lines.filter_map(|line| line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))) {
            text.push_str(line.trim());
            text.push(' ');
        }
    }
    text
}

fn reports() -> Vec<Report> {
    vec![
        crate::store::ours().run(),
        crate::store_writer::ours().run(),
        crate::delta_queue::in_order().run(),
        crate::delta_sink::store_sink().run(),
        crate::key_func::ours().run(),
        crate::index_func::ours().run(),
        crate::event_handler::ours().run(),
        block_on(crate::lister_watcher::scripted().run()),
        block_on(crate::feed::scripted().run()),
        block_on(crate::clock::manual().run()),
        block_on(crate::transport::in_memory().run()),
    ]
}

#[test]
fn every_rule_is_a_sentence_of_the_contract() {
    let documentation = documentation();
    let mut n_checks = 0;
    for report in reports() {
        report.assert_conforms();
        let names: BTreeSet<&str> = report.checks().map(|(name, _)| name).collect();
        assert_eq!(names.len(), report.checks().count(), "two checks have one name");
        for (name, rule) in report.checks() {
            assert!(
                documentation.contains(rule),
                "{name} checks what nobody promised: {rule}"
            );
            n_checks += 1;
        }
    }
    assert!(n_checks > 100, "{n_checks}");
}
