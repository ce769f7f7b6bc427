//! A configuration as it may be shown.

use std::path::Path;

use informer_kubeconfig::{Kubeconfig, Place, SignIn, Trusted};
use serde_json::json;

use crate::support::{FILE, base64, certificate, config, config_in, file, home};

#[test]
fn a_configuration_tells_all_but_its_secrets() {
    let (pem, _) = certificate();
    let cluster = "server: 'https://s/prefix', certificate-authority: ca.crt, tls-server-name: inner, \
                   proxy-url: 'http://ada:s3cret@proxy:3128', disable-compression: true";
    let environment = home()
        .file(FILE, file(cluster, "tokenFile: token, as: grace"))
        .file("/home/ada/.kube/ca.crt", pem)
        .file("/home/ada/.kube/token", "s3cret");
    let description = config_in(&environment).unwrap().describe();
    assert_eq!(
        description.to_string(),
        "server: https://s/prefix\n\
         namespace: default\n\
         context: x\n\
         origin: context \"x\" of /home/ada/.kube/config\n\
         sign-in: the token in /home/ada/.kube/token\n\
         impersonates: grace\n\
         trust: an authority in /home/ada/.kube/ca.crt\n\
         server name: inner\n\
         proxy: http://proxy:3128\n\
         compression: no"
    );
    assert_eq!(
        serde_json::to_value(&description).unwrap(),
        json!({
            "server": "https://s/prefix",
            "namespace": "default",
            "context": "x",
            "origin": "context \"x\" of /home/ada/.kube/config",
            "sign-in": {"kind": "token-file", "path": "/home/ada/.kube/token"},
            "impersonates": "grace",
            "trust": {"kind": "authority", "place": "file", "path": "/home/ada/.kube/ca.crt"},
            "server-name": "inner",
            "client-certificate": null,
            "proxy": "http://proxy:3128",
            "compression": false,
        })
    );
}

#[test]
fn each_kind_of_credentials_is_told() {
    let (pem, key) = certificate();
    let (pem, key) = (base64(&pem), base64(&key));
    let exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never, \
                env: [{name: KEY, value: s3cret}]}";
    let described = |user: &str| config("server: 'https://s'", user).unwrap().describe();
    assert_eq!(described("").sign_in, SignIn::Nothing);
    assert_eq!(described("").trust, Trusted::Platform);
    assert_eq!(described("token: t").sign_in, SignIn::Token);
    assert_eq!(described("username: ada").sign_in, SignIn::Basic);
    let plugin = SignIn::Exec {
        command: "aws".into(),
        api_version: "client.authentication.k8s.io/v1".to_owned(),
        variables: vec!["KEY".to_owned()],
    };
    assert_eq!(described(exec).sign_in, plugin);
    let user = format!("client-certificate-data: {pem}, client-key-data: {key}");
    let pair = described(&user).client_certificate.unwrap();
    assert_eq!(
        (pair.certificate, pair.key),
        (Place::Configuration, Place::Configuration)
    );
    let insecure = config("server: s, insecure-skip-tls-verify: true", "")
        .unwrap()
        .describe();
    assert_eq!(insecure.trust, Trusted::Anybody);
    assert_eq!(insecure.server, "https://s");
}

#[test]
fn a_kubeconfig_tells_its_entries() {
    let text = "clusters: [{name: c, cluster: {server: 'https://ada:s3cret@s', proxy-url: 'http://a:s3cret@p', insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: s3cret, username: ada, client-certificate: c.pem, as: grace}}, {name: v}, {name: w, user: {auth-provider: {name: gcp}}}]
contexts: [{name: x, context: {cluster: c, user: u}}, {name: y, context: {namespace: n}}]
current-context: x";
    let kubeconfig = Kubeconfig::parse(text.as_bytes(), Path::new("/k/config")).unwrap();
    let description = kubeconfig.describe();
    assert_eq!(
        description.to_string(),
        "file: /k/config\n\
         current context: x\n\
         context \"x\": cluster c, user u, namespace default\n\
         context \"y\": cluster (none), user (none), namespace n\n\
         cluster \"c\": server https://s, trust: anybody, proxy http://p\n\
         user \"u\": a token, a name and a password, a client certificate in /k/c.pem, acting as grace\n\
         user \"v\": nothing\n\
         user \"w\": the provider \"gcp\", which is not supported\n"
    );
    let json = serde_json::to_value(&description).unwrap();
    assert_eq!(
        json["users"][0]["sign-in"],
        json!([{"kind": "token"}, {"kind": "basic"}])
    );
    assert!(!json.to_string().contains("s3cret"));
}
