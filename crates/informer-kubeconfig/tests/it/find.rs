//! Which configuration is found where.

use informer_kubeconfig::{MemoryEnvironment, Overrides};

use crate::support::{FILE, config_in, file, find, home, sentence};

fn served_at(server: &str) -> String {
    file(&format!("server: '{server}'"), "")
}

#[test]
fn nothing_anywhere_is_none() {
    for environment in [MemoryEnvironment::new(), home(), home().var("KUBECONFIG", "")] {
        assert!(
            find(&environment, &Overrides::default())
                .expect("no error")
                .is_none()
        );
    }
}

#[test]
fn the_home_folder_is_looked_at_when_no_variable_is_set() {
    let config = config_in(&home().file(FILE, served_at("https://home"))).expect("config");
    assert_eq!(config.server(), "https://home");
    assert_eq!(config.context(), Some("x"));
    assert_eq!(config.namespace(), "default");
    assert_eq!(config.origin(), "context \"x\" of /home/ada/.kube/config");
}

#[test]
fn the_variable_hides_the_home_folder_and_the_explicit_file_hides_both() {
    let environment = home()
        .file(FILE, served_at("https://home"))
        .file("/elsewhere/listed", served_at("https://listed"))
        .file("/explicit", served_at("https://explicit"))
        .var("KUBECONFIG", "listed");
    assert_eq!(
        config_in(&environment).expect("config").server(),
        "https://listed"
    );
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some("/explicit".into());
    let config = find(&environment, &overrides).expect("config").expect("found");
    assert_eq!(config.server(), "https://explicit");
}

#[test]
fn a_file_that_is_asked_for_must_exist() {
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some("nowhere".into());
    let error = find(&home().file(FILE, served_at("https://home")), &overrides).expect_err("missing");
    assert_eq!(
        error.to_string(),
        "/elsewhere/nowhere: there is no such kubeconfig file"
    );
}

#[test]
fn a_variable_whose_files_are_all_missing_is_an_error_that_names_them() {
    let environment = home()
        .var("KUBECONFIG", "/a:/b")
        .file(FILE, served_at("https://home"));
    let error = config_in(&environment).expect_err("missing");
    assert_eq!(error.to_string(), "no file of KUBECONFIG exists: /a, /b");
    let error = config_in(&home().var("KUBECONFIG", ":")).expect_err("missing");
    assert_eq!(error.to_string(), "KUBECONFIG names no file");
}

#[test]
fn a_file_without_a_current_context_is_an_error_unless_one_is_asked_for() {
    let content = served_at("https://home").replace(", current-context: x", "");
    let environment = home().file(FILE, content);
    let error = config_in(&environment).expect_err("no context");
    assert_eq!(error.to_string(), "/home/ada/.kube/config: no current-context");
    let mut overrides = Overrides::default();
    overrides.context = Some("x".to_owned());
    assert!(find(&environment, &overrides).expect("config").is_some());
}

#[test]
fn what_is_asked_for_by_name_must_exist() {
    let with_file = home().file(FILE, served_at("https://home"));
    let ask = |set: fn(&mut Overrides), environment: &MemoryEnvironment| {
        let mut overrides = Overrides::default();
        set(&mut overrides);
        find(environment, &overrides)
            .expect_err("does not exist")
            .to_string()
    };
    let context = |overrides: &mut Overrides| overrides.context = Some("y".to_owned());
    assert_eq!(
        ask(context, &with_file),
        "/home/ada/.kube/config: context \"y\" does not exist"
    );
    assert_eq!(
        ask(context, &home()),
        "context \"y\" does not exist: no kubeconfig file was found"
    );
    assert_eq!(
        ask(|overrides| overrides.cluster = Some("y".to_owned()), &with_file),
        "/home/ada/.kube/config: cluster \"y\" does not exist"
    );
    assert_eq!(
        ask(|overrides| overrides.user = Some("y".to_owned()), &with_file),
        "/home/ada/.kube/config: user \"y\" does not exist"
    );
}

#[test]
fn the_error_of_an_unreadable_file_says_where_and_quotes_nothing() {
    let environment = home().file(FILE, "users:\n- name: u\n  user:\n    token: [hunter2]\n");
    let error = config_in(&environment).expect_err("malformed");
    assert_eq!(
        sentence(&error),
        "/home/ada/.kube/config: not a kubeconfig: expected string scalar at line 4, column 12"
    );
}

#[test]
fn a_name_defined_twice_in_one_file_is_refused() {
    let environment = home().file(FILE, "clusters: [{name: c, cluster: {}}, {name: c, cluster: {}}]");
    let error = config_in(&environment).expect_err("twice");
    assert_eq!(
        error.to_string(),
        "/home/ada/.kube/config: cluster \"c\" is defined twice"
    );
}
