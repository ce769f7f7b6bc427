//! The file format: what of a kubeconfig file is read, field by field.

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::exec::{Entry, Extension};

/// One file. Everything may be missing or null; what is not named here is ignored.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Document {
    #[serde(rename = "apiVersion")]
    pub(crate) api_version: Option<String>,
    pub(crate) kind: Option<String>,
    #[serde(rename = "current-context")]
    pub(crate) current_context: Option<String>,
    pub(crate) clusters: Option<Vec<Named<Cluster>>>,
    pub(crate) users: Option<Vec<Named<User>>>,
    pub(crate) contexts: Option<Vec<Named<Context>>>,
}

/// An entry of one of the three lists, which call its content by different names.
#[derive(Deserialize)]
pub(crate) struct Named<T> {
    /// Empty where it is missing: nothing can refer to the entry then.
    #[serde(default)]
    pub(crate) name: String,
    #[serde(alias = "cluster", alias = "user", alias = "context")]
    pub(crate) entry: Option<T>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Cluster {
    pub(crate) server: Option<String>,
    pub(crate) certificate_authority: Option<String>,
    pub(crate) certificate_authority_data: Option<String>,
    #[serde(deserialize_with = "null_is_false")]
    pub(crate) insecure_skip_tls_verify: bool,
    pub(crate) tls_server_name: Option<String>,
    pub(crate) proxy_url: Option<String>,
    #[serde(deserialize_with = "null_is_false")]
    pub(crate) disable_compression: bool,
    pub(crate) extensions: Option<Vec<Extension>>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
pub(crate) struct Context {
    pub(crate) cluster: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) namespace: Option<String>,
}

#[derive(Clone, Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct User {
    pub(crate) token: Option<String>,
    #[serde(rename = "tokenFile")]
    pub(crate) token_file: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) client_certificate: Option<String>,
    pub(crate) client_certificate_data: Option<String>,
    pub(crate) client_key: Option<String>,
    pub(crate) client_key_data: Option<String>,
    #[serde(rename = "as")]
    pub(crate) impersonate: Option<String>,
    pub(crate) as_uid: Option<String>,
    pub(crate) as_groups: Option<Vec<String>>,
    pub(crate) as_user_extra: Option<std::collections::BTreeMap<String, Vec<String>>>,
    pub(crate) exec: Option<Entry>,
    pub(crate) auth_provider: Option<AuthProvider>,
}

/// Prints none of the fields: nearly all of them are secrets.
impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
pub(crate) struct AuthProvider {
    pub(crate) name: Option<String>,
}

/// A document from the text of a file. An empty file is an empty document.
pub(crate) fn parse(text: &str) -> Result<Document, serde_saphyr::Error> {
    let mut options = serde_saphyr::Options::default();
    // A snippet of the file in an error could show a secret.
    options.with_snippet = false;
    // `!!binary` marks what is base64 anyway; the fields are decoded after their names are known.
    options.ignore_binary_tag_for_string = true;
    // As the reader of client-go does.
    options.duplicate_keys = serde_saphyr::DuplicateKeyPolicy::LastWins;
    Ok(serde_saphyr::from_str_with_options::<Option<Document>>(text, options)?.unwrap_or_default())
}

fn null_is_false<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
