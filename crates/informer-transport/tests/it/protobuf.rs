//! Kubernetes protobuf: lists, watches, failures, and the forms of object. The messages are written down here once more, with the numbers
//! of apimachinery's `generated.proto`.

use bytes::Bytes;
use http::{HeaderMap, Response, header::CONTENT_TYPE};
use informer_core::{Classify, FailureClass};
use informer_transport::{
    ApiError, Asked, Codec, JsonCodec, ListError, ListSplitter, MetadataCodec, Negotiated, PackedCodec,
    ProstCodec, WatchDecoder, WatchFrame, Wire,
};
use proptest::{collection::vec, prelude::*};
use prost::Message;
use serde::Deserialize;

#[derive(Clone, PartialEq, Message)]
struct Envelope {
    #[prost(message, optional, tag = "1")]
    types: Option<Types>,
    #[prost(bytes, tag = "2")]
    raw: Vec<u8>,
    #[prost(string, tag = "4")]
    content_type: String,
}

#[derive(Clone, PartialEq, Message)]
struct Types {
    #[prost(string, tag = "1")]
    api_version: String,
    #[prost(string, tag = "2")]
    kind: String,
}

#[derive(Clone, PartialEq, Message)]
struct List {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ListMeta>,
    #[prost(message, repeated, tag = "2")]
    items: Vec<Pod>,
}

#[derive(Clone, PartialEq, Message)]
struct ListMeta {
    #[prost(string, tag = "2")]
    version: String,
    #[prost(string, tag = "3")]
    token: String,
    #[prost(int64, optional, tag = "4")]
    remaining: Option<i64>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
struct Pod {
    #[prost(message, optional, tag = "1")]
    #[serde(skip)]
    metadata: Option<Meta>,
    #[prost(message, optional, tag = "2")]
    spec: Option<Spec>,
}

#[derive(Clone, PartialEq, Message)]
struct Meta {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "3")]
    namespace: String,
    #[prost(string, tag = "5")]
    uid: String,
    #[prost(string, tag = "6")]
    version: String,
    #[prost(message, optional, tag = "8")]
    created: Option<Time>,
    #[prost(btree_map = "string, string", tag = "11")]
    labels: std::collections::BTreeMap<String, String>,
    #[prost(btree_map = "string, string", tag = "12")]
    annotations: std::collections::BTreeMap<String, String>,
    #[prost(message, repeated, tag = "17")]
    managed: Vec<Managed>,
}

