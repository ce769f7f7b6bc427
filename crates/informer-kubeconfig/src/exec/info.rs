//! What a plug-in is told: `KUBERNETES_EXEC_INFO`.

use serde::Serialize;
use serde_json::{Value, json};

use super::Version;
use crate::{Environment, Error, entries::At, resolve::given, text, tls::Trust};

/// The variable.
pub(super) const VARIABLE: &str = "KUBERNETES_EXEC_INFO";
/// The extension of a cluster's entry that is passed on.
const EXTENSION: &str = "client.authentication.k8s.io/exec";

/// The cluster that the credentials are for.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ClusterInfo {
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_server_name: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    insecure_skip_tls_verify: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_authority_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy_url: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disable_compression: bool,
    config: Value,
}

impl ClusterInfo {
    /// What is in effect, with the overrides (client-go `rest/exec.go`, `ConfigToExecCluster`).
    pub(super) fn new(at: &At<'_>, environment: &dyn Environment) -> Result<Self, Error> {
        let entry = &at.cluster.entry;
        let authority = match at.trust {
            Trust::Authority(pem) => Some(pem.load(environment)?),
            Trust::Platform | Trust::Anybody => None,
        };
        let extension = entry.extensions.iter().flatten();
        Ok(Self {
            server: at.server.to_owned(),
            tls_server_name: at.server_name.map(str::to_owned),
            insecure_skip_tls_verify: matches!(at.trust, Trust::Anybody),
            certificate_authority_data: authority.map(|pem| text::encode_base64(&pem)),
            proxy_url: given(&entry.proxy_url),
            disable_compression: entry.disable_compression,
            config: extension
                .filter(|extension| extension.name == EXTENSION)
                .map(|extension| extension.extension.clone())
                .next()
                .unwrap_or(Value::Null),
        })
    }
}

/// The value of the variable.
pub(super) fn value(version: Version, interactive: bool, cluster: Option<&ClusterInfo>) -> String {
    let mut spec = json!({ "interactive": interactive });
    if let Some(cluster) = cluster {
        spec["cluster"] = json!(cluster);
    }
    json!({
        "kind": "ExecCredential",
        "apiVersion": version.text(),
        "spec": spec,
    })
    .to_string()
}
