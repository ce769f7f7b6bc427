//! What a plug-in answers: an `ExecCredential` with a status. Pure.

use std::time::SystemTime;

use http::HeaderValue;
use informer_transport::ClientCertificate;
use jiff::Timestamp;
use serde::Deserialize;

use super::Version;
use crate::{
    Error,
    credentials::bearer,
    field::{Field, Pem, PemKind},
    pair::{self, Problem},
};

/// Credentials, and until when they are good.
#[derive(Clone)]
pub(super) struct Credential {
    pub(super) header: Option<HeaderValue>,
    pub(super) client: Option<ClientCertificate>,
    /// `None`: until the server refuses them.
    expires: Option<SystemTime>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl Credential {
    /// Reads what a plug-in printed. Errors quote none of it but versions and kinds.
    pub(super) fn parse(field: &Field, version: Version, printed: &[u8]) -> Result<Self, Error> {
        let answer: Answer = serde_json::from_slice(printed).map_err(|problem| {
            // Without the text of serde's error, which may quote a value.
            field.error(format_args!(
                "the plug-in printed no ExecCredential (line {}, column {})",
                problem.line(),
                problem.column()
            ))
        })?;
        if answer.kind != "ExecCredential" || answer.api_version != version.text() {
            return Err(field.error(format_args!(
                "the plug-in is to print an ExecCredential of {}, and printed {:?} of {:?}",
                version.text(),
                answer.kind,
                answer.api_version
            )));
        }
        let Some(status) = answer.status else {
            return Err(field.error("the plug-in printed no status"));
        };
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let client = match (
            filled(status.client_certificate_data),
            filled(status.client_key_data),
        ) {
            (Some(certificate), Some(key)) => {
                let client = ClientCertificate {
                    certificate: Pem::given(field, certificate.into_bytes(), PemKind::Certificates)?,
                    key: Pem::given(field, key.into_bytes(), PemKind::PrivateKey)?,
                };
                pair::check(&client).map_err(|problem| unfit(field, &problem))?;
                Some(client)
            }
            (None, None) => None,
            _ => return Err(field.error("the plug-in printed only one of certificate and key")),
        };
        let token = filled(status.token);
        if token.is_none() && client.is_none() {
            return Err(field.error("the plug-in printed neither a token nor a certificate with its key"));
        }
        let expires = filled(status.expiration_timestamp)
            .map(|text| {
                text.parse::<Timestamp>()
                    .map(SystemTime::from)
                    .map_err(|_| field.error("the plug-in printed an expirationTimestamp that is no time"))
            })
            .transpose()?;
        Ok(Self {
            header: token.map(|token| bearer(field, &token)).transpose()?,
            client,
            expires,
        })
    }

    pub(super) fn is_good(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|expires| now <= expires)
    }

    pub(super) fn has_same_certificate(&self, other: &Self) -> bool {
        match (&self.client, &other.client) {
            (Some(one), Some(other)) => one.certificate == other.certificate && one.key == other.key,
            (None, None) => true,
            _ => false,
        }
    }
}

/// A certificate and a key that the plug-in printed, and that cannot be used together.
fn unfit(field: &Field, problem: &Problem) -> Error {
    match problem {
        Problem::Certificate(why) => field.error(format_args!(
            "the plug-in printed a certificate that cannot be used: {why}"
        )),
        Problem::Key => {
            field.error("the plug-in printed a key that is malformed or of a kind that is not supported")
        }
        Problem::Foreign => field.error("the plug-in printed a key that is not that of its certificate"),
    }
}