#[derive(Clone, PartialEq, Message)]
struct Time {
    #[prost(int64, tag = "1")]
    seconds: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Managed {
    #[prost(string, tag = "1")]
    manager: String,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    #[prost(string, tag = "10")]
    node_name: String,
}

/// What one controller needs.
#[derive(Clone, PartialEq, Message)]
struct Projection {
    #[prost(message, optional, tag = "2")]
    spec: Option<Spec>,
}

fn envelope(api_version: &str, kind: &str, raw: &impl Message) -> Vec<u8> {
    let envelope = Envelope {
        types: Some(Types {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        }),
        raw: raw.encode_to_vec(),
        content_type: String::new(),
    };
    [b"k8s\0", &*envelope.encode_to_vec()].concat()
}

fn pod(name: &str) -> Pod {
    Pod {
        metadata: Some(Meta {
            name: name.to_owned(),
            namespace: "default".to_owned(),
            uid: "u-1".to_owned(),
            version: "7".to_owned(),
            created: Some(Time {
                seconds: 1_720_094_400,
            }),
            labels: [("app".to_owned(), "web".to_owned())].into(),
            managed: vec![Managed {
                manager: "kubectl".to_owned(),
            }],
            ..Meta::default()
        }),
        spec: Some(Spec {
            node_name: "n-1".to_owned(),
        }),
    }
}

fn list(items: Vec<Pod>) -> Vec<u8> {
    let metadata = ListMeta {
        version: "90".to_owned(),
        token: "more".to_owned(),
        remaining: Some(3),
    };
    let list = List {
        metadata: Some(metadata),
        items,
    };
    envelope("v1", "PodList", &list)
}

fn split(body: &[u8], chunk: usize) -> Result<(Vec<Bytes>, informer_transport::ListEnd), ListError> {
    let mut splitter = ListSplitter::of(Wire::Protobuf);
    let mut items = Vec::new();
    for chunk in body.chunks(chunk.max(1)) {
        splitter.push(Bytes::copy_from_slice(chunk));
        while let Some(item) = splitter.next_item()? {
            items.push(item);
        }
    }
    Ok((items, splitter.finish()?))
}

proptest! {
    #[test]
    fn a_list_is_its_items_whatever_the_chunks(names in vec("[a-z]{1,300}", 0..8), chunk in 1_usize..700) {
        let pods: Vec<Pod> = names.iter().map(|name| pod(name)).collect();
        let body = list(pods.clone());
        let (items, end) = split(&body, chunk).unwrap();
        let read: Vec<Pod> = items.iter().map(|item| Pod::decode(&**item).unwrap()).collect();
        prop_assert_eq!(read, pods);
        prop_assert_eq!((end.version.as_str(), end.token.as_deref(), end.remaining), ("90", Some("more"), Some(3)));
    }

    #[test]
    fn a_list_that_is_cut_is_no_list(n in 0_usize..400) {
        let body = list(vec![pod("a"), pod("b"), pod("c")]);
        prop_assume!(n < body.len());
        // Behind the last item only what the envelope says of itself may be missing, and there is nothing of it.
        prop_assert!(split(&body[..n], 50).is_err());
    }
}

#[test]
fn what_is_no_list_is_refused_by_its_kind() {
    for kind in ["Pod", "Status", "Table"] {
        let refused = split(&envelope("v1", kind, &pod("a")), 10).unwrap_err();
        assert_eq!(
            refused,
            ListError::NotAList {
                kind: kind.to_owned()
            }
        );
    }
    assert!(matches!(
        split(b"{\"items\":[]}", 9),
        Err(ListError::Malformed { .. })
    ));
}

#[test]
fn an_item_over_the_limit_is_refused_by_its_size() {
    let mut splitter = ListSplitter::of(Wire::Protobuf).with_limit(20);
    let body = list(vec![pod("a")]);
    // Without the item itself: its size is enough.
    splitter.push(Bytes::copy_from_slice(&body[..60]));
    assert_eq!(splitter.next_item(), Err(ListError::TooLarge { limit: 20 }));
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(string, tag = "1")]
    event: String,
    #[prost(message, optional, tag = "2")]
    object: Option<Raw>,
}

#[derive(Clone, PartialEq, Message)]
struct Raw {
    #[prost(bytes, tag = "1")]
    raw: Vec<u8>,
}

fn frame(event: &str, object: Vec<u8>) -> Vec<u8> {
    let event = Event {
        event: event.to_owned(),
        object: Some(Raw { raw: object }),
    };
    let event = event.encode_to_vec();
    [&u32::try_from(event.len()).unwrap().to_be_bytes()[..], &event].concat()
}

#[derive(Clone, PartialEq, Message)]
struct Failure {
    #[prost(string, tag = "3")]
    message: String,
    #[prost(string, tag = "4")]
    reason: String,
    #[prost(message, optional, tag = "5")]
    details: Option<Details>,
    #[prost(int32, tag = "6")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Details {
    #[prost(int32, tag = "5")]
    retry_after: i32,
}

fn too_many() -> Vec<u8> {
    let failure = Failure {
        message: "slow down".to_owned(),
        reason: "TooManyRequests".to_owned(),
        details: Some(Details { retry_after: 4 }),
        code: 429,
    };
    envelope("v1", "Status", &failure)
}

fn bookmark(version: &str, annotations: &[(&str, &str)]) -> Vec<u8> {
    let annotations = annotations
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mark = Pod {
        metadata: Some(Meta {
            version: version.to_owned(),
            annotations: annotations.collect(),
            ..Meta::default()
        }),
        spec: None,
    };
    envelope("v1", "Pod", &mark)
}

