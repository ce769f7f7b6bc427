//! What the tests share: an environment with one file, certificates, and a look at headers.

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use http::HeaderMap;
use informer_kubeconfig::{Config, Environment, Error, MemoryEnvironment, Overrides};
use informer_transport::{Authorize, Issue, Roots, TlsMaterial};

pub(crate) const FILE: &str = "/home/ada/.kube/config";

/// Somebody's home folder, with nothing in it.
pub(crate) fn home() -> MemoryEnvironment {
    MemoryEnvironment::new()
        .var("HOME", "/home/ada")
        .in_dir("/elsewhere")
}

/// A file with one cluster, user and context, whose entries have these fields, in YAML's flow style.
pub(crate) fn file(cluster: &str, user: &str) -> String {
    format!(
        "{{clusters: [{{name: c, cluster: {{{cluster}}}}}], users: [{{name: u, user: {{{user}}}}}], \
          contexts: [{{name: x, context: {{cluster: c, user: u}}}}], current-context: x}}"
    )
}

/// The configuration of that file.
pub(crate) fn config(cluster: &str, user: &str) -> Result<Config, Error> {
    config_in(&home().file(FILE, file(cluster, user)))
}

pub(crate) fn config_in(environment: &MemoryEnvironment) -> Result<Config, Error> {
    find(environment, &Overrides::default()).map(|config| config.expect("a configuration"))
}

pub(crate) fn find(environment: &MemoryEnvironment, overrides: &Overrides) -> Result<Option<Config>, Error> {
    Config::find_in(shared(environment), overrides)
}

pub(crate) fn shared(environment: &MemoryEnvironment) -> Arc<dyn Environment> {
    Arc::new(environment.clone())
}

/// The headers that requests get, as `name: value` lines.
pub(crate) fn headers(config: &Config) -> Vec<String> {
    issued(config).0
}

/// The same, and which credentials they are.
pub(crate) fn issued(config: &Config) -> (Vec<String>, Issue) {
    let mut headers = HeaderMap::new();
    let issue = authorize(&*config.authorizer(), &mut headers);
    let lines = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().expect("text")))
        .collect();
    (lines, issue)
}

pub(crate) fn authorize(authorizer: &dyn Authorize, headers: &mut HeaderMap) -> Issue {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(authorizer.authorize(headers)).poll(&mut context) {
        Poll::Ready(result) => result.expect("credentials"),
        Poll::Pending => panic!("nothing to wait for"),
    }
}

pub(crate) fn material(config: &Config) -> TlsMaterial {
    config.tls().current().expect("certificates")
}

pub(crate) fn roots(config: &Config) -> Vec<u8> {
    match material(config).roots {
        Roots::Pem(pem) => pem.to_vec(),
        other => panic!("no authority of its own but {other:?}"),
    }
}

/// A new certificate and its key, in PEM.
pub(crate) fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

pub(crate) fn base64(text: &str) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(text)
}

/// An error and its causes, as a program prints them.
pub(crate) fn sentence(error: &dyn std::error::Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        sentence += &format!(": {error}");
        cause = error.source();
    }
    sentence
}
