//! In which wire format a live client asks for objects.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::Response;
use informer_client::{DynamicObject, Form, Kinds, LiveClient, PartialMetadata, ReadClient};
use informer_core::{Entry, Meta, MetaFields, ObjectKey, Resource};
use informer_transport::JsonCodec;
use k8s_openapi::api::core::v1::ConfigMap;
use prost::Message;
use serde::{Deserialize, Serialize};

use crate::scripted::{Answer, Scripted, Step, ok, run};

const JSON: &str = "application/json";
const PROTOBUF_FIRST: &str = "application/vnd.kubernetes.protobuf,application/json";
const BODY: &str =
    r#"{"metadata":{"namespace":"default","name":"a","resourceVersion":"7"},"data":{"key":"x"}}"#;

/// A message of one's own: what `data` holds, under the number that it has in k8s.io/api core/v1/generated.proto.
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
struct Data {
    #[prost(btree_map = "string, string", tag = "2")]
    #[serde(default)]
    data: BTreeMap<String, String>,
}

fn configs() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

fn kinds() -> Kinds {
    let kinds = Kinds::kubernetes();
    kinds.register_message::<Data>(configs()).unwrap();
    kinds
}

/// Reads one object, and says what was asked for.
fn read<K: Form>(live: impl Fn(LiveClient) -> LiveClient, answer: Answer) -> (String, Entry<ObjectKey, K>) {
    let (transport, client) = Scripted::new([answer]);
    let live = live(LiveClient::of(&client, kinds()));
    let key = ObjectKey::namespaced("default", "a");
    let entry = run(live.read::<K>(&configs(), &key)).unwrap().unwrap();
    (transport.header("accept"), entry)
}

fn asked<K: Form>(live: impl Fn(LiveClient) -> LiveClient) -> String {
    read::<K>(live, ok(BODY)).0
}

/// What a server sends that has protobuf (apimachinery runtime/generated.proto `Unknown`).
fn in_protobuf() -> Answer {
    // `metadata` with name, namespace and version, then `data`.
    let mut message = vec![0x0a, 15, 0x0a, 1];
    message.extend(b"a\x1a\x07default\x32\x017\x12");
    // Field 2: {1: "key", 2: "x"}.
    message.extend([8, 0x0a, 3]);
    message.extend(b"key\x12\x01x");
    let mut body = b"k8s\0\x12".to_vec();
    body.push(u8::try_from(message.len()).unwrap());
    body.extend(message);
    let steps = vec![Step::Data(Bytes::from(body))];
    let response = Response::builder().header("content-type", "application/vnd.kubernetes.protobuf");
    Answer::Response(response.body(steps).unwrap())
}

#[test]
fn protobuf_is_asked_for_where_the_form_can_be_read_from_it() {
    assert_eq!(asked::<Data>(|live| live), PROTOBUF_FIRST);
    let metadata = asked::<PartialMetadata>(|live| live);
    assert!(
        metadata.starts_with("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;"),
        "{metadata}"
    );
    assert!(metadata.ends_with(",application/json"), "{metadata}");
    assert_eq!(asked::<ConfigMap>(|live| live), JSON);
    assert_eq!(asked::<DynamicObject>(|live| live), JSON);
}

#[test]
fn a_client_may_ask_for_json_alone() {
    let all = [
        asked::<Data>(LiveClient::json_only),
        asked::<PartialMetadata>(LiveClient::json_only),
        asked::<ConfigMap>(LiveClient::json_only),
        asked::<DynamicObject>(LiveClient::json_only),
    ];
    let json_metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
    assert_eq!(all, [JSON, json_metadata, JSON, JSON]);
}

#[test]
fn an_object_is_the_same_whichever_format_the_server_has() {
    let (_, json) = read::<Data>(|live| live, ok(BODY));
    let (_, protobuf) = read::<Data>(|live| live, in_protobuf());
    assert_eq!(json.object.data["key"], "x");
    assert_eq!(json.object, protobuf.object);
    assert_eq!((json.key, json.stamp), (protobuf.key, protobuf.stamp));
}

struct Nothing;

impl Meta<Data> for Nothing {
    fn fields(&self) -> MetaFields {
        MetaFields::all()
    }

    fn label<'a>(&self, _: &'a Data, _: &str) -> Option<&'a str> {
        None
    }
}

#[test]
fn what_is_registered_of_a_type_adds_up() {
    let codec = |kinds: &Kinds| kinds.codec::<Data>(&configs()).map(|codec| codec.media_type());
    let kinds = Kinds::new();
    kinds.register::<Data>(configs()).unwrap();
    assert_eq!(codec(&kinds), None);
    kinds
        .register_message::<Data>(configs())
        .unwrap()
        .register_whole::<Data>(configs(), Nothing)
        .unwrap();
    assert_eq!(codec(&kinds), Some(PROTOBUF_FIRST));
    assert!(kinds.meta::<Data>().is_some() && kinds.is_whole::<Data>());
    // The later one goes before, and leaves the rest as it is.
    kinds.register_codec::<Data>(configs(), JsonCodec::new()).unwrap();
    assert_eq!(codec(&kinds), Some(JSON));
    assert!(kinds.meta::<Data>().is_some() && kinds.is_whole::<Data>());
    // Of another kind nothing is known, and a type has one kind.
    let others = Resource::namespaced("", "v1", "secrets", "Secret");
    assert!(kinds.codec::<Data>(&others).is_none());
    assert!(kinds.register_message::<Data>(others).is_err());
}
