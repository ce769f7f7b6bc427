//! From bytes to objects.

use std::collections::BTreeMap;

use bytes::Bytes;
use informer_core::{DecodeError, Decoded, Resource};
use informer_transport::{Codec, DynamicCodec, JsonCodec, MetadataCodec, PartialMetadata};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, PartialEq)]
struct Three {
    spec: Spec,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Spec {
    node: String,
}

fn decode<K: DeserializeOwned>(text: &str) -> Result<Decoded<K>, DecodeError> {
    JsonCodec::new()
        .named("Thing")
        .decode(Bytes::copy_from_slice(text.as_bytes()))
}

/// The object as the codec hands it to serde.
fn seen(text: &str) -> Value {
    decode::<Value>(text).unwrap().object
}

#[test]
fn the_identity_is_read_beside_a_form_that_lacks_metadata() {
    let text = r#"{"kind":"Thing","metadata":{"namespace":"n","name":"a","uid":"u1","resourceVersion":"r-7f","labels":{}},"spec":{"node":"x"}}"#;
    let Decoded { identity, object } = decode::<Three>(text).unwrap();
    assert_eq!(
        object,
        Three {
            spec: Spec { node: "x".to_owned() }
        }
    );
    assert_eq!((identity.namespace.as_deref(), &*identity.name), (Some("n"), "a"));
    assert_eq!(
        (identity.stamp.version.as_str(), &*identity.stamp.uid),
        ("r-7f", "u1")
    );
}

#[test]
fn only_the_metadata_of_the_object_itself_counts() {
    let text = r#"{"spec":{"template":{"metadata":{"name":"inner"}}},"metadata":{"namespace":"","name":"esc\u0061ped \"x\""},"name":"top"}"#;
    let identity = decode::<Value>(text).unwrap().identity;
    assert_eq!((identity.namespace, &*identity.name), (None, "escaped \"x\""));
}

#[test]
fn managed_fields_are_cut_wherever_they_stand() {
    for (metadata, rest) in [
        (
            r#"{"managedFields":[{"x":"]}"}],"name":"a"}"#,
            json!({"name": "a"}),
        ),
        (r#"{"name":"a","managedFields":[{}]}"#, json!({"name": "a"})),
        (
            r#"{"name":"a" , "managedFields" : [ {} ] , "uid":"u"}"#,
            json!({"name": "a", "uid": "u"}),
        ),
        (r#"{ "managedFields": [] }"#, json!({})),
        (
            r#"{"name":"a","managedFields":null,"labels":null}"#,
            json!({"name": "a", "labels": null}),
        ),
    ] {
        let text = format!(r#"{{"metadata":{metadata},"spec":{{"managedFields":1}}}}"#);
        assert_eq!(
            seen(&text),
            json!({"metadata": rest, "spec": {"managedFields": 1}}),
            "{text}"
        );
    }
}

#[test]
fn managed_fields_are_kept_on_request() {
    let text = Bytes::from_static(br#"{"metadata":{"name":"a","managedFields":[1]}}"#);
    let codec = JsonCodec::<Value>::new().keep_managed_fields();
    let object = codec.decode(text).unwrap().object;
    assert_eq!(object, json!({"metadata": {"name": "a", "managedFields": [1]}}));
}

#[test]
fn an_object_that_cannot_be_decoded_is_named() {
    let error =
        decode::<Three>(r#"{"metadata":{"namespace":"n","name":"bad"},"spec":{"node":[1]}}"#).unwrap_err();
    assert_eq!(error.identity().unwrap().to_string(), "n/bad");
    assert!(
        error
            .to_string()
            .starts_with("cannot decode Thing n/bad: invalid type: sequence"),
        "{error}"
    );
    let error = decode::<Three>(r#"{"spec":{"node":[1]}}"#).unwrap_err();
    assert!(error.identity().is_none());
    for text in ["null", "[]", "", "{", r#"{"metadata":{"name":"a""#] {
        assert!(decode::<Value>(text).is_err(), "{text}");
    }
}

#[test]
fn objects_without_metadata_have_no_name() {
    for text in ["{}", r#"{"metadata":null}"#, r#"{"metadata":{}}"#] {
        assert_eq!(&*decode::<Value>(text).unwrap().identity.name, "");
    }
}

#[test]
fn dynamic_objects_get_the_types_that_list_items_lack() {
    let deployments = Resource::namespaced("apps", "v1", "deployments", "Deployment");
    let codec = DynamicCodec::new(&deployments);
    let object = codec
        .decode(Bytes::from_static(br#"{"metadata":{"name":"a"}}"#))
        .unwrap()
        .object;
    assert_eq!(
        (object.api_version(), object.kind(), object.name()),
        ("apps/v1", "Deployment", "a")
    );
    let other = Bytes::from_static(br#"{"apiVersion":"x/v2","kind":"Y","metadata":{}}"#);
    let object = codec.decode(other).unwrap().object;
    assert_eq!((object.api_version(), object.kind()), ("x/v2", "Y"));
}

#[test]
fn metadata_is_read_of_partial_and_of_whole_objects() {
    let codec = MetadataCodec::new();
    let text = br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"5","generation":2,
        "creationTimestamp":"2024-01-01T00:00:00Z","deletionTimestamp":"2024-01-02T00:00:00Z","deletionGracePeriodSeconds":30,
        "labels":{"l":"1"},"annotations":null,"finalizers":["f"],
        "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"ru","controller":true,"blockOwnerDeletion":true}],
        "managedFields":[{}]},"spec":{"huge":[1,2,3]}}"#;
    let metadata = codec.decode(Bytes::from_static(text)).unwrap().object.metadata;
    assert_eq!(
        (
            &*metadata.name,
            metadata.namespace.as_deref(),
            metadata.generation
        ),
        ("a", Some("n"), Some(2))
    );
    assert_eq!(
        metadata.labels,
        BTreeMap::from([("l".to_owned(), "1".to_owned())])
    );
    assert!(metadata.annotations.is_empty() && metadata.managed_fields.is_none());
    assert_eq!(
        (&*metadata.finalizers, metadata.deletion_timestamp.is_some()),
        (&["f".to_owned()][..], true)
    );
    assert_eq!(
        (
            &*metadata.owner_references[0].name,
            metadata.owner_references[0].controller
        ),
        ("r", Some(true))
    );
    let text = serde_json::to_string(&PartialMetadata::default()).unwrap();
    assert_eq!(text, r#"{"metadata":{}}"#, "what is not there is not written");
}

#[test]
fn the_server_is_asked_for_partial_objects() {
    let codec = MetadataCodec::new();
    assert!(
        codec
            .media_type()
            .contains("application/json;as=PartialObjectMetadata;")
    );
    assert!(
        codec
            .list_media_type()
            .contains("application/json;as=PartialObjectMetadataList;")
    );
    for media_type in [codec.media_type(), codec.list_media_type()] {
        assert!(
            media_type.ends_with(",application/json"),
            "and for whole ones at last"
        );
        let first = media_type.split(';').next();
        let protobuf = cfg!(feature = "protobuf").then_some("application/vnd.kubernetes.protobuf");
        assert_eq!(first, protobuf.or(Some("application/json")));
    }
    assert_eq!(
        codec.envelope(),
        Some(("meta.k8s.io/v1", "PartialObjectMetadata"))
    );
}
