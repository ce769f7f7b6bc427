//! AC-04: sparse and odd kubeconfigs.

use informer_kubeconfig::{MemoryEnvironment, Overrides};

use crate::support::{FILE, base64, certificate, config, config_in, file, find, headers, home, roots};

const SERVER: &str = "server: 'https://s'";

fn wrapped(text: &str, end: &str) -> String {
    let encoded = base64(text);
    let lines: Vec<_> = encoded
        .as_bytes()
        .chunks(76)
        .map(|line| std::str::from_utf8(line).expect("ASCII"))
        .collect();
    lines.join(end)
}

#[test]
fn ac_04_files_that_name_nothing_load_and_say_so() {
    for content in [
        "",
        "---\n",
        "contexts: null\nusers: null\nclusters:\n",
        "current-context: ''",
        "apiVersion: v1\nkind: Config\n",
    ] {
        let error = config_in(&home().file(FILE, content)).expect_err(content);
        assert_eq!(
            error.to_string(),
            "/home/ada/.kube/config: no current-context",
            "{content:?}"
        );
    }
}

#[test]
fn ac_04_a_context_without_a_user_or_with_an_unknown_one_has_no_credentials() {
    for context in [
        "{cluster: c}",
        "{cluster: c, user: nobody}",
        "{cluster: c, user: null}",
    ] {
        let content = file(SERVER, "token: t").replace("{cluster: c, user: u}", context);
        let config = config_in(&home().file(FILE, content)).expect(context);
        assert!(headers(&config).is_empty(), "{context}");
    }
}

#[test]
fn ac_04_an_unusable_context_is_named_at_once() {
    let good = file(SERVER, "");
    let table = [
        (
            good.replace("current-context: x", "current-context: y"),
            ": context \"y\" does not exist",
        ),
        (
            good.replace("cluster: c,", "cluster: d,"),
            ": context \"x\": cluster: cluster \"d\" does not exist",
        ),
        (
            good.replace("cluster: c,", "cluster: '',"),
            ": context \"x\": cluster: names no cluster",
        ),
        (
            good.replace("cluster: {server: 'https://s'}", "cluster: null"),
            ": cluster \"c\": server: missing",
        ),
    ];
    for (content, expected) in table {
        let error = config_in(&home().file(FILE, content)).expect_err(expected);
        assert_eq!(error.to_string(), format!("{FILE}{expected}"));
    }
}

#[test]
fn ac_04_base64_may_be_wrapped_and_tagged() {
    let (pem, _) = certificate();
    let forms = [
        format!("certificate-authority-data: {}", base64(&pem)),
        format!("certificate-authority-data: \"{}\"", wrapped(&pem, "\\n")),
        format!(
            "certificate-authority-data: \"{}\\r\\n\"",
            wrapped(&pem, "\\r\\n")
        ),
        format!(
            "certificate-authority-data: |\n      {}\n",
            wrapped(&pem, "\n      ")
        ),
        format!(
            "certificate-authority-data: !!binary |\n      {}\n",
            wrapped(&pem, "\n      ")
        ),
    ];
    for form in forms {
        let content = format!(
            "clusters:\n- name: c\n  cluster:\n    server: https://s\n    {form}\ncontexts:\n- name: x\n  context:\n    cluster: c\n\
             current-context: x\n"
        );
        let config = config_in(&home().file(FILE, content.clone())).expect(&content);
        assert_eq!(roots(&config), pem.as_bytes(), "{content}");
        let config = config_in(&home().file(FILE, content.replace('\n', "\r\n"))).expect(&content);
        assert_eq!(roots(&config), pem.as_bytes(), "{content} with CR LF");
    }
}

#[test]
fn ac_04_byte_order_marks_and_utf_16() {
    let content = file("server: 'https://s'", "").replace("user: u}", "user: u, namespace: käse}");
    let units: Vec<u16> = content.encode_utf16().collect();
    let little = units.iter().flat_map(|unit| unit.to_le_bytes());
    let big = units.iter().flat_map(|unit| unit.to_be_bytes());
    let forms: [Vec<u8>; 3] = [
        [b"\xEF\xBB\xBF".as_slice(), content.as_bytes()].concat(),
        [0xFF, 0xFE].into_iter().chain(little).collect(),
        [0xFE, 0xFF].into_iter().chain(big).collect(),
    ];
    for form in forms {
        assert_eq!(
            config_in(&home().file(FILE, form)).expect("config").namespace(),
            "käse"
        );
    }
    for bad in [b"\xFF\xFEa".as_slice(), b"\xFF\xFE\x00\xD8", b"a: \xC3"] {
        let error = config_in(&home().file(FILE, bad)).expect_err("no text");
        assert!(
            error.to_string().starts_with("/home/ada/.kube/config: not UTF-"),
            "{error}"
        );
    }
}

#[test]
fn ac_04_unknown_fields_are_ignored() {
    let content = file(
        "server: 'https://s', extensions: [{name: minikube, extension: {a: [1, {b: c}]}}], new: 1",
        "id: 7",
    )
    .replace(
        "{clusters",
        "{preferences: {colors: true}, extensions: null, clusters",
    );
    assert_eq!(
        config_in(&home().file(FILE, content)).expect("config").server(),
        "https://s"
    );
}

#[test]
fn ac_04_a_certificate_without_a_final_line_end_is_one() {
    let (pem, key) = certificate();
    let (pem, key) = (pem.trim_end(), key.trim_end());
    let config = config(
        &format!("{SERVER}, certificate-authority-data: {}", base64(pem)),
        &format!(
            "client-certificate-data: {}, client-key-data: {}",
            base64(pem),
            base64(key)
        ),
    )
    .expect("config");
    assert_eq!(roots(&config), pem.as_bytes());
}

#[test]
fn ac_04_anchors_and_json_are_yaml() {
    let environment: MemoryEnvironment = home().file(
        FILE,
        r#"{"clusters":[{"name":"c","cluster":{"server":"https://s"}}],"contexts":[{"name":"x","context":{"cluster":"c"}}],"current-context":"x"}"#,
    );
    assert!(
        find(&environment, &Overrides::default())
            .expect("config")
            .is_some()
    );
    let environment = home().file(
        FILE,
        "clusters:\n- name: c\n  cluster: &c {server: 'https://s'}\n- name: d\n  cluster: *c\n\
         contexts:\n- name: x\n  context: {cluster: d}\ncurrent-context: x\n",
    );
    assert_eq!(config_in(&environment).expect("config").server(), "https://s");
}
