//! `Wire`: in which format a body came.

use http::{HeaderMap, header::CONTENT_TYPE};

/// The wire format of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Wire {
    /// JSON.
    #[default]
    Json,
    /// Kubernetes protobuf: messages in an envelope that begins with `k8s` and a zero byte.
    #[cfg(feature = "protobuf")]
    Protobuf,
}

impl Wire {
    /// The format that the headers of an answer name; JSON where they name none that is known.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        match headers.get(CONTENT_TYPE) {
            #[cfg(feature = "protobuf")]
            Some(media_type)
                if media_type
                    .as_bytes()
                    .starts_with(crate::proto::MEDIA_TYPE.as_bytes()) =>
            {
                Self::Protobuf
            }
            _ => Self::Json,
        }
    }
}
