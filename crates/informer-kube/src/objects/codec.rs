//! `KubeCodec`: kube's types from JSON.

use std::{any::Any, fmt};

use bytes::Bytes;
use informer_core::{DecodeError, Decoded, Resource};
use informer_transport::{Codec, JsonCodec};
use kube::core::{DynamicObject, TypeMeta};
use serde::de::DeserializeOwned;

/// Decodes kube's types from JSON. The managed fields are cut from the bytes before serde sees them, unless they are asked for.
///
/// For `PartialObjectMeta` the server is asked for metadata only. A `DynamicObject` is given its `apiVersion` and `kind`, which items of a list
/// lack on the wire.
pub struct KubeCodec<K> {
    json: JsonCodec<K>,
    types: TypeMeta,
}

impl<K> KubeCodec<K> {
    /// A codec for objects of this kind.
    #[must_use]
    pub fn new(resource: &Resource) -> Self {
        Self {
            json: JsonCodec::new().named(resource.kind.clone()),
            types: TypeMeta {
                api_version: resource.api_version(),
                kind: resource.kind.to_string(),
            },
        }
    }

    /// The same, with the managed fields left in.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.json = self.json.keep_managed_fields();
        self
    }
}

impl<K> Clone for KubeCodec<K> {
    fn clone(&self) -> Self {
        Self {
            json: self.json.clone(),
            types: self.types.clone(),
        }
    }
}

impl<K> fmt::Debug for KubeCodec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeCodec")
            .field("json", &self.json)
            .finish_non_exhaustive()
    }
}

impl<K: kube::Resource + DeserializeOwned + 'static> Codec<K> for KubeCodec<K> {
    fn media_type(&self) -> &'static str {
        if K::metadata_api() {
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        } else {
            self.json.media_type()
        }
    }

    fn list_media_type(&self) -> &'static str {
        if K::metadata_api() {
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
        } else {
            self.json.list_media_type()
        }
    }

    fn envelope(&self) -> Option<(&'static str, &'static str)> {
        K::metadata_api().then_some(("meta.k8s.io/v1", "PartialObjectMetadata"))
    }

    fn decode(&self, item: Bytes) -> Result<Decoded<K>, DecodeError> {
        let mut decoded = self.json.decode(item)?;
        let object: &mut dyn Any = &mut decoded.object;
        if let Some(object) = object.downcast_mut::<DynamicObject>() {
            object.types.get_or_insert_with(|| self.types.clone());
        }
        Ok(decoded)
    }
}