fn frames(body: &[u8], chunk: usize) -> Vec<WatchFrame> {
    let mut decoder = WatchDecoder::new(Asked::Watch)
        .wire(Wire::Protobuf)
        .expect_types("v1", "Pod");
    let mut frames = Vec::new();
    for chunk in body.chunks(chunk) {
        decoder.push(Bytes::copy_from_slice(chunk));
        while let Some(frame) = decoder.next_frame().unwrap() {
            frames.push(frame);
        }
    }
    decoder.finish();
    while let Some(frame) = decoder.next_frame().unwrap() {
        frames.push(frame);
    }
    frames
}

#[test]
fn a_watch_is_its_events_whatever_the_chunks() {
    let object = envelope("v1", "Pod", &pod("a"));
    let body = [
        frame("ADDED", object.clone()),
        frame("MODIFIED", object.clone()),
        frame("DELETED", object.clone()),
        frame("BOOKMARK", bookmark("12", &[])),
        frame(
            "BOOKMARK",
            bookmark("13", &[("k8s.io/initial-events-end", "true")]),
        ),
        frame("ADDED", envelope("v1", "Node", &pod("b"))),
        frame("ERROR", too_many()),
    ]
    .concat();
    for chunk in [1, 3, 7, 64, body.len()] {
        let frames = frames(&body, chunk);
        let [
            WatchFrame::Added(added),
            WatchFrame::Modified(modified),
            WatchFrame::Deleted(deleted),
            WatchFrame::Bookmark {
                at,
                end_of_initial: false,
            },
            WatchFrame::Bookmark {
                end_of_initial: true, ..
            },
            WatchFrame::Odd(odd),
            WatchFrame::Error(error),
        ] = &*frames
        else {
            panic!("{frames:?}");
        };
        for whole in [added, modified, deleted] {
            assert_eq!(**whole, *object);
        }
        assert_eq!(at.as_str(), "12");
        assert!(odd.to_string().contains("default/b"), "{odd}");
        assert_eq!(error.class(), FailureClass::Throttled);
        assert_eq!(error.retry_after().unwrap().as_secs(), 4);
    }
}

#[test]
fn a_watch_that_ends_inside_an_event_says_so() {
    let body = [
        frame("ADDED", envelope("v1", "Pod", &pod("a"))),
        frame("ADDED", envelope("v1", "Pod", &pod("b"))),
    ]
    .concat();
    for cut in [2, 5, 40] {
        let frames = frames(&body[..body.len() - cut], 16);
        assert!(
            matches!(&*frames, [WatchFrame::Added(_), WatchFrame::Odd(_)]),
            "{frames:?}"
        );
    }
}

#[test]
fn a_length_over_the_limit_is_refused_before_it_comes() {
    let mut decoder = WatchDecoder::new(Asked::Watch)
        .wire(Wire::Protobuf)
        .with_limit(100);
    decoder.push(Bytes::from_static(&[0xff, 0xff, 0xff, 0xff]));
    assert!(decoder.next_frame().is_err());
    assert!(decoder.next_frame().unwrap().is_none(), "nothing comes after it");
}

#[test]
fn the_headers_say_which_format_it_is() {
    let of = |media_type: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, media_type.parse().unwrap());
        Wire::of(&headers)
    };
    assert_eq!(of("application/vnd.kubernetes.protobuf"), Wire::Protobuf);
    assert_eq!(
        of("application/vnd.kubernetes.protobuf;stream=watch"),
        Wire::Protobuf
    );
    assert_eq!(of("application/json"), Wire::Json);
    assert_eq!(Wire::of(&HeaderMap::new()), Wire::Json);
}

#[test]
fn a_failure_is_read_in_protobuf() {
    let (parts, ()) = Response::builder().status(429).body(()).unwrap().into_parts();
    let error = ApiError::from_response(&parts, &too_many(), Asked::List);
    assert_eq!(
        (error.reason(), &*error.message()),
        ("TooManyRequests", "slow down")
    );
}

