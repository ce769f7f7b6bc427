//! Both wire formats, on every kind that is built in: the same object under the same key at the same version, whichever way it comes.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use http::{
    Request,
    header::{ACCEPT, CONTENT_TYPE},
};
use http_body_util::BodyExt as _;
use informer_client::{Discovery, Error, ObjectList, PackedObject, PartialMetadata, Selectors, WriteOptions};
use informer_core::{
    Cause, Decoded, Feed as _, Identity, ListerWatcher, Resource, Scope, WatchRequest, Watched,
};
use informer_transport::{Transport as _, Wire};
use k8s_openapi::api::core::v1::Pod;
use k8s_pb::api::core::v1::Pod as Message;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{LIMIT, TestClient, admin, namespace, own};

/// Kinds whose objects the server writes by itself, so that there are some without a sample.
const WRITTEN_BY_THE_SERVER: [&str; 1] = ["apiservices.apiregistration.k8s.io"];
/// Kinds of which nothing is compared, all of them in alpha or beta, or written by components that do not run here. Another one has to stand
/// here, or among the samples.
const WITHOUT_OBJECTS: [&str; 7] = [
    "clustertrustbundles.certificates.k8s.io",
    "devicetaintrules.resource.k8s.io",
    "leasecandidates.coordination.k8s.io",
    "podcertificaterequests.certificates.k8s.io",
    "resourcepoolstatusrequests.resource.k8s.io",
    "storageversionmigrations.storagemigration.k8s.io",
    "storageversions.internal.apiserver.k8s.io",
];

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

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
    let (mut missing, mut made, mut empty) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut n_kinds, mut n_objects, mut n_contents) = (0, 0, 0);
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
            None => {
                missing.insert(name.clone());
            }
        }
        let read = compare(&client, resource).await;
        if read.json.is_empty() {
            empty.insert(name.clone());
        }
        if kind.has_verb("update") {
            n_contents += contents(&client, resource, &read).await;
        }
        n_kinds += 1;
        n_objects += read.json.len();
    }
    println!("{n_kinds} kinds, {n_objects} objects, of which {n_contents} are the same to the server");
    assert!(n_kinds >= 55, "{n_kinds} kinds");
    // Nothing is passed over in silence.
    let names = |all: &[&str]| all.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    assert_eq!(
        missing,
        &names(&WRITTEN_BY_THE_SERVER) | &names(&WITHOUT_OBJECTS),
        "kinds without a sample"
    );
    assert_eq!(
        empty,
        names(&WITHOUT_OBJECTS),
        "kinds of which nothing was compared"
    );
    assert!(
        n_contents + 20 >= n_objects,
        "{n_contents} contents of {n_objects} objects"
    );
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
    watched: Vec<Decoded<PackedObject>>,
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
        let watched = timeout(LIMIT, watched(client, resource, json.len())).await;
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
                watched: watched.unwrap_or_else(|_| panic!("{resource}: the watch says less than the list")),
                got,
            };
        }
    }
    panic!("{resource} never stays as it is");
}

/// Lists, streams and watches the kind in both formats.
async fn compare(client: &TestClient, resource: &Resource) -> Read {
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
    same(resource, json, read.watched.iter().map(|it| (it, None)));
    let listed: BTreeMap<_, _> = read
        .packed
        .iter()
        .map(|it| (it.identity.to_string(), &it.object))
        .collect();
    for item in &read.watched {
        let key = item.identity.to_string();
        assert_eq!(
            item.object.bytes(),
            listed[&key].bytes(),
            "{resource} {key}: watched and listed"
        );
    }
    for item in &read.packed {
        assert_eq!(item.object.wire(), Wire::Protobuf, "{resource}");
        let known = &json[&item.identity.to_string()].object.metadata;
        for (name, value) in &known.labels {
            assert_eq!(item.object.label(name), Some(&**value), "{resource}");
        }
        assert_eq!(item.object.owners(), known.owner_references, "{resource}");
        assert_eq!(item.object.generation(), known.generation, "{resource}");
        assert_eq!(
            item.object.is_deleting(),
            known.deletion_timestamp.is_some(),
            "{resource}"
        );
    }
    let first = json.values().next().map(|first| &first.identity);
    assert_eq!(read.got.as_ref().map(|got| &got.identity), first, "{resource}");
    read
}

