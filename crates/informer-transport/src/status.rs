//! `Status`: how the API says that a request failed.

use serde::{Deserialize, Serialize};

/// The `Status` object of `meta.k8s.io/v1`, as far as it is read or written here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// `v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// `Status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Version and continue token, of the few failures that have one: an expired token may come with a fresh one.
    #[serde(deserialize_with = "crate::objects::null_is_default")]
    pub metadata: StatusMeta,
    /// `Success` or `Failure`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// A sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A word for programs: `NotFound`, `Expired`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// More of what is behind the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<StatusDetails>,
    /// The HTTP status code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
}

/// The list metadata of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusMeta {
    /// A resource version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// A token to go on with, at the price of an inconsistent list.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub continue_token: Option<String>,
}

/// The details of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusDetails {
    /// The name of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The group of the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The kind or resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The uid of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// What led to the failure, one by one.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::objects::null_is_default"
    )]
    pub causes: Vec<StatusCause>,
    /// How many seconds to wait at least before asking again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

/// One cause of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusCause {
    /// A word for programs: `ResourceVersionTooLarge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The field at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl Status {
    /// The status that a body holds, in whichever format; `None` where it holds something else.
    #[must_use]
    pub fn in_body(body: &[u8]) -> Option<Self> {
        #[cfg(feature = "protobuf")]
        if body.starts_with(crate::proto::MAGIC) {
            let body = bytes::Bytes::copy_from_slice(body);
            return crate::proto::status(&body);
        }
        serde_json::from_slice::<Self>(body)
            .ok()
            .filter(|status| status.kind.as_deref() == Some("Status"))
    }

    /// A failure.
    #[must_use]
    pub fn failure(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self {
            api_version: Some("v1".to_owned()),
            kind: Some("Status".to_owned()),
            status: Some("Failure".to_owned()),
            message: Some(message.into()),
            reason: Some(reason.to_owned()),
            code: Some(code),
            ..Self::default()
        }
    }

    /// The causes.
    #[must_use]
    pub fn causes(&self) -> &[StatusCause] {
        self.details.as_ref().map_or(&[], |details| &details.causes)
    }
}
