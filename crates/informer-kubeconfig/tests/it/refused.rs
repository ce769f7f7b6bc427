//! Entries that cannot be used, and the sentence for each.

use crate::support::{base64, certificate, config, sentence};

#[test]
fn each_useless_entry_is_named_with_file_entry_and_field() {
    let (pem, key) = certificate();
    let (pem64, key64) = (base64(&pem), base64(&key));
    let (nonsense, half) = (base64("nonsense"), base64("-----BEGIN PRIVATE KEY-----\nMIG"));
    let cluster = "cluster \"c\"";
    let user = "user \"u\"";
    let table = [
        (
            String::new(),
            String::new(),
            format!("{cluster}: server: missing"),
        ),
        (
            "server: 'https://s', proxy-url: 'ftp://ada:s3cret@p'".to_owned(),
            String::new(),
            format!("{cluster}: proxy-url: the scheme \"ftp\" is not supported; http, https and socks5 are"),
        ),
        (
            format!(
                "server: 'https://s', insecure-skip-tls-verify: true, certificate-authority-data: {pem64}"
            ),
            String::new(),
            format!(
                "{cluster}: insecure-skip-tls-verify: contradicts the certificate authority beside it; keep one"
            ),
        ),
        (
            format!("server: 'https://s', certificate-authority: /x, certificate-authority-data: {pem64}"),
            String::new(),
            format!(
                "{cluster}: certificate-authority-data: set together with certificate-authority; keep one"
            ),
        ),
        (
            format!("server: 'https://s', certificate-authority-data: {nonsense}"),
            String::new(),
            format!(
                "{cluster}: certificate-authority-data: does not hold a certificate in PEM: no such section found"
            ),
        ),
        (
            "server: 'https://s', certificate-authority-data: '%%%'".to_owned(),
            String::new(),
            format!("{cluster}: certificate-authority-data: not base64: Invalid symbol 37, offset 0."),
        ),
        (
            "server: 'https://s', certificate-authority: ca.crt".to_owned(),
            String::new(),
            format!("{cluster}: certificate-authority: cannot read /home/ada/.kube/ca.crt: entity not found"),
        ),
        (
            String::new(),
            format!("client-certificate-data: {pem64}"),
            format!("{user}: client-key: missing, and the client certificate is of no use without it"),
        ),
        (
            String::new(),
            format!("client-certificate-data: {key64}, client-key-data: {key64}"),
            format!(
                "{user}: client-certificate-data: does not hold a certificate in PEM: no such section found"
            ),
        ),
        (
            String::new(),
            format!("client-certificate-data: {pem64}, client-key-data: {half}"),
            format!("{user}: client-key-data: does not hold a private key in PEM: a section has no end"),
        ),
        (
            String::new(),
            "token: t, username: ada".to_owned(),
            format!("{user}: token: set together with username and password; keep one"),
        ),
        (
            String::new(),
            "token: \"a\\nb\"".to_owned(),
            format!("{user}: token: the token holds characters that a header cannot"),
        ),
        (
            String::new(),
            "tokenFile: t".to_owned(),
            format!("{user}: tokenFile: cannot read /home/ada/.kube/t: entity not found"),
        ),
        (
            String::new(),
            "auth-provider: {name: gcp}".to_owned(),
            format!("{user}: auth-provider: the provider \"gcp\" is not supported"),
        ),
        (
            String::new(),
            "as-groups: [a]".to_owned(),
            format!("{user}: as: missing, and needed by the other as-* fields"),
        ),
    ];
    let exec = [
        ("apiVersion: x", "has no command"),
        ("command: aws", "has no apiVersion"),
        (
            "command: aws, apiVersion: client.authentication.k8s.io/v1",
            "has no interactiveMode",
        ),
        (
            "command: aws, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never",
            "the apiVersion \"client.authentication.k8s.io/v1alpha1\" is not supported",
        ),
        (
            "command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: never",
            "the interactiveMode \"never\" does not exist",
        ),
        (
            "command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: 'a=b'}]",
            "\"a=b\" is no name of a variable",
        ),
    ];
    let exec = exec.map(|(entry, why)| {
        (
            String::new(),
            format!("exec: {{{entry}}}"),
            format!("{user}: exec: {why}"),
        )
    });
    for (cluster, user, expected) in table.into_iter().chain(exec) {
        let cluster = if user.is_empty() {
            cluster
        } else {
            "server: 'https://s'".to_owned()
        };
        let error = config(&cluster, &user).expect_err(&expected);
        assert_eq!(sentence(&error), format!("/home/ada/.kube/config: {expected}"));
    }
}
