//! Factories over a client: forms of object, tweaks, several namespaces, views.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer::{
    ClientSources,
    client::{DynamicObject, PartialMetadata},
    prelude::*,
    sharedinformer::matching,
};
use informer_apiserver::{Options, Server};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

use crate::whole::{client_of, eventually, pods};

const PATIENCE: Duration = Duration::from_secs(30);

fn create(server: &Server, namespace: &str, name: &str, app: &str) {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": app}},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
    });
    server.with(|api| api.create(&pods(), pod).unwrap());
}

#[tokio::test]
async fn dynamic_and_metadata_only_informers_come_from_factories_too() {
    let server = Server::start(Options::default()).await.unwrap();
    create(&server, "default", "a", "web");
    let sources = ClientSources::new(client_of(&server));
    let dynamic = Factory::new(sources.clone().dynamic());
    let metadata = Factory::new(sources.metadata());
    let objects = dynamic
        .informer::<DynamicObject>(&Selection::all(pods()))
        .unwrap();
    let names = metadata
        .informer::<PartialMetadata>(&Selection::all(pods()))
        .unwrap();
    dynamic.start();
    metadata.start();
    dynamic.wait_synced(PATIENCE).await.unwrap();
    metadata.wait_synced(PATIENCE).await.unwrap();
    assert_eq!((objects.store().len(), names.store().len()), (1, 1));
    dynamic.shut_down().await;
    metadata.shut_down().await;
    server.shutdown().await;
}

/// CM-05 against a server: selectors on the wire of every namespace, exact sets, and what is not covered is an error.
#[tokio::test]
async fn cm_05_namespaces_with_a_selector_are_listed_and_watched_with_it() {
    let server = Server::start(Options::default()).await.unwrap();
    for (namespace, name, app) in [
        ("ns1", "a", "web"),
        ("ns1", "b", "db"),
        ("ns2", "a", "web"),
        ("ns3", "a", "web"),
    ] {
        create(&server, namespace, name, app);
    }
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = asked.clone();
    let sources = ClientSources::new(client_of(&server)).tweak(move |selection, query| {
        let namespace = selection.namespace.as_deref().unwrap_or_default();
        seen.lock().unwrap().push(format!("{namespace}?{query}"));
        query.set("timeoutSeconds", "77");
    });
    let factory = Factory::new(sources);
    let selection = Selection::all(pods()).labels("app=web");
    let namespaces = factory.namespaces::<Pod, _>(&selection, ["ns1", "ns2"]).unwrap();
    factory.start();
    namespaces.wait_synced(PATIENCE).await.unwrap();
    let lister = namespaces.lister();
    let keys = |lister: &Lister<ObjectKey, Pod>| {
        let page = lister.page(None, 100, |_| true);
        page.entries
            .iter()
            .map(|it| it.key.to_string())
            .collect::<Vec<_>>()
    };
    let all = Lister::new(namespaces.store());
    assert_eq!(keys(&all), ["ns1/a", "ns2/a"]);
    assert!(lister.list_namespace("ns3").is_err());
    // A change that the selector lets through, and one that it does not.
    create(&server, "ns2", "c", "db");
    create(&server, "ns2", "b", "web");
    eventually("the new one is there", || lister.len() == 3).await;
    assert_eq!(keys(&all), ["ns1/a", "ns2/a", "ns2/b"]);
    let asked = asked.lock().unwrap().clone();
    assert!(asked.len() >= 2);
    for query in &asked {
        assert!(query.contains("labelSelector=app"), "{asked:?}");
    }
    for namespace in ["ns1?", "ns2?"] {
        assert!(
            asked.iter().any(|query| query.starts_with(namespace)),
            "{asked:?}"
        );
    }
    // One that comes at run time has the selector, too.
    assert!(namespaces.add("ns3").await.unwrap());
    namespaces.wait_synced(PATIENCE).await.unwrap();
    assert_eq!(lister.list_namespace("ns3").unwrap().len(), 1);
    factory.shut_down().await;
    server.shutdown().await;
}

#[tokio::test]
async fn views_by_label_share_the_superset_and_follow_it() {
    let server = Server::start(Options::default()).await.unwrap();
    create(&server, "default", "a", "web");
    create(&server, "default", "b", "db");
    let factory = Factory::new(ClientSources::new(client_of(&server)));
    let by = |selector: &str| {
        let wanted = matching(selector.parse().unwrap(), K8s);
        factory.view::<Pod>(&Selection::all(pods()), wanted).unwrap()
    };
    let (web, rest) = (by("app=web"), by("app!=web"));
    factory.start();
    factory.wait_synced(PATIENCE).await.unwrap();
    let mut changes = web.subscribe(HandlerOptions::default()).unwrap();
    assert_eq!(changes.next().await.unwrap().key().name(), "a");
    server.with(|api| {
        let mut moved = api.get(&pods(), Some("default"), "a").unwrap();
        moved["metadata"]["labels"]["app"] = "cache".into();
        api.put(&pods(), moved).unwrap();
    });
    let change = changes.next().await.unwrap();
    assert!(matches!(change, Change::Removed { .. }), "{change:?}");
    assert_eq!((web.store().len(), rest.store().len()), (0, 2));
    assert!(web.informer().is_same(rest.informer()));
    factory.shut_down().await;
    server.shutdown().await;
}
