//! What requests are signed in with, and when files are read again.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};

use crate::support::{FILE, authorize, config, config_in, file, headers, home, issued};

const SERVER: &str = "server: 'https://s'";

#[test]
fn each_way_to_sign_in() {
    let table: [(&str, &[&str]); 8] = [
        ("", &[]),
        ("token: t", &["authorization: Bearer t"]),
        (
            "username: ada, password: 'pä:ss'",
            &["authorization: Basic YWRhOnDDpDpzcw=="],
        ),
        ("username: ada", &["authorization: Basic YWRhOg=="]),
        (
            "token: t, exec: {command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
            &["authorization: Bearer t"],
        ),
        (
            "token: t, auth-provider: {name: oidc}",
            &["authorization: Bearer t"],
        ),
        ("token: '', username: '', password: null", &[]),
        (
            "as: root, as-uid: '7', as-groups: [a, b], as-user-extra: {example.com/k%: [v, w]}",
            &[
                "impersonate-user: root",
                "impersonate-uid: 7",
                "impersonate-group: a",
                "impersonate-group: b",
                "impersonate-extra-example.com%2fk%25: v",
                "impersonate-extra-example.com%2fk%25: w",
            ],
        ),
    ];
    for (user, expected) in table {
        assert_eq!(headers(&config(SERVER, user).expect(user)), expected, "{user}");
    }
}

#[test]
fn a_header_of_the_request_is_left_alone() {
    let config = config(SERVER, "token: t, as: root").expect("config");
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer mine"));
    headers.insert("impersonate-user", HeaderValue::from_static("me"));
    authorize(&*config.authorizer(), &mut headers);
    assert_eq!(headers.len(), 2);
    assert_eq!(headers[AUTHORIZATION], "Bearer mine");
    assert_eq!(headers["impersonate-user"], "me");
}

#[test]
fn secrets_are_marked_and_never_printed() {
    let config = config(SERVER, "token: hunter2, as: root").expect("config");
    let mut headers = HeaderMap::new();
    authorize(&*config.authorizer(), &mut headers);
    assert!(headers[AUTHORIZATION].is_sensitive());
    for printed in [format!("{headers:?}"), format!("{config:?}")] {
        assert!(!printed.contains("hunter2"), "{printed}");
    }
}

#[test]
fn a_token_file_is_read_again_within_a_minute() {
    let environment = home()
        .file(FILE, file(SERVER, "tokenFile: t"))
        .file("/home/ada/.kube/t", "one\n");
    let config = config_in(&environment).expect("config");
    let token = || headers(&config)[0].clone();
    assert_eq!(token(), "authorization: Bearer one");
    environment.write("/home/ada/.kube/t", "two");
    environment.advance(Duration::from_secs(49));
    assert_eq!(token(), "authorization: Bearer one");
    assert_eq!(environment.n_reads("/home/ada/.kube/t"), 1);
    environment.advance(Duration::from_secs(11));
    assert_eq!(token(), "authorization: Bearer two");
    assert_eq!(token(), "authorization: Bearer two");
    assert_eq!(environment.n_reads("/home/ada/.kube/t"), 2);
}

#[test]
fn a_refusal_reads_the_token_file_at_once() {
    let environment = home().file(FILE, file(SERVER, "tokenFile: /t")).file("/t", "one");
    let config = config_in(&environment).expect("config");
    environment.write("/t", "two");
    let (lines, one) = issued(&config);
    assert_eq!(lines, ["authorization: Bearer one"]);
    config.authorizer().rejected(one);
    let (lines, two) = issued(&config);
    assert_eq!(lines, ["authorization: Bearer two"]);
    let n_reads = environment.n_reads("/t");
    config.authorizer().rejected(one);
    assert_eq!(headers(&config), ["authorization: Bearer two"]);
    assert_eq!(
        environment.n_reads("/t"),
        n_reads,
        "an old token's refusal says nothing of this one"
    );
    config.authorizer().rejected(two);
    assert_eq!(
        issued(&config),
        (vec!["authorization: Bearer two".to_owned()], two)
    );
    assert_eq!(environment.n_reads("/t"), n_reads + 1);
}

#[test]
fn a_bad_read_keeps_the_last_good_token_and_is_tried_again() {
    let environment = home().file(FILE, file(SERVER, "tokenFile: /t")).file("/t", "one");
    let config = config_in(&environment).expect("config");
    for bad in ["", "\u{1}control"] {
        environment.write("/t", bad);
        environment.advance(Duration::from_secs(60));
        assert_eq!(headers(&config), ["authorization: Bearer one"]);
    }
    environment.remove("/t");
    assert_eq!(headers(&config), ["authorization: Bearer one"]);
    environment.write("/t", "two");
    assert_eq!(headers(&config), ["authorization: Bearer two"]);
}

#[test]
fn of_token_and_token_file_the_file_wins_once_it_was_read() {
    let environment = home().file(FILE, file(SERVER, "token: inline, tokenFile: /t"));
    let config = config_in(&environment).expect("config");
    assert_eq!(headers(&config), ["authorization: Bearer inline"]);
    environment.write("/t", "of-file");
    assert_eq!(headers(&config), ["authorization: Bearer of-file"]);
}
