//! `runtime.Unknown`: the envelope of every message that stands alone.

use bytes::{Buf, Bytes};
use prost::{DecodeError, Message};

use super::{MAGIC, StatusMessage, TypeMeta};
use crate::Status;

/// The envelope (apimachinery `runtime/generated.proto`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Unknown {
    #[prost(message, optional, tag = "1")]
    pub(crate) types: Option<TypeMeta>,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) raw: Bytes,
}

/// The envelope of `body`; `None` where it has none, as an item of a list.
pub(crate) fn open(mut body: Bytes) -> Option<Result<Unknown, DecodeError>> {
    if !body.starts_with(MAGIC) {
        return None;
    }
    body.advance(MAGIC.len());
    Some(Unknown::decode(body))
}

/// The status in an envelope, if it is one.
pub(crate) fn status(body: &Bytes) -> Option<Status> {
    let unknown = open(body.clone())?.ok()?;
    if unknown.types.is_some_and(|types| types.kind != "Status") {
        return None;
    }
    StatusMessage::decode(unknown.raw).ok().map(Into::into)
}
