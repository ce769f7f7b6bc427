//! The lines that matter in the log.

use std::{
    fmt::Write,
    sync::{Arc, Mutex},
};

use informer_core::FailureClass;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::rig::{Answer, Rig, added, bad_item, end, error, whole};

/// Collects lines of `info` and louder.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text(format!("span {}", span.metadata().name()));
        span.record(&mut text);
        self.0.lock().unwrap().push(text.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(event.metadata().level().to_string());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn lines(run: impl FnOnce()) -> Vec<String> {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), run);
    let lines = lines.0.lock().unwrap();
    lines.clone()
}

#[test]
fn the_first_sync_is_told() {
    let told = lines(|| {
        let mut rig = Rig::new();
        rig.source
            .list(whole("a@1 b@2", "2"))
            .watch(Answer::Open(vec![added("c@3")]));
        rig.start();
    });
    assert_eq!(told[0], "span reflector name=foos");
    assert_eq!(told[1], "INFO message=Synced objects=2 version=2");
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn what_needs_a_person_is_a_warning() {
    let told = lines(|| {
        let mut rig = Rig::new();
        rig.source.list(Answer::Fail(error(FailureClass::Forbidden)));
        rig.start();
    });
    assert!(
        told[1].starts_with("WARN") && told[1].contains("foos: list failed: the server said: forbidden"),
        "{told:?}"
    );
}

#[test]
fn only_repeated_failures_of_the_wire_are_warnings() {
    let told = lines(|| {
        let mut rig = Rig::new();
        for _ in 0..3 {
            rig.source.list(Answer::Fail(error(FailureClass::Refused)));
        }
        rig.start();
        rig.pass(3.0);
    });
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("failures=3"), "{told:?}");
}

/// One object that nobody can read must not fill the disk.
#[test]
fn repeated_undecodable_objects_become_rare_in_the_log() {
    let told = lines(|| {
        let mut rig = Rig::new();
        let items = (0..100).map(|n| bad_item(&format!("x@{n}")));
        rig.source.list(Answer::Open(items.chain([end("9")]).collect()));
        rig.start();
        assert_eq!(rig.errors().len(), 100);
    });
    let warnings = told.iter().filter(|line| line.starts_with("WARN")).count();
    assert_eq!(warnings, 7, "{told:?}");
}

/// WP-13: the warning names the resource, by its span, within ten seconds.
#[test]
fn a_silent_stream_is_a_warning() {
    let told = lines(|| {
        let mut rig = Rig::streaming();
        rig.source.watch(Answer::Open(vec![added("a@1")]));
        rig.start();
        rig.pass(10.1);
    });
    assert!(
        told[1].starts_with("WARN") && told[1].contains("brings nothing"),
        "{told:?}"
    );
}
