//! The JSON codecs: serde types, dynamic objects, metadata only.

use std::{fmt, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use informer_core::{DecodeError, Decoded, Resource};
use serde::de::DeserializeOwned;

use super::Codec;
use crate::{
    DynamicObject, PartialMetadata,
    json::{Head, Member},
};

/// Decodes objects from JSON through serde.
///
/// The identity is read in one pass over the bytes up to the end of the metadata. The managed fields are cut from the bytes before serde
/// sees them: they are half of many objects, and few read them.
pub struct JsonCodec<K> {
    kind: Option<Arc<str>>,
    keep_managed_fields: bool,
    _object: PhantomData<fn() -> K>,
}

impl<K> JsonCodec<K> {
    /// A codec for the form of object `K`.
    #[must_use]
    pub fn new() -> Self {
        Self {
            kind: None,
            keep_managed_fields: false,
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
        self.keep_managed_fields = true;
        self
    }

    fn describe(&self, error: DecodeError) -> DecodeError {
        match &self.kind {
            Some(kind) => error.kind(kind.clone()),
            None => error,
        }
    }
}

impl<K> Default for JsonCodec<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for JsonCodec<K> {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind.clone(),
            ..*self
        }
    }
}

impl<K> fmt::Debug for JsonCodec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonCodec")
            .field("kind", &self.kind)
            .field("keep_managed_fields", &self.keep_managed_fields)
            .finish_non_exhaustive()
    }
}

impl<K: DeserializeOwned> Codec<K> for JsonCodec<K> {
    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<K>, DecodeError> {
        let head = Head::read(&item, Member::Metadata).map_err(|malformed| {
            self.describe(DecodeError::new(format!(
                "it is no JSON object (at byte {})",
                malformed.at
            )))
        })?;
        let identity = head.identity();
        let decoded = if self.keep_managed_fields {
            serde_json::from_slice(&item)
        } else {
            serde_json::from_slice(&head.without_managed_fields(&item))
        };
        match decoded {
            Ok(object) => Ok(Decoded { identity, object }),
            Err(error) => {
                let described = self.describe(DecodeError::new(error.to_string()).caused_by(error));
                Err(if identity.name.is_empty() {
                    described
                } else {
                    described.of(identity)
                })
            }
        }
    }
}

/// Decodes dynamic objects, and gives items of a list the types that they lack on the wire.
#[derive(Debug, Clone)]
pub struct DynamicCodec {
    json: JsonCodec<DynamicObject>,
    api_version: Arc<str>,
    kind: Arc<str>,
}

impl DynamicCodec {
    /// A codec for objects of this kind.
    #[must_use]
    pub fn new(resource: &Resource) -> Self {
        Self {
            json: JsonCodec::new().named(resource.kind.clone()),
            api_version: resource.api_version().into(),
            kind: resource.kind.clone(),
        }
    }

    /// The same, with the managed fields left in.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.json = self.json.keep_managed_fields();
        self
    }
}

impl Codec<DynamicObject> for DynamicCodec {
    fn media_type(&self) -> &'static str {
        self.json.media_type()
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<DynamicObject>, DecodeError> {
        let mut decoded = self.json.decode(item)?;
        for (member, value) in [("apiVersion", &self.api_version), ("kind", &self.kind)] {
            let members = decoded.object.as_map_mut();
            if !members.contains_key(member) {
                members.insert(member.to_owned(), (&**value).into());
            }
        }
        Ok(decoded)
    }
}

/// Decodes metadata only, and asks the server to send no more. One that cannot sends whole objects, of which the metadata is taken.
///
/// With the feature `protobuf` it asks for protobuf first, as client-go's metadata client does.
#[derive(Debug, Clone, Default)]
pub struct MetadataCodec {
    json: JsonCodec<PartialMetadata>,
    json_only: bool,
}

/// What a metadata codec asks for.
macro_rules! partial {
    ($kind:literal, $json_only:expr) => {
        if cfg!(feature = "protobuf") && !$json_only {
            concat!(
                "application/vnd.kubernetes.protobuf;as=",
                $kind,
                ";g=meta.k8s.io;v=v1,application/json;as=",
                $kind,
                ";g=meta.k8s.io;v=v1,application/json"
            )
        } else {
            concat!(
                "application/json;as=",
                $kind,
                ";g=meta.k8s.io;v=v1,application/json"
            )
        }
    };
}

impl MetadataCodec {
    /// A codec for the metadata of any kind.
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

/// What an object is called that is sent as its metadata alone.
const PARTIAL: &str = "PartialObjectMetadata";

impl MetadataCodec {
    fn decode_as_sent(&self, item: Bytes) -> Result<Decoded<PartialMetadata>, DecodeError> {
        #[cfg(feature = "protobuf")]
        if !super::is_json(&item) {
            return super::prost::metadata(item);
        }
        self.json.decode(item)
    }
}

impl Codec<PartialMetadata> for MetadataCodec {
    fn media_type(&self) -> &'static str {
        partial!("PartialObjectMetadata", self.json_only)
    }

    fn list_media_type(&self) -> &'static str {
        partial!("PartialObjectMetadataList", self.json_only)
    }

    fn envelope(&self) -> Option<(&'static str, &'static str)> {
        Some(("meta.k8s.io/v1", PARTIAL))
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<PartialMetadata>, DecodeError> {
        let mut decoded = self.decode_as_sent(item)?;
        let object = &mut decoded.object;
        // It is the kind of the answer, not of the object, and not all answers say it with each item.
        if object.kind.as_deref() == Some(PARTIAL) {
            (object.api_version, object.kind) = (None, None);
        }
        Ok(decoded)
    }
}
