//! Both wire formats, on every kind that is built in: the same object under the same key at the same version, whichever way it comes.

use std::collections::{BTreeMap, BTreeSet};

use informer_client::{Discovery, Error, ObjectList, PackedObject, PartialMetadata, Selectors, WriteOptions};
use informer_core::{Cause, Decoded, Feed as _, ListerWatcher, Resource, Scope, WatchRequest, Watched};
use informer_transport::Wire;
use k8s_openapi::api::core::v1::Pod;
use k8s_pb::api::core::v1::Pod as Message;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{LIMIT, TestClient, admin, namespace, own};

/// What a kind without a namespace of ours, or that only the server may write, is known for.
const WRITTEN_BY_THE_SERVER: [&str; 3] = ["apiservices", "customresourcedefinitions", "componentstatuses"];

/// The server adds it when it converts a whole daemon set, and not to metadata alone, in either format.
const OF_WHOLE_OBJECTS: &str = "deprecated.daemonset.template.generation";

/// Plural and group to the body of one object.
fn samples(namespace: &str) -> BTreeMap<String, Value> {
    let text = include_str!("samples.json")
        .replace("$NS", namespace)
        .replace("$CSR", &request());
    serde_json::from_str(&text).unwrap()
}

/// A certificate signing request, in the form that the API takes.
fn request() -> String {
    use base64::Engine as _;

    let key = rcgen::KeyPair::generate().unwrap();
    let request = rcgen::CertificateParams::new(vec!["a".to_owned()]).unwrap();
    let pem = request.serialize_request(&key).unwrap().pem().unwrap();
    base64::engine::general_purpose::STANDARD.encode(pem)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_the_same_in_json_and_in_protobuf() {
    let plane = own(&["--runtime-config=api/all=true"]).await;
    let namespace = namespace(&plane, "wires");
    let client = admin(&plane);
    let samples = samples(&namespace);
    let (mut missing, mut made) = (Vec::new(), BTreeSet::new());
    let (mut n_kinds, mut n_objects) = (0, 0);
    let discovery = Discovery::fetch(&client).await.unwrap();
    for kind in discovery.kinds() {
        let resource = &kind.resource;
        if !kind.has_verb("list") || !kind.has_verb("watch") {
            continue;
        }
        let name = match &*resource.group {
            "" => resource.plural.to_string(),
            group => format!("{}.{group}", resource.plural),
        };
        match samples.get(&name) {
            // In the preferred version, which comes first.
            Some(sample) if made.insert(name.clone()) => {
                create(&client, resource, &namespace, sample.clone()).await;
            }
            Some(_) => {}
            None if WRITTEN_BY_THE_SERVER.contains(&&*resource.plural) => {}
            None => missing.push(name.clone()),
        }
        let n = compare(&client, resource).await;
        assert!(
            n > 0 || !samples.contains_key(&name),
            "{name} has a sample and no object"
        );
        n_kinds += 1;
        n_objects += n;
    }
    println!("{n_kinds} kinds, {n_objects} objects, without a sample: {missing:?}");
    assert!(n_kinds >= 55, "{n_kinds} kinds");
}

async fn create(client: &TestClient, resource: &Resource, namespace: &str, mut body: Value) {
    let name = body.as_object_mut().unwrap().remove("name");
    body["metadata"] = json!({
        "name": name.unwrap_or_else(|| "sample-of-a-kind".into()),
        "labels": {"app": "w\u{f6}rld".replace('\u{f6}', "o"), "empty": ""},
        "annotations": {"of/letters": "\u{20ac} and \u{1f980}, \"quoted\""},
        "finalizers": [],
    });
    let mut api = client.dynamic(resource.clone());
    if resource.scope == Scope::Namespaced {
        api = api.in_namespace(namespace);
    }
    match api.create(&body, &WriteOptions::default()).await {
        // The events of two groups are the same.
        Err(error) if error.code() == Some(409) => {}
        Err(error) => panic!("{resource}: {error}"),
        Ok(_) => {}
    }
}

/// Everything that was read between two lists in JSON that say the same: the server writes some kinds by itself.
struct Read {
    json: BTreeMap<String, Decoded<PartialMetadata>>,
    metadata: Vec<Decoded<PartialMetadata>>,
    packed: Vec<Decoded<PackedObject>>,
    streamed: Vec<Decoded<PartialMetadata>>,
    got: Option<Decoded<PartialMetadata>>,
}

async fn in_json(client: &TestClient, resource: &Resource) -> BTreeMap<String, Decoded<PartialMetadata>> {
    let api = client.objects::<PartialMetadata>(resource.clone());
    let items = listed(resource, api.list(&Selectors::all()).await);
    items
        .into_iter()
        .map(|it| (it.identity.to_string(), it))
        .collect()
}

async fn read(client: &TestClient, resource: &Resource) -> Read {
    for _ in 0..100 {
        let json = in_json(client, resource).await;
        let api = client.metadata(resource.clone());
        let metadata = listed(resource, api.list(&Selectors::all()).await);
        let packed = client.packed(resource.clone()).list(&Selectors::all()).await;
        let mut request = WatchRequest::default();
        request.bookmarks = true;
        request.initial_events = true;
        let streamed = timeout(LIMIT, initial(client, resource, request)).await;
        let got = match json.values().next().map(|first| &first.identity) {
            Some(first) => {
                let mut api = api.clone();
                if let Some(namespace) = &first.namespace {
                    api = api.in_namespace(namespace);
                }
                api.find(&first.name).await.unwrap()
            }
            None => None,
        };
        let again = in_json(client, resource).await;
        let identities = |all: &BTreeMap<String, Decoded<PartialMetadata>>| -> Vec<_> {
            all.values().map(|it| it.identity.clone()).collect()
        };
        if identities(&json) == identities(&again) {
            return Read {
                json,
                metadata,
                packed: listed(resource, packed),
                streamed: streamed.unwrap_or_else(|_| panic!("{resource}: no end of the initial events")),
                got,
            };
        }
    }
    panic!("{resource} never stays as it is");
}

/// Lists and streams the kind in both formats. Says how many objects it has.
async fn compare(client: &TestClient, resource: &Resource) -> usize {
    let read = read(client, resource).await;
    let json = &read.json;
    same(
        resource,
        json,
        read.metadata.iter().map(|it| (it, Some(&it.object))),
    );
    same(resource, json, read.packed.iter().map(|it| (it, None)));
    same(
        resource,
        json,
        read.streamed.iter().map(|it| (it, Some(&it.object))),
    );
    for item in &read.packed {
        assert_eq!(item.object.wire(), Wire::Protobuf, "{resource}");
        let label = |name: &str| item.object.label(name).map(str::to_owned);
        let known = &json[&item.identity.to_string()].object.metadata;
        assert_eq!(label("app"), known.labels.get("app").cloned(), "{resource}");
    }
    let first = json.values().next().map(|first| &first.identity);
    assert_eq!(read.got.as_ref().map(|got| &got.identity), first, "{resource}");
    json.len()
}

/// What a list brought, which all could be read.
fn listed<K>(resource: &Resource, list: Result<ObjectList<K>, Error>) -> Vec<Decoded<K>> {
    let list = list.unwrap_or_else(|error| panic!("{resource}: {error}"));
    assert!(list.unreadable.is_empty(), "{resource}: {:?}", list.unreadable);
    list.items
}

/// The objects of a streaming list of metadata, which is asked for in protobuf first.
async fn initial(
    client: &TestClient,
    resource: &Resource,
    request: WatchRequest,
) -> Vec<Decoded<PartialMetadata>> {
    let source = client.metadata(resource.clone()).source(Selectors::all());
    let mut feed = source.watch(request).await.unwrap();
    let mut streamed = Vec::new();
    while let Some(event) = feed.next().await {
        match event.unwrap() {
            Watched::Upsert(Cause::Added, object) => streamed.push(object.unwrap()),
            Watched::Bookmark {
                end_of_initial: true, ..
            } => break,
            event => panic!("{resource}: {event:?}"),
        }
    }
    streamed
}

fn same<'a, K: 'a>(
    resource: &Resource,
    json: &BTreeMap<String, Decoded<PartialMetadata>>,
    protobuf: impl Iterator<Item = (&'a Decoded<K>, Option<&'a PartialMetadata>)>,
) {
    let mut n = 0;
    for (item, metadata) in protobuf {
        let key = item.identity.to_string();
        let Some(expected) = json.get(&key) else {
            panic!("{resource} {key} is in protobuf only");
        };
        n += 1;
        assert_eq!(item.identity, expected.identity, "{resource}");
        if let Some(metadata) = metadata {
            let mut expected = expected.object.metadata.clone();
            expected.annotations.remove(OF_WHOLE_OBJECTS);
            assert_eq!(metadata.metadata, expected, "{resource} {key}");
        }
    }
    assert_eq!(n, json.len(), "{resource}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_is_the_same_in_both_typed_forms() {
    let plane = crate::support::shared().await;
    let namespace = namespace(plane, "typed");
    let client = admin(plane);
    let body = json!({
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"nodeName": "n-1", "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]},
    });
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let api = client.typed::<Pod>().in_namespace(&namespace);
    api.create(&body, &WriteOptions::default()).await.unwrap();

    let json = api.get("web").await.unwrap();
    let messages = client.messages::<Message>(pods).in_namespace(&namespace);
    let protobuf = messages.list(&Selectors::all()).await.unwrap().items.remove(0);
    assert_eq!(json.identity, protobuf.identity);
    let (json, protobuf) = (json.object.spec.unwrap(), protobuf.object.spec.unwrap());
    assert_eq!(json.node_name, protobuf.node_name);
    assert_eq!(json.containers[0].image, protobuf.containers[0].image);
    assert_eq!(
        json.containers[0]
            .ports
            .as_ref()
            .map(|ports| ports[0].container_port),
        protobuf.containers[0].ports[0].container_port
    );

    // A kind of one's own has no protobuf, and the answer says what it has.
    let refused = client.messages::<Message>(Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    ));
    assert!(refused.list(&Selectors::all()).await.is_ok(), "which is built in");
}