#[test]
fn the_identity_is_read_beside_a_message_that_lacks_metadata() {
    for bytes in [envelope("v1", "Pod", &pod("a")), pod("a").encode_to_vec()] {
        let decoded = ProstCodec::<Projection>::new().decode(bytes.into()).unwrap();
        assert_eq!(decoded.identity.to_string(), "default/a");
        assert_eq!(&*decoded.identity.stamp.uid, "u-1");
        assert_eq!(decoded.object.spec.unwrap().node_name, "n-1");
    }
}

#[test]
fn managed_fields_are_cut_unless_they_are_asked_for() {
    let item: Bytes = pod("a").encode_to_vec().into();
    let managed = |codec: ProstCodec<Pod>| {
        let pod = codec.decode(item.clone()).unwrap().object;
        assert_eq!(pod.metadata.as_ref().unwrap().labels["app"], "web");
        pod.metadata.unwrap().managed.len()
    };
    assert_eq!(managed(ProstCodec::new()), 0);
    assert_eq!(managed(ProstCodec::new().keep_managed_fields()), 1);
}

#[test]
fn what_cannot_be_decoded_is_named() {
    // A number where the node name should be.
    #[derive(Clone, PartialEq, Message)]
    struct Wrong {
        #[prost(message, optional, tag = "2")]
        spec: Option<WrongSpec>,
    }
    #[derive(Clone, PartialEq, Message)]
    struct WrongSpec {
        #[prost(int64, tag = "10")]
        node_name: i64,
    }
    let error = ProstCodec::<Wrong>::new()
        .named("Pod")
        .decode(pod("a").encode_to_vec().into())
        .unwrap_err();
    assert!(error.to_string().contains("default/a"), "{error}");
}

#[test]
fn negotiated_reads_what_comes() {
    let codec = Negotiated::new(ProstCodec::<Pod>::new(), JsonCodec::<Pod>::new());
    let json = br#"{"metadata":{"name":"a","namespace":"default"},"spec":{"nodeName":"n-1"}}"#;
    for item in [Bytes::from_static(json), pod("a").encode_to_vec().into()] {
        let decoded = codec.decode(item).unwrap();
        assert_eq!(decoded.identity.to_string(), "default/a");
        assert_eq!(decoded.object.spec.unwrap().node_name, "n-1");
    }
}

#[test]
fn metadata_is_the_same_in_both_formats() {
    let json = br#"{"metadata":{"name":"a","namespace":"default","uid":"u-1","resourceVersion":"7",
        "creationTimestamp":"2024-07-04T12:00:00Z","labels":{"app":"web"},"managedFields":[{"manager":"kubectl"}]}}"#;
    let codec = MetadataCodec::new();
    let from_json = codec.decode(Bytes::from_static(json)).unwrap();
    let from_protobuf = codec.decode(pod("a").encode_to_vec().into()).unwrap();
    assert_eq!(from_json.identity, from_protobuf.identity);
    assert_eq!(from_json.object.metadata, from_protobuf.object.metadata);
}

#[test]
fn a_packed_object_is_decoded_on_access() {
    let json = br#"{"metadata":{"name":"a","labels":{"app":"web"},"managedFields":[{"manager":"kubectl"}]},"spec":{"nodeName":"n-1"}}"#;
    let codec = PackedCodec::new();
    for item in [Bytes::from_static(json), envelope("v1", "Pod", &pod("a")).into()] {
        let length = item.len();
        let packed = codec.decode(item).unwrap().object;
        assert_eq!(packed.label("app"), Some("web"));
        assert!(packed.bytes().len() < length, "the managed fields are gone");
        let pod: Pod = match packed.wire() {
            Wire::Json => packed.json().unwrap(),
            _ => packed.message().unwrap(),
        };
        assert_eq!(pod.spec.unwrap().node_name, "n-1");
    }
    let json_only = PackedCodec::json()
        .decode(Bytes::from_static(json))
        .unwrap()
        .object;
    assert!(json_only.message::<Pod>().is_err());
}
