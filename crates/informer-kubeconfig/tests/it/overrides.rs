//! What a command line says over the files.

use informer_kubeconfig::{Config, Overrides};
use informer_transport::Roots;

use crate::support::{FILE, base64, certificate, file, find, headers, home, material, roots};

fn overridden(set: impl FnOnce(&mut Overrides)) -> Config {
    let (pem, _) = certificate();
    let cluster = format!(
        "server: 'https://s/prefix', tls-server-name: inner, certificate-authority-data: {}",
        base64(&pem)
    );
    let content = file(&cluster, "token: t").replace("user: u}", "user: u, namespace: shop}");
    let mut overrides = Overrides::default();
    set(&mut overrides);
    find(&home().file(FILE, content), &overrides)
        .expect("config")
        .expect("found")
}

#[test]
fn the_namespace_is_the_override_s_then_the_context_s() {
    assert_eq!(overridden(|_| {}).namespace(), "shop");
    assert_eq!(
        overridden(|overrides| overrides.namespace = Some("n".to_owned())).namespace(),
        "n"
    );
}

#[test]
fn another_server_does_not_have_the_tls_name_of_the_file() {
    let config = overridden(|_| {});
    assert_eq!(config.server(), "https://s/prefix");
    assert_eq!(material(&config).server_name.as_deref(), Some("inner"));
    let config = overridden(|overrides| overrides.server = Some("https://other".to_owned()));
    assert_eq!(config.server(), "https://other");
    assert_eq!(material(&config).server_name, None);
    let config = overridden(|overrides| overrides.tls_server_name = Some("mine".to_owned()));
    assert_eq!(material(&config).server_name.as_deref(), Some("mine"));
}

#[test]
fn a_token_replaces_how_the_user_signs_in() {
    let config = overridden(|overrides| overrides.token = Some("mine".to_owned()));
    assert_eq!(headers(&config), ["authorization: Bearer mine"]);
}

#[test]
fn an_override_of_trust_replaces_all_that_the_entry_says() {
    let config = overridden(|overrides| overrides.insecure_skip_tls_verify = true);
    assert!(matches!(material(&config).roots, Roots::Insecure));

    let (pem, _) = certificate();
    let environment = home()
        .file(
            FILE,
            file("server: 'https://s', insecure-skip-tls-verify: true", ""),
        )
        .file("/ca", pem.clone());
    let mut overrides = Overrides::default();
    overrides.certificate_authority = Some("/ca".into());
    let config = find(&environment, &overrides).expect("config").expect("found");
    assert_eq!(roots(&config), pem.as_bytes());
}

#[test]
fn a_server_alone_is_a_configuration() {
    let mut overrides = Overrides::default();
    overrides.server = Some("localhost:8080".to_owned());
    let config = find(&home(), &overrides).expect("config").expect("found");
    assert_eq!(config.server(), "http://localhost:8080");
    assert_eq!(config.origin(), "overrides");
    overrides.insecure_skip_tls_verify = true;
    let config = find(&home(), &overrides).expect("config").expect("found");
    assert_eq!(config.server(), "https://localhost:8080");
}

#[test]
fn secrets_of_overrides_are_not_printed() {
    let mut overrides = Overrides::default();
    overrides.token = Some("hunter2".to_owned());
    assert!(!format!("{overrides:?}").contains("hunter2"));
}
