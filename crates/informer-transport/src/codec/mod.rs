//! `Codec`: one item's bytes to identity and object.

mod json;
mod packed;
#[cfg(feature = "protobuf")]
mod prost;

use std::sync::Arc;

use bytes::Bytes;
use informer_core::{DecodeError, Decoded};

pub use json::{DynamicCodec, JsonCodec, MetadataCodec};
pub use packed::PackedCodec;
#[cfg(feature = "protobuf")]
pub use prost::{Negotiated, ProstCodec};

/// Decodes one item in one wire format: JSON through serde, protobuf through prost, or a user's own.
///
/// The identity is read from the bytes, so the object's form need not hold metadata.
pub trait Codec<K>: Send + Sync {
    /// What to ask the server for: `application/json`.
    fn media_type(&self) -> &'static str;

    /// What to ask the server for where a list is wanted, if it differs.
    fn list_media_type(&self) -> &'static str {
        self.media_type()
    }

    /// `apiVersion` and `kind` that the server writes on objects of this form, if they are not those of the resource.
    fn envelope(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Decodes one item.
    ///
    /// # Errors
    /// When it is no object of this form, with the identity where that could be read.
    fn decode(&self, item: Bytes) -> Result<Decoded<K>, DecodeError>;
}

impl<K, C: Codec<K> + ?Sized> Codec<K> for Arc<C> {
    fn media_type(&self) -> &'static str {
        (**self).media_type()
    }

    fn list_media_type(&self) -> &'static str {
        (**self).list_media_type()
    }

    fn envelope(&self) -> Option<(&'static str, &'static str)> {
        (**self).envelope()
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<K>, DecodeError> {
        (**self).decode(item)
    }
}

/// Whether an item is JSON: none in protobuf begins so, as no message of Kubernetes has a group as its field 15.
#[cfg(feature = "protobuf")]
fn is_json(item: &[u8]) -> bool {
    item.first() == Some(&b'{')
}
