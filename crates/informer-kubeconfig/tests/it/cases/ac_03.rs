//! AC-03: several kubeconfig files.

use std::path::Path;

use informer_kubeconfig::{Config, Kubeconfig, Overrides};

use crate::support::{certificate, find, headers, home, roots, shared};

#[test]
fn ac_03_several_kubeconfig_files() {
    let (authority, _) = certificate();
    let environment = home()
        .var("KUBECONFIG", "/d1/a::/missing:/d2/b:/d1/a")
        .file(
            "/d1/a",
            "{users: [{name: u, user: {username: first}}], contexts: [{name: a, context: {cluster: c, user: u}}], \
              current-context: a}",
        )
        .file(
            "/d2/b",
            "{users: [{name: u, user: {token: second}}, {name: v, user: {tokenFile: t}}], \
              clusters: [{name: c, cluster: {server: 'https://s', certificate-authority: ../ca.crt}}], \
              contexts: [{name: a, context: {cluster: none}}, {name: b, context: {cluster: c, user: v}}], \
              current-context: b}",
        )
        .file("/ca.crt", authority.clone())
        .file("/d2/t", "of-file");
    let config = find(&environment, &Overrides::default())
        .expect("config")
        .expect("found");
    assert_eq!(config.context(), Some("a"), "the first current-context counts");
    assert_eq!(
        headers(&config),
        ["authorization: Basic Zmlyc3Q6"],
        "the first entry counts whole"
    );
    assert_eq!(
        roots(&config),
        authority.as_bytes(),
        "a path is relative to the file that states it"
    );
    assert_eq!(environment.n_reads("/d1/a"), 1, "a file named twice is read once");

    let mut overrides = Overrides::default();
    overrides.context = Some("b".to_owned());
    let config = find(&environment, &overrides).expect("config").expect("found");
    assert_eq!(headers(&config), ["authorization: Bearer of-file"]);
    assert_eq!(config.origin(), "context \"b\" of /d1/a, /d2/b");
}

#[test]
fn ac_03_files_can_be_merged_by_hand() {
    let parse = |content: &str, path| Kubeconfig::parse(content.as_bytes(), Path::new(path)).expect("file");
    let mut merged = parse("{contexts: [{name: a}]}", "/a");
    assert_eq!(merged.current_context(), None);
    merged.merge(parse(
        "{contexts: [{name: b, context: {cluster: c}}, {name: a}], clusters: [{name: c, cluster: {server: 'https://s'}}], \
          current-context: b}",
        "/b",
    ));
    assert_eq!(merged.current_context(), Some("b"));
    assert_eq!(merged.context_names().collect::<Vec<_>>(), ["a", "b"]);
    let config = Config::from_kubeconfig(&merged, shared(&home()), &Overrides::default()).expect("config");
    assert_eq!(config.server(), "https://s");
}