/// What the bytes of packed objects say is what the server has: it is given them as an update, tried only, and answers with the object that
/// it read, as JSON. Says how many were compared; those that the server wrote meanwhile are not.
async fn contents(client: &TestClient, resource: &Resource, read: &Read) -> usize {
    let api = client.objects::<Value>(resource.clone());
    let whole = listed(resource, api.list(&Selectors::all()).await);
    let whole: BTreeMap<_, _> = whole
        .into_iter()
        .map(|it| (it.identity.to_string(), it))
        .collect();
    let mut n = 0;
    for packed in &read.packed {
        let key = packed.identity.to_string();
        let Some(known) = whole.get(&key).filter(|it| it.identity == packed.identity) else {
            continue;
        };
        let (status, answer) = tried(client, resource, &packed.identity, packed.object.bytes()).await;
        if status == 409 {
            continue;
        }
        assert_eq!(status, 200, "{resource} {key}: {answer}");
        assert_eq!(
            comparable(answer),
            comparable(known.object.clone()),
            "{resource} {key}"
        );
        n += 1;
    }
    n
}

/// What the server makes of an update with this message, without writing it.
async fn tried(
    client: &TestClient,
    resource: &Resource,
    identity: &Identity,
    message: &[u8],
) -> (u16, Value) {
    let path = format!(
        "{}/{}?dryRun=All",
        resource.path(identity.namespace.as_deref()),
        identity.name
    );
    let request = Request::put(path)
        .header(CONTENT_TYPE, PROTOBUF)
        .header(ACCEPT, "application/json")
        .body(enveloped(resource, message))
        .unwrap();
    let response = client.transport().send(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

/// The envelope of a message that stands alone (apimachinery `runtime/generated.proto`, `Unknown`).
fn enveloped(resource: &Resource, message: &[u8]) -> Bytes {
    fn field(into: &mut Vec<u8>, number: u8, content: &[u8]) {
        into.push(number << 3 | 2);
        let mut left = content.len();
        while left > 0x7f {
            into.push(u8::try_from(left & 0x7f).unwrap() | 0x80);
            left >>= 7;
        }
        into.push(u8::try_from(left).unwrap());
        into.extend(content);
    }
    let version = match &*resource.group {
        "" => resource.version.to_string(),
        group => format!("{group}/{}", resource.version),
    };
    let (mut types, mut whole) = (Vec::new(), b"k8s\0".to_vec());
    field(&mut types, 1, version.as_bytes());
    field(&mut types, 2, resource.kind.as_bytes());
    field(&mut whole, 1, &types);
    field(&mut whole, 2, message);
    whole.into()
}

/// Without what says who wrote it, and with the type, which items of a list lack.
fn comparable(mut object: Value) -> Value {
    object["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("managedFields");
    let members = object.as_object_mut().unwrap();
    members.remove("kind");
    members.remove("apiVersion");
    object
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

/// The objects of a plain watch that begins with the state of now, packed: so many, and no mark behind them.
async fn watched(client: &TestClient, resource: &Resource, n: usize) -> Vec<Decoded<PackedObject>> {
    let source = client.packed(resource.clone()).source(Selectors::all());
    let mut feed = source.watch(WatchRequest::default()).await.unwrap();
    let mut watched = BTreeMap::new();
    while watched.len() < n {
        match feed.next().await.expect("it goes on").unwrap() {
            Watched::Upsert(_, object) => {
                let object = object.unwrap();
                watched.insert(object.identity.to_string(), object);
            }
            Watched::Delete(object) => {
                watched.remove(&object.unwrap().identity.to_string());
            }
            event => panic!("{resource}: {event:?}"),
        }
    }
    watched.into_values().collect()
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
    let messages = client.messages::<Message>(pods.clone()).in_namespace(&namespace);
    let protobuf = messages.list(&Selectors::all()).await.unwrap().items.remove(0);
    assert_eq!(json.identity, protobuf.identity);
    // The whole of it: what the server reads from the message is what the other form holds.
    let message = prost::Message::encode_to_vec(&protobuf.object);
    let (status, answer) = tried(&client, &pods, &protobuf.identity, &message).await;
    assert_eq!(status, 200, "{answer}");
    let whole = client.objects::<Value>(pods).in_namespace(&namespace);
    let whole = comparable(whole.get("web").await.unwrap().object);
    assert_eq!(comparable(answer), whole);
    assert_eq!(comparable(serde_json::to_value(&json.object).unwrap()), whole);

    // A kind of one's own has no protobuf, and the answer says what it has.
    let refused = client.messages::<Message>(Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    ));
    assert!(refused.list(&Selectors::all()).await.is_ok(), "which is built in");
}
