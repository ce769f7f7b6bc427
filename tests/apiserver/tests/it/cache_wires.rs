//! A cache in both wire formats: protobuf where the kind is built in and the form can be read from it, JSON elsewhere, and the same objects
//! either way.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    sync::{Arc, Mutex},
};

use apiserver_tests::wait;
use bytes::Bytes;
use http::{Request, Response, header::CONTENT_TYPE};
use informer_cache::{Cache, KindOptions, Selecting};
use informer_client::{
    Form, Kinds, ListOptions, LiveClient, PartialMetadata, Patch, ReadClient, Selectors, WriteOptions,
};
use informer_core::{ObjectKey, Resource, Stamp};
use informer_hyper::HyperTransport;
use informer_reflector::{Options, Start};
use informer_transport::Transport;
use prost::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{LIMIT, TestClient, admin, config_maps, fill, namespace, shared};

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// What a config map holds (k8s.io/api core/v1/generated.proto).
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
struct Data {
    #[prost(btree_map = "string, string", tag = "2")]
    #[serde(default)]
    data: BTreeMap<String, String>,
}

/// What a kind of one's own holds, whose numbers nobody ever sees: it has no protobuf.
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
struct Gear {
    #[prost(message, optional, tag = "2")]
    spec: Option<GearSpec>,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
struct GearSpec {
    #[prost(int64, tag = "1")]
    teeth: i64,
}

/// The content types that came.
type Heard = Arc<Mutex<BTreeSet<String>>>;

struct Listening {
    client: TestClient,
    heard: Heard,
}

impl Transport for Listening {
    type Body = <HyperTransport as Transport>::Body;
    type Error = <HyperTransport as Transport>::Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Self::Body>, Self::Error> {
        let response = self.client.transport().send(request).await?;
        let media_type = response.headers()[CONTENT_TYPE].to_str().unwrap();
        let media_type = media_type.split(';').next().unwrap_or_default();
        self.heard.lock().unwrap().insert(media_type.to_owned());
        Ok(response)
    }
}

/// A cache of one kind in one namespace, and what came.
struct Side {
    cache: Cache,
    resource: Resource,
    heard: Heard,
}

type Objects<K> = BTreeMap<ObjectKey, (Stamp, Arc<K>)>;

impl Side {
    async fn new<K: Form>(
        (resource, namespace): (&Resource, &str),
        kinds: &Kinds,
        start: Start,
        choose: impl Fn(LiveClient) -> LiveClient,
    ) -> Self {
        let heard = Heard::default();
        let transport = Listening {
            client: admin(shared().await),
            heard: heard.clone(),
        };
        let mut options = Options::default();
        options.start = start;
        let selecting = Selecting::inherit().namespaces([namespace]);
        let cache = Cache::builder(choose(LiveClient::new(transport, kinds.clone())))
            .kind::<K>(KindOptions::of(resource.clone()).selecting(selecting))
            .reflector_options(options)
            .build()
            .unwrap();
        cache.start();
        cache.wait_synced(LIMIT).await.unwrap();
        Self {
            cache,
            resource: resource.clone(),
            heard,
        }
    }

    async fn objects<K: Form>(&self) -> Objects<K> {
        let list = self
            .cache
            .read_all::<K>(&self.resource, &ListOptions::all())
            .await;
        let list = list.unwrap();
        assert!(list.unreadable.is_empty(), "{:?}", list.unreadable);
        let entries = list.entries.into_iter();
        entries.map(|it| (it.key, (it.stamp, it.object))).collect()
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().iter().cloned().collect()
    }
}

/// Follows the kind by a client as it is, and by one of JSON alone, through a change.
async fn compare<K: Form + PartialEq + Debug>(
    resource: &Resource,
    namespace: &str,
    kinds: &Kinds,
    changed: &str,
    change: Value,
    comes_in: &str,
) {
    let client = admin(shared().await);
    let api = client.metadata(resource.clone()).in_namespace(namespace);
    let key = ObjectKey::namespaced(namespace, changed);
    for (n, start) in [Start::List, Start::StreamingList].into_iter().enumerate() {
        let of = (resource, namespace);
        let usual = Side::new::<K>(of, kinds, start, |live| live).await;
        let json = Side::new::<K>(of, kinds, start, LiveClient::json_only).await;
        let before = usual.objects::<K>().await;
        assert!(before.len() > 1);
        assert_eq!(before, json.objects::<K>().await);

        // Each start changes it anew.
        let mut change = change.clone();
        change["metadata"] = json!({"annotations": {"round": n.to_string()}});
        let patch = Patch::Merge(change);
        let patched = api
            .patch(changed, &patch, &WriteOptions::default())
            .await
            .unwrap();
        let version = &patched.identity.stamp.version;
        for side in [&usual, &json] {
            wait::until("the watch brings the change", LIMIT, async || {
                let seen = side.objects::<K>().await;
                (seen[&key].0.version == *version).then_some(())
            })
            .await;
        }
        let after = usual.objects::<K>().await;
        assert_eq!(after, json.objects::<K>().await);
        assert_ne!(after[&key].0, before[&key].0);
        assert_eq!(
            (usual.heard(), json.heard()),
            (vec![comes_in.to_owned()], vec![JSON.to_owned()])
        );
        usual.cache.shut_down().await;
        json.cache.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_built_in_kind_comes_in_protobuf_and_is_what_it_is_in_json() {
    let namespace = namespace(shared().await, "cache-wires");
    fill(&admin(shared().await), &namespace, 30, 200).await;
    let kinds = Kinds::new();
    kinds.register_message::<Data>(config_maps()).unwrap();
    let change = json!({"data": {"value": "changed"}});
    let changed = "object-00007";
    compare::<Data>(
        &config_maps(),
        &namespace,
        &kinds,
        changed,
        change.clone(),
        PROTOBUF,
    )
    .await;

    // Metadata says of itself what it is, in either format.
    compare::<PartialMetadata>(&config_maps(), &namespace, &kinds, changed, change, PROTOBUF).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_without_protobuf_comes_in_json() {
    let client = admin(shared().await);
    let namespace = namespace(shared().await, "cache-gears");
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let options = WriteOptions::default();
    let definition = json!({
        "metadata": {"name": "gears.wires.example.com"},
        "spec": {
            "group": "wires.example.com",
            "scope": "Namespaced",
            "names": {"plural": "gears", "singular": "gear", "kind": "Gear"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    });
    client
        .dynamic(definitions)
        .create(&definition, &options)
        .await
        .unwrap();
    let gears = Resource::namespaced("wires.example.com", "v1", "gears", "Gear");
    let api = client.dynamic(gears.clone()).in_namespace(&namespace);
    wait::until("the kind is served", LIMIT, async || {
        api.list(&Selectors::all()).await.ok()
    })
    .await;
    for (name, teeth) in [("a", 12), ("b", 48)] {
        let gear = json!({"metadata": {"name": name}, "spec": {"teeth": teeth}});
        wait::until("it can be made", LIMIT, async || {
            api.create(&gear, &options).await.ok()
        })
        .await;
    }
    let kinds = Kinds::new();
    kinds.register_message::<Gear>(gears.clone()).unwrap();
    let change = json!({"spec": {"teeth": 13}});
    compare::<Gear>(&gears, &namespace, &kinds, "a", change, JSON).await;
}
