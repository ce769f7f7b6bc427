//! The protobuf codecs: prost messages, and JSON where the server has no protobuf.

use std::{fmt, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use informer_core::{DecodeError, Decoded};
use prost::Message;

use super::{Codec, is_json};
use crate::{
    ObjectMeta, PartialMetadata,
    proto::{Item, NoMessage, PartialItem, open, without_managed_fields},
};

/// Decodes objects from Kubernetes protobuf through prost: generated types, or a message of your own with the fields of interest under
/// their numbers, which costs a fraction of the time and memory, as prost skips what a message does not name.
///
/// Only kinds that are built into Kubernetes have this format; for custom resources the server refuses it. [`Negotiated`] falls back to
/// JSON.
pub struct ProstCodec<K> {
    kind: Option<Arc<str>>,
    cut: bool,
    _object: PhantomData<fn() -> K>,
}

impl<K: Message + Default> ProstCodec<K> {
    /// A codec for the form of object `K`. Managed fields are cut from the bytes if `K` would keep them.
    #[must_use]
    pub fn new() -> Self {
        Self {
            kind: None,
            cut: keeps_managed_fields::<K>(),
            _object: PhantomData,
        }
    }

    /// The same, whose errors name this kind.
    #[must_use]
    pub fn named(mut self, kind: impl Into<Arc<str>>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// The same, with the managed fields left in.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.cut = false;
        self
    }

    fn refuse(&self, error: DecodeError) -> DecodeError {
        match &self.kind {
            Some(kind) => error.kind(kind.clone()),
            None => error,
        }
    }
}

impl<K: Message + Default> Default for ProstCodec<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for ProstCodec<K> {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind.clone(),
            ..*self
        }
    }
}

impl<K> fmt::Debug for ProstCodec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProstCodec")
            .field("kind", &self.kind)
            .field("cut", &self.cut)
            .finish_non_exhaustive()
    }
}

impl<K: Message + Default> Codec<K> for ProstCodec<K> {
    fn media_type(&self) -> &'static str {
        crate::proto::MEDIA_TYPE
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<K>, DecodeError> {
        let message = message(item).map_err(|error| self.refuse(error))?;
        let identity = Item::decode(message.clone())
            .map_err(|error| self.refuse(DecodeError::new("it is no object").caused_by(error)))?
            .identity();
        let decoded = if self.cut {
            without_managed_fields(&message)
                .map_err(|NoMessage| "it is no message".to_owned())
                .and_then(|message| K::decode(message).map_err(|error| error.to_string()))
        } else {
            K::decode(message).map_err(|error| error.to_string())
        };
        match decoded {
            Ok(object) => Ok(Decoded { identity, object }),
            Err(error) => {
                let error = self.refuse(DecodeError::new(error));
                Err(if identity.name.is_empty() {
                    error
                } else {
                    error.of(identity)
                })
            }
        }
    }
}

/// The message of an object: out of its envelope, or an item of a list, which has none.
pub(super) fn message(item: Bytes) -> Result<Bytes, DecodeError> {
    match open(item.clone()) {
        None => Ok(item),
        Some(Ok(unknown)) => Ok(unknown.raw),
        Some(Err(error)) => Err(DecodeError::new("its envelope cannot be read").caused_by(error)),
    }
}

/// The metadata of an object, without the managed fields.
pub(super) fn metadata(item: Bytes) -> Result<Decoded<PartialMetadata>, DecodeError> {
    let types = open(item.clone())
        .and_then(Result::ok)
        .and_then(|unknown| unknown.types);
    let object = PartialItem::decode(message(item)?)
        .map_err(|error| DecodeError::new("it is no object").caused_by(error))?;
    let metadata: ObjectMeta = object.metadata.unwrap_or_default().into();
    let (api_version, kind) = types.map(|types| (types.api_version, types.kind)).unzip();
    Ok(Decoded {
        identity: metadata.identity(),
        object: PartialMetadata {
            api_version,
            kind,
            metadata,
        },
    })
}

/// Whether what this form holds of `metadata.managedFields` is more than nothing.
fn keeps_managed_fields<K: Message + Default>() -> bool {
    // Field 1 (metadata), in it field 17 (managedFields), in it field 1 (manager): "x".
    const PROBE: &[u8] = &[0x0a, 6, 0x8a, 1, 3, 0x0a, 1, b'x'];
    K::decode(PROBE).is_ok_and(|object| object.encoded_len() == PROBE.len())
}

/// Asks for protobuf first and for JSON where the server has none, and reads what comes.
///
/// Which of them came is seen from the first byte: no message of Kubernetes begins with `{`.
#[derive(Debug, Clone, Default)]
pub struct Negotiated<P, J> {
    protobuf: P,
    json: J,
}

impl<P, J> Negotiated<P, J> {
    /// Both codecs make the same form of object. The media types asked for are those of plain protobuf and JSON.
    #[must_use]
    pub fn new(protobuf: P, json: J) -> Self {
        Self { protobuf, json }
    }
}

impl<K, P: Codec<K>, J: Codec<K>> Codec<K> for Negotiated<P, J> {
    fn media_type(&self) -> &'static str {
        "application/vnd.kubernetes.protobuf,application/json"
    }

    fn envelope(&self) -> Option<(&'static str, &'static str)> {
        self.protobuf.envelope().or_else(|| self.json.envelope())
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<K>, DecodeError> {
        if is_json(&item) {
            self.json.decode(item)
        } else {
            self.protobuf.decode(item)
        }
    }
}
