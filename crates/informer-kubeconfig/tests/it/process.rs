//! The environment of the process, with real files.

use std::sync::Arc;

use informer_kubeconfig::{Config, Environment, Overrides, ProcessEnvironment};

use crate::support::{file, headers, issued};

#[test]
fn real_files_are_read_and_read_again_through_a_link_that_moves() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("config");
    std::fs::write(&path, file("server: 'https://s'", "tokenFile: token")).expect("write");
    // The kubelet rotates a projected token by moving a link.
    std::fs::write(folder.path().join("one"), "first").expect("write");
    std::fs::write(folder.path().join("two"), "second").expect("write");
    std::fs::hard_link(folder.path().join("one"), folder.path().join("token")).expect("link");

    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some(path);
    let config = Config::find(&overrides).expect("config").expect("found");
    let (lines, issue) = issued(&config);
    assert_eq!(lines, ["authorization: Bearer first"]);
    std::fs::rename(folder.path().join("two"), folder.path().join("token")).expect("rename");
    config.authorizer().rejected(issue);
    assert_eq!(headers(&config), ["authorization: Bearer second"]);
}

#[test]
fn the_process_has_a_folder_and_a_clock() {
    let environment: Arc<dyn Environment> = Arc::new(ProcessEnvironment);
    assert!(environment.current_dir().expect("folder").is_absolute());
    assert!(environment.now() <= environment.now());
    assert!(environment.var("PATH").is_some());
}
