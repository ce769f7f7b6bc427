//! `PackedCodec`: objects as their own bytes.

use std::borrow::Cow;

use bytes::Bytes;
use informer_core::{DecodeError, Decoded};

use super::{Codec, JsonCodec};
use crate::{
    PackedObject, PartialMetadata, Wire,
    json::{Head, Member},
};

/// Keeps objects as the bytes that came, without the managed fields, and reads the metadata that selectors, predicates and owner mapping
/// need. The rest is decoded when somebody asks for it: [`PackedObject::json`], or `PackedObject::message` with the feature `protobuf`.
#[derive(Debug, Clone, Default)]
pub struct PackedCodec {
    json: JsonCodec<PartialMetadata>,
    json_only: bool,
}

impl PackedCodec {
    /// A codec for any kind. With the feature `protobuf` it asks for protobuf first, which is smaller.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A codec that asks for JSON alone.
    #[must_use]
    pub fn json() -> Self {
        Self {
            json_only: true,
            ..Self::default()
        }
    }
}

impl Codec<PackedObject> for PackedCodec {
    fn media_type(&self) -> &'static str {
        if cfg!(feature = "protobuf") && !self.json_only {
            "application/vnd.kubernetes.protobuf,application/json"
        } else {
            "application/json"
        }
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<PackedObject>, DecodeError> {
        #[cfg(feature = "protobuf")]
        if !super::is_json(&item) {
            return protobuf(item);
        }
        let Decoded { identity, object } = self.json.decode(item.clone())?;
        let rest = Head::read(&item, Member::Metadata)
            .map_or(Cow::Borrowed(&*item), |head| head.without_managed_fields(&item));
        Ok(Decoded {
            object: PackedObject::new(object.metadata, Wire::Json, &rest),
            identity,
        })
    }
}

#[cfg(feature = "protobuf")]
fn protobuf(item: Bytes) -> Result<Decoded<PackedObject>, DecodeError> {
    use crate::proto::{NoMessage, without_managed_fields};

    let message = super::prost::message(item)?;
    let cut = without_managed_fields(&message).map_err(|NoMessage| DecodeError::new("it is no message"))?;
    let Decoded { identity, object } = super::prost::metadata(cut.clone())?;
    Ok(Decoded {
        object: PackedObject::new(object.metadata, Wire::Protobuf, &cut),
        identity,
    })
}
