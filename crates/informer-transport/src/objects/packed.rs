//! `PackedObject`: an object as its own bytes.

use std::fmt;

use informer_core::DecodeError;
use serde::de::DeserializeOwned;

use super::{ObjectMeta, OwnerReference};
use crate::Wire;

/// An object as the bytes that came, without its managed fields, and the metadata that the machinery asks for. A fraction of the memory of
/// a typed one, for the price of decoding it whenever it is looked into.
#[derive(Clone, PartialEq, Eq)]
pub struct PackedObject {
    labels: Box<[(Box<str>, Box<str>)]>,
    owners: Box<[OwnerReference]>,
    generation: Option<i64>,
    deleting: bool,
    wire: Wire,
    bytes: Box<[u8]>,
}

impl PackedObject {
    pub(crate) fn new(metadata: ObjectMeta, wire: Wire, bytes: &[u8]) -> Self {
        let labels = metadata.labels.into_iter();
        Self {
            labels: labels.map(|(name, value)| (name.into(), value.into())).collect(),
            owners: metadata.owner_references.into(),
            generation: metadata.generation,
            deleting: metadata.deletion_timestamp.is_some(),
            wire,
            // A copy, which holds on to no more of the body than itself.
            bytes: bytes.into(),
        }
    }

    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        let at = self
            .labels
            .binary_search_by(|(label, _)| (**label).cmp(name))
            .ok()?;
        Some(&self.labels[at].1)
    }

    /// The owners.
    #[must_use]
    pub fn owners(&self) -> &[OwnerReference] {
        &self.owners
    }

    /// The generation.
    #[must_use]
    pub fn generation(&self) -> Option<i64> {
        self.generation
    }

    /// Whether it is marked for deletion.
    #[must_use]
    pub fn is_deleting(&self) -> bool {
        self.deleting
    }

    /// In which format its bytes are.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// Its bytes: a JSON object, or a message without its envelope.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Decodes it from JSON.
    ///
    /// # Errors
    /// When it is no `K`, or came in another format.
    pub fn json<K: DeserializeOwned>(&self) -> Result<K, DecodeError> {
        if self.wire != Wire::Json {
            return Err(DecodeError::new("it came as protobuf, and JSON is asked for"));
        }
        serde_json::from_slice(&self.bytes)
            .map_err(|error| DecodeError::new(error.to_string()).caused_by(error))
    }

    /// Decodes it from protobuf.
    ///
    /// # Errors
    /// When it is no `K`, or came in another format.
    #[cfg(feature = "protobuf")]
    pub fn message<K: prost::Message + Default>(&self) -> Result<K, DecodeError> {
        if self.wire != Wire::Protobuf {
            return Err(DecodeError::new("it came as JSON, and protobuf is asked for"));
        }
        K::decode(&*self.bytes).map_err(|error| DecodeError::new(error.to_string()).caused_by(error))
    }
}

impl fmt::Debug for PackedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedObject")
            .field("wire", &self.wire)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
