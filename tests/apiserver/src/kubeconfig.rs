//! Kubeconfig files, one for each way to sign in.

use std::net::SocketAddr;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::certificates::ClientCredentials;

/// The token of a user who may do everything.
pub const ADMIN_TOKEN: &str = "token-of-the-admin";
/// The token of a user who may do nothing.
pub const OUTSIDER_TOKEN: &str = "token-of-an-outsider";

/// The users that kube-apiserver knows by their tokens, as its `--token-auth-file`.
pub(crate) fn token_file() -> String {
    format!("{ADMIN_TOKEN},admin,1,system:masters\n{OUTSIDER_TOKEN},outsider,2\n")
}

/// A way to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// As the admin, by a bearer token.
    Token,
    /// As the admin, by a client certificate.
    Certificate,
    /// By a token of somebody who may do nothing.
    Outsider,
}

/// A kubeconfig file in JSON, which is YAML, for a server at `address` that is trusted by `authority`.
pub(crate) fn document(
    address: SocketAddr,
    authority: &str,
    login: Login,
    certificate: impl FnOnce() -> std::io::Result<ClientCredentials>,
) -> std::io::Result<Value> {
    let user = match login {
        Login::Token => json!({"token": ADMIN_TOKEN}),
        Login::Outsider => json!({"token": OUTSIDER_TOKEN}),
        Login::Certificate => {
            let credentials = certificate()?;
            json!({
                "client-certificate-data": BASE64_STANDARD.encode(credentials.certificate),
                "client-key-data": BASE64_STANDARD.encode(credentials.key),
            })
        }
    };
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {
            "server": format!("https://{address}"),
            "certificate-authority-data": BASE64_STANDARD.encode(authority),
        }}],
        "users": [{"name": "test", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "default"}}],
        "current-context": "test",
    }))
}
