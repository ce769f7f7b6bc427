//! Forms of objects that a client can read and write whatever their kind.

use std::{any::Any, sync::Arc};

use informer_core::Resource;
use informer_transport::{Codec, DynamicCodec, DynamicObject, JsonCodec, MetadataCodec, PartialMetadata};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A form of object: any serde type. For every type that fits: those of k8s-openapi, types of yours, [`DynamicObject`],
/// [`PartialMetadata`].
pub trait Form: Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<K: Serialize + DeserializeOwned + Send + Sync + 'static> Form for K {}

/// The codec of a form: dynamic objects are given their types, of metadata the server is asked to send no more (with the feature `protobuf` in
/// that format first), all else is JSON through serde. What a registry knows better, [`LiveClient::codec`](crate::LiveClient::codec) goes by.
#[must_use]
pub fn codec_of<K: Form>(resource: &Resource) -> Arc<dyn Codec<K>> {
    of_form(resource, MetadataCodec::new())
}

/// The same, which asks for JSON alone.
pub(super) fn json_codec_of<K: Form>(resource: &Resource) -> Arc<dyn Codec<K>> {
    of_form(resource, MetadataCodec::json())
}

fn of_form<K: Form>(resource: &Resource, metadata: MetadataCodec) -> Arc<dyn Codec<K>> {
    let dynamic: Arc<dyn Codec<DynamicObject>> = Arc::new(DynamicCodec::new(resource));
    let metadata: Arc<dyn Codec<PartialMetadata>> = Arc::new(metadata);
    let either = [&dynamic as &dyn Any, &metadata]
        .into_iter()
        .find_map(|codec| codec.downcast_ref::<Arc<dyn Codec<K>>>().cloned());
    either.unwrap_or_else(|| Arc::new(JsonCodec::new().named(resource.kind.clone())))
}

/// A text below `metadata` of an object as JSON; empty is none.
pub(crate) fn metadata<'a>(object: &'a Value, member: &str) -> Option<&'a str> {
    object
        .get("metadata")?
        .get(member)?
        .as_str()
        .filter(|text| !text.is_empty())
}
