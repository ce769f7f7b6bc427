//! `ApiError`: a failure as the API server writes it, a `Status`.

use std::{borrow::Cow, error::Error, fmt};

use bytes::Bytes;
use http::StatusCode;
use informer_core::Resource;
use serde::Serialize;

/// One cause in the details of an [`ApiError`]: which field is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cause {
    /// A word: `FieldValueRequired`, `ResourceVersionTooLarge`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: Cow<'static, str>,
    /// A sentence.
    pub message: String,
    /// The path of the field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl Cause {
    /// A cause of this reason at this field.
    #[must_use]
    pub fn new(reason: &'static str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            message: message.into(),
            field: field.into(),
        }
    }

    /// A field that must have a value.
    #[must_use]
    pub fn required(field: impl Into<String>, message: &str) -> Self {
        Self::new("FieldValueRequired", field, format!("Required value: {message}"))
    }

    /// A field with a wrong value.
    #[must_use]
    pub fn invalid(field: impl Into<String>, value: impl fmt::Display, message: &str) -> Self {
        Self::new(
            "FieldValueInvalid",
            field,
            format!("Invalid value: {value}: {message}"),
        )
    }

    /// A field that may not be set.
    #[must_use]
    pub fn forbidden(field: impl Into<String>, message: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {message}"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u32>,
}

/// A failure of a request, with everything that the server's `Status` body says. Reasons, codes and sentences are those of the real
/// server (apimachinery `pkg/api/errors`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    code: u16,
    reason: Cow<'static, str>,
    message: String,
    details: Option<Box<Details>>,
    /// A fresh continue token, with an expired one.
    token: Option<String>,
}

impl ApiError {
    /// A failure of this code, reason and sentence.
    #[must_use]
    pub fn new(code: u16, reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
            message: message.into(),
            details: None,
            token: None,
        }
    }

    /// 404 of an object.
    #[must_use]
    pub fn not_found(resource: &Resource, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{resource} {name:?} not found")).about(resource, name)
    }

    /// 409 of a create.
    #[must_use]
    pub fn already_exists(resource: &Resource, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{resource} {name:?} already exists"),
        )
        .about(resource, name)
    }

    /// 409 of an update.
    #[must_use]
    pub fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} {name:?}: {why}");
        Self::new(409, "Conflict", message).about(resource, name)
    }

    /// 422 of an object.
    #[must_use]
    pub fn invalid(group: &str, kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        let qualified = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let mut sentences: Vec<String> = causes
            .iter()
            .map(|cause| format!("{}: {}", cause.field, cause.message))
            .collect();
        let what = match sentences.len() {
            1 => sentences.remove(0),
            _ => format!("[{}]", sentences.join(", ")),
        };
        let mut error = Self::new(422, "Invalid", format!("{qualified} {name:?} is invalid: {what}"));
        error.details = Some(Box::new(Details {
            name: name.into(),
            group: group.into(),
            kind: kind.into(),
            causes,
            retry_after_seconds: None,
        }));
        error
    }

    /// 400.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 401.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 403 of what `user` may not do.
    #[must_use]
    pub fn forbidden(resource: &Resource, verb: &str, user: &str) -> Self {
        let group = &resource.group;
        let message = format!(
            "{resource} is forbidden: User {user:?} cannot {verb} resource {:?} in API group {group:?} at the cluster scope",
            &*resource.plural
        );
        Self::new(403, "Forbidden", message).about(resource, "")
    }

    /// 403 of an object, for a reason that is no matter of rights.
    #[must_use]
    pub fn refused(resource: &Resource, name: &str, why: &str) -> Self {
        Self::new(
            403,
            "Forbidden",
            format!("{resource} {name:?} is forbidden: {why}"),
        )
        .about(resource, name)
    }

    /// 405.
    #[must_use]
    pub fn method_not_supported(resource: &Resource, action: &str) -> Self {
        let message = format!("{action} is not supported on resources of kind \"{resource}\"");
        Self::new(405, "MethodNotAllowed", message).about(resource, "")
    }

    /// 406.
    #[must_use]
    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(406, "NotAcceptable", message)
    }

    /// 410 with reason `Expired`.
    #[must_use]
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 410 with reason `Gone`, as old servers say.
    #[must_use]
    pub fn gone(message: impl Into<String>) -> Self {
        Self::new(410, "Gone", message)
    }

    /// 415.
    #[must_use]
    pub fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 429.
    #[must_use]
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self::new(429, "TooManyRequests", message).retry_after(retry_after_seconds)
    }

    /// 500 with reason `InternalError`.
    #[must_use]
    pub fn internal(message: &str) -> Self {
        let mut error = Self::new(
            500,
            "InternalError",
            format!("Internal error occurred: {message}"),
        );
        error.details = Some(Box::new(Details {
            causes: vec![Cause::new("", "", message)],
            ..Details::default()
        }));
        error
    }

    /// 503.
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    /// 504 of a resource version that is newer than the server's (apiserver `storage.NewTooLargeResourceVersionError`).
    #[must_use]
    pub fn version_too_large(wanted: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
        let mut error = Self::new(504, "Timeout", message);
        error.details = Some(Box::new(Details {
            causes: vec![Cause::new(
                "ResourceVersionTooLarge",
                "",
                "Too large resource version",
            )],
            retry_after_seconds: Some(1),
            ..Details::default()
        }));
        error
    }

    /// With these causes in its details.
    #[must_use]
    pub fn with_causes(mut self, causes: Vec<Cause>) -> Self {
        self.details.get_or_insert_default().causes = causes;
        self
    }

    /// With details that say nothing.
    pub(crate) fn with_details(mut self) -> Self {
        self.details.get_or_insert_default();
        self
    }

    /// With `details.retryAfterSeconds` and a `Retry-After` header.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().retry_after_seconds = Some(seconds);
        self
    }

    /// With a fresh continue token.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    fn about(mut self, resource: &Resource, name: &str) -> Self {
        self.details = Some(Box::new(Details {
            name: name.into(),
            group: resource.group.to_string(),
            // The server puts the plural here, although the field says kind.
            kind: resource.plural.to_string(),
            ..Details::default()
        }));
        self
    }

    /// The HTTP status.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.code
    }

    /// The reason, a word.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How many seconds the client should wait.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u32> {
        self.details.as_ref()?.retry_after_seconds
    }

    /// The continue token that comes with it.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The `Status` as JSON.
    #[must_use]
    pub fn to_json(&self) -> Bytes {
        #[derive(Serialize)]
        struct ListMeta<'a> {
            #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
            token: Option<&'a str>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Status<'a> {
            kind: &'static str,
            api_version: &'static str,
            metadata: ListMeta<'a>,
            status: &'static str,
            message: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            reason: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            details: Option<&'a Details>,
            code: u16,
        }
        let status = Status {
            kind: "Status",
            api_version: "v1",
            metadata: ListMeta {
                token: self.token.as_deref(),
            },
            status: "Failure",
            message: &self.message,
            reason: &self.reason,
            details: self.details.as_deref(),
            code: self.code,
        };
        serde_json::to_vec(&status).unwrap_or_default().into()
    }

    pub(crate) fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ApiError {}
