//! Continue tokens: where a page ended and at which version (apiserver `storage.EncodeContinue`).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::ApiError;

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Wire {
    v: String,
    rv: i64,
    start: String,
}

/// What a continue token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// The version of the list; `None` goes on with the present state.
    pub(crate) revision: Option<u64>,
    /// The first key of the next page, relative to the prefix of the list.
    pub(crate) start: String,
}

impl Token {
    /// The token of the page that begins right after `last`.
    pub(crate) fn after(last: &str, revision: Option<u64>) -> Self {
        Self {
            revision,
            start: format!("{last}\0"),
        }
    }

    pub(crate) fn encode(&self) -> String {
        let wire = Wire {
            v: "meta.k8s.io/v1".into(),
            rv: self
                .revision
                .map_or(-1, |revision| i64::try_from(revision).unwrap_or(-1)),
            start: self.start.clone(),
        };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&wire).unwrap_or_default())
    }

    pub(crate) fn decode(text: &str) -> Result<Self, ApiError> {
        let bad = |why: &str| ApiError::bad_request(format!("invalid continue token: {why}"));
        let invalid = |_| bad("continue key is not valid");
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| bad("continue key is not valid"))?;
        let wire: Wire = serde_json::from_slice(&bytes).map_err(invalid)?;
        if wire.v != "meta.k8s.io/v1" {
            return Err(bad(&format!(
                "continue key is not valid: server does not recognize this encoded version {}",
                wire.v
            )));
        }
        if wire.rv == 0 {
            return Err(bad(
                "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ));
        }
        if wire.start.is_empty() {
            return Err(bad(
                "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
            ));
        }
        Ok(Self {
            revision: u64::try_from(wire.rv).ok(),
            start: wire.start,
        })
    }
}
