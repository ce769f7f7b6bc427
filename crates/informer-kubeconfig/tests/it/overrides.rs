//! What a command line says over the files.

use std::time::Duration;

use informer_kubeconfig::{Config, MemoryEnvironment, Overrides};
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
    let overrides = Overrides::new()
        .token("hunter2")
        .username("hunter2")
        .password("hunter2")
        .server("https://ada:hunter2@h")
        .proxy_url("http://ada:hunter2@proxy:3128");
    assert!(!format!("{overrides:?}").contains("hunter2"), "{overrides:?}");
}

const USER: &str = "as: grace, as-uid: '7', as-groups: [a, b], as-user-extra: {k: [v], l: [w]}";

fn with(user: &str, overrides: &Overrides) -> Result<Option<Config>, informer_kubeconfig::Error> {
    find(&home().file(FILE, file("server: 'https://s'", user)), overrides)
}

#[test]
fn whom_to_act_as_is_said_field_by_field() {
    let overrides = Overrides::new()
        .impersonate("ada")
        .impersonate_groups(["c"])
        .impersonate_extra("k", "1")
        .impersonate_extra("k", "2");
    let config = with(USER, &overrides).expect("config").expect("found");
    assert_eq!(
        headers(&config),
        [
            "impersonate-user: ada",
            "impersonate-uid: 7",
            "impersonate-group: c",
            "impersonate-extra-k: 1",
            "impersonate-extra-k: 2",
            "impersonate-extra-l: w",
        ]
    );
    let error = with("token: t", &Overrides::new().impersonate_uid("7")).expect_err("nobody to act as");
    assert!(error.to_string().contains("as-* fields"), "{error}");
    let error = with("token: t", &Overrides::new().impersonate("a\nb")).expect_err("no header");
    assert_eq!(
        error.to_string(),
        "as of the overrides: holds characters that a header cannot"
    );
}

#[test]
fn name_and_password_take_the_place_of_the_file_s() {
    let overrides = Overrides::new().username("ada").password("p");
    let config = with("username: grace, password: q", &overrides)
        .expect("config")
        .expect("found");
    assert_eq!(headers(&config), ["authorization: Basic YWRhOnA="]);
    let error = with("token: t", &overrides).expect_err("two ways to sign in");
    assert!(error.to_string().contains("keep one"), "{error}");
    let error = with("", &overrides.token("t")).expect_err("two ways to sign in");
    assert!(error.to_string().contains("keep one"), "{error}");
}

#[test]
fn a_client_certificate_takes_the_place_of_the_entry_s_data() {
    let ((old, old_key), (new, new_key)) = (certificate(), certificate());
    let user = format!(
        "client-certificate-data: {}, client-key-data: {}",
        base64(&old),
        base64(&old_key)
    );
    let environment = home()
        .in_dir("/here")
        .file(FILE, file("server: 'https://s'", &user))
        .file("/here/new.crt", new.clone())
        .file("/here/new.key", new_key.clone());
    let overrides = Overrides::new()
        .client_certificate("new.crt")
        .client_key("/here/new.key");
    let config = find(&environment, &overrides).expect("config").expect("found");
    let client = material(&config).client.expect("a certificate");
    assert_eq!(*client.certificate, *new.as_bytes());
    assert_eq!(*client.key, *new_key.as_bytes());
    let missing = Overrides::new().client_certificate("gone.crt");
    let error = find(&environment, &missing).expect_err("not there");
    assert!(
        error
            .to_string()
            .starts_with("client-certificate of the overrides: cannot read /here/gone.crt"),
        "{error}"
    );
}

#[test]
fn proxy_compression_and_time_are_said_over_the_file() {
    let overrides = Overrides::new()
        .proxy_url("http://proxy:3128")
        .disable_compression(true)
        .request_timeout(Duration::from_secs(5));
    let config = with("token: t", &overrides).expect("config").expect("found");
    assert_eq!(config.proxy(), Some("http://proxy:3128"));
    assert!(!config.accepts_compression());
    assert_eq!(config.request_timeout(), Some(Duration::from_secs(5)));
    let none = Overrides::new().request_timeout(Duration::ZERO);
    let config = with("token: t", &none).expect("config").expect("found");
    assert_eq!(config.request_timeout(), None);
    let error = with("token: t", &Overrides::new().proxy_url("ftp://ada:hunter2@h")).expect_err("no proxy");
    assert!(
        error.to_string().starts_with("proxy-url of the overrides: "),
        "{error}"
    );
    assert!(!error.to_string().contains("hunter2"));
}

/// clientcmd takes no notice: it would act as the pod.
#[test]
fn overrides_of_the_user_count_in_a_pod_too() {
    let pod = MemoryEnvironment::new()
        .var("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        .var("KUBERNETES_SERVICE_PORT", "443")
        .file("/var/run/secrets/kubernetes.io/serviceaccount/token", "pod");
    let told = |overrides: Overrides| {
        let config = find(&pod, &overrides).expect("config").expect("found");
        headers(&config)
    };
    assert_eq!(
        told(Overrides::new().impersonate("ada")),
        ["authorization: Bearer pod", "impersonate-user: ada"]
    );
    assert_eq!(
        told(Overrides::new().username("ada").password("p")),
        ["authorization: Basic YWRhOnA="]
    );
}
