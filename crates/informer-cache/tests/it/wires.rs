//! In which wire format a cache asks for kinds, at a server that has JSON only.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response, header::ACCEPT};
use informer_cache::{Cache, CacheBuilder, CachedClient, KindOptions};
use informer_client::{
    Form, Kinds, ListOptions, LiveClient, PartialMetadata, ReadClient, ReadClientExt, WriteClientExt,
    WriteOptions,
};
use informer_reflector::{Options, Start};
use informer_transport::{JsonCodec, Transport};
use k8s_openapi::api::core::v1::ConfigMap;
use prost::Message;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{Inner, World, configs, key};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// A message of one's own (k8s.io/api core/v1/generated.proto `ConfigMap`).
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
struct Data {
    #[prost(btree_map = "string, string", tag = "2")]
    #[serde(default)]
    data: BTreeMap<String, String>,
}

/// What was asked for: the path, and the media types.
type Heard = Arc<Mutex<BTreeSet<(String, String)>>>;

struct Listening {
    inner: Inner,
    heard: Heard,
}

impl Transport for Listening {
    type Body = <Inner as Transport>::Body;
    type Error = <Inner as Transport>::Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Self::Body>, Self::Error> {
        let accept = request.headers()[ACCEPT].to_str().unwrap().to_owned();
        let how = match request.uri().query() {
            Some(query) if query.contains("watch=true") => "watch",
            _ => request.method().as_str(),
        };
        self.heard.lock().unwrap().insert((how.to_owned(), accept));
        self.inner.send(request).await
    }
}

/// Reads through a cache of config maps in this form, and says what was asked for.
async fn asked<K: Form>(
    world: &World,
    start: Start,
    live: impl Fn(LiveClient) -> LiveClient,
    builder: impl Fn(CacheBuilder) -> CacheBuilder,
) -> BTreeSet<(String, String)> {
    let heard = Heard::default();
    let transport = Listening {
        inner: Inner::new(world.api.clone()),
        heard: heard.clone(),
    };
    let kinds = Kinds::kubernetes();
    kinds.register_message::<Data>(configs()).unwrap();
    let mut options = Options::default();
    options.start = start;
    let live = live(LiveClient::new(transport, kinds));
    let cache = builder(Cache::builder(live).reflector_options(options))
        .build()
        .unwrap();
    cache.start();
    let client = CachedClient::new(cache.clone());
    let list = client
        .read_all::<K>(&configs(), &ListOptions::all())
        .await
        .unwrap();
    assert_eq!(list.names(), ["default/a", "default/b"]);
    assert!(list.unreadable.is_empty());
    assert!(cache.status()[0].has_synced());
    cache.shut_down().await;
    let heard = heard.lock().unwrap().clone();
    assert!(heard.iter().any(|(how, _)| how == "watch"), "{heard:?}");
    heard
}

fn world() -> World {
    let world = World::new();
    for name in ["a", "b"] {
        world.config("default", name, json!({"app": name}));
    }
    world
}

#[tokio::test(start_paused = true)]
async fn built_in_kinds_are_asked_for_in_protobuf_first_and_json_will_do() {
    let world = world();
    for start in [Start::List, Start::StreamingList] {
        for heard in [
            asked::<PartialMetadata>(&world, start, |live| live, |cache| cache).await,
            asked::<Data>(&world, start, |live| live, |cache| cache).await,
        ] {
            for (_, accept) in heard {
                assert!(accept.starts_with(PROTOBUF), "{accept}");
                assert!(accept.ends_with(",application/json"), "{accept}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn serde_types_stay_on_json() {
    let world = world();
    for (_, accept) in asked::<ConfigMap>(&world, Start::List, |live| live, |cache| cache).await {
        assert_eq!(accept, "application/json");
    }
}

#[tokio::test(start_paused = true)]
async fn json_alone_is_a_choice_of_the_client_or_of_a_kind() {
    let world = world();
    let no_protobuf = |heard: BTreeSet<(String, String)>| {
        for (_, accept) in heard {
            assert!(!accept.contains(PROTOBUF), "{accept}");
        }
    };
    let start = Start::StreamingList;
    no_protobuf(asked::<PartialMetadata>(&world, start, LiveClient::json_only, |cache| cache).await);
    no_protobuf(asked::<Data>(&world, start, LiveClient::json_only, |cache| cache).await);
    let of_kind = |cache: CacheBuilder| cache.kind(KindOptions::<Data>::typed().codec(JsonCodec::new()));
    no_protobuf(asked::<Data>(&world, start, |live| live, of_kind).await);
}

#[tokio::test(start_paused = true)]
async fn what_is_written_is_json_and_read_back_as_a_message() {
    let world = world();
    let kinds = Kinds::kubernetes();
    kinds.register_message::<Data>(configs()).unwrap();
    let live = LiveClient::new(Inner::new(world.api.clone()), kinds);
    let cache = Cache::new(live);
    cache.start();
    let client = CachedClient::new(cache).read_your_writes();
    let config: ConfigMap = serde_json::from_value(json!({
        "metadata": {"namespace": "default", "name": "c"}, "data": {"key": "new"},
    }))
    .unwrap();
    assert_eq!(client.get::<Data>(&key("a")).await.unwrap().data["key"], "old");
    client.create(&config, &WriteOptions::default()).await.unwrap();
    assert_eq!(client.get::<Data>(&key("c")).await.unwrap().data["key"], "new");
}
