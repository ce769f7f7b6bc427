//! The configuration of a pod.

use std::path::Path;

use informer_kubeconfig::{Config, MemoryEnvironment, Overrides};
use informer_transport::Roots;

use crate::support::{
    FILE, certificate, config_in, file, find, headers, home, material, roots, sentence, shared,
};

const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

fn pod(host: &str) -> MemoryEnvironment {
    home()
        .var("KUBERNETES_SERVICE_HOST", host)
        .var("KUBERNETES_SERVICE_PORT", "443")
        .file(format!("{FOLDER}/token"), "t0ken\n")
}

#[test]
fn the_account_gives_server_token_authority_and_namespace() {
    let (authority, _) = certificate();
    let environment = pod("10.96.0.1")
        .file(format!("{FOLDER}/ca.crt"), authority.clone())
        .file(format!("{FOLDER}/namespace"), "shop\n");
    let config = config_in(&environment).expect("config");
    assert_eq!(config.server(), "https://10.96.0.1:443");
    assert_eq!(config.namespace(), "shop");
    assert_eq!(config.context(), None);
    assert_eq!(headers(&config), ["authorization: Bearer t0ken"]);
    assert_eq!(roots(&config), authority.as_bytes());

    let environment = environment.var("POD_NAMESPACE", "stage");
    assert_eq!(config_in(&environment).expect("config").namespace(), "stage");
}

#[test]
fn a_pod_without_an_account_is_no_configuration() {
    let environment = pod("10.96.0.1");
    environment.remove(format!("{FOLDER}/token"));
    assert!(
        find(&environment, &Overrides::default())
            .expect("no error")
            .is_none()
    );
    let error =
        Config::in_cluster_in(shared(&home()), &Overrides::default(), Path::new(FOLDER)).expect_err("no pod");
    assert!(
        error
            .to_string()
            .starts_with("not in a cluster: KUBERNETES_SERVICE_HOST"),
        "{error}"
    );
}

#[test]
fn an_account_that_is_there_and_useless_is_an_error() {
    let error = config_in(&pod("10.96.0.1").file(format!("{FOLDER}/token"), " \n")).expect_err("empty token");
    assert_eq!(
        error.to_string(),
        format!("the service account of this pod: {FOLDER}/token holds no token")
    );
    let error =
        config_in(&pod("10.96.0.1").file(format!("{FOLDER}/ca.crt"), "no PEM")).expect_err("no authority");
    assert_eq!(
        sentence(&error),
        format!(
            "the service account of this pod: {FOLDER}/ca.crt does not hold a certificate in PEM: no such section found"
        )
    );
}

#[test]
fn without_an_authority_beside_the_account_those_of_the_platform_count() {
    let config = config_in(&pod("10.96.0.1")).expect("config");
    assert!(matches!(material(&config).roots, Roots::Platform));
}

#[test]
fn files_come_before_the_account_unless_they_name_nothing() {
    let with_file = pod("10.96.0.1").file(FILE, file("server: 'https://file'", ""));
    assert_eq!(config_in(&with_file).expect("config").server(), "https://file");
    for useless in [
        pod("10.96.0.1").file(FILE, ""),
        pod("10.96.0.1").var("KUBECONFIG", "/missing"),
    ] {
        assert_eq!(
            config_in(&useless).expect("config").server(),
            "https://10.96.0.1:443"
        );
    }
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some(FILE.into());
    let error = find(&pod("10.96.0.1").file(FILE, ""), &overrides).expect_err("empty file by name");
    assert_eq!(error.to_string(), "/home/ada/.kube/config: no current-context");
}

#[test]
fn overrides_count_in_a_pod_too() {
    let (authority, _) = certificate();
    let mut overrides = Overrides::default();
    overrides.namespace = Some("n".to_owned());
    overrides.token = Some("other".to_owned());
    overrides.certificate_authority = Some("/ca".into());
    let environment = pod("10.96.0.1").file("/ca", authority.clone());
    let config = find(&environment, &overrides).expect("config").expect("found");
    assert_eq!(config.namespace(), "n");
    assert_eq!(headers(&config), ["authorization: Bearer other"]);
    assert_eq!(roots(&config), authority.as_bytes());
}

#[test]
fn the_folder_can_be_another() {
    let environment = pod("10.96.0.1").file("/there/token", "two");
    let config = Config::in_cluster_in(shared(&environment), &Overrides::default(), Path::new("/there"))
        .expect("config");
    assert_eq!(headers(&config), ["authorization: Bearer two"]);
}

#[test]
fn an_ipv6_address_stands_in_brackets() {
    for host in ["fd00::1", "[fd00::1]"] {
        assert_eq!(
            config_in(&pod(host)).expect("config").server(),
            "https://[fd00::1]:443"
        );
    }
}
