//! From a kubeconfig file to a reconciler.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer::{controller::map_fn, prelude::*};
use informer_apiserver::{Options, Server};
use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::json;

pub(crate) fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

pub(crate) fn pod(name: &str, node: &str) -> serde_json::Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "default", "name": name, "labels": {"on": node}},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]},
    })
}

/// A client through a kubeconfig file.
pub(crate) fn client_of(server: &Server) -> Client<HyperTransport> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let text = format!(
        "{{clusters: [{{name: c, cluster: {{server: '{}'}}}}], contexts: [{{name: d, context: {{cluster: c}}}}], \
         current-context: d}}",
        server.url()
    );
    std::fs::write(&file, text).unwrap();
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some(file);
    let config = Config::find(&overrides).unwrap().unwrap();
    connect(&config).unwrap()
}

/// Waits for a condition that what runs on other tasks brings about.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = TokioClock;
    let patience = clock.now() + Duration::from_secs(30);
    while !holds() {
        assert!(clock.now() < patience, "{what} in 30 s");
        clock.sleep_until(clock.now() + Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn pods_are_watched_indexed_by_node_and_reconciled() {
    let server = Server::start(Options::default()).await.unwrap();
    let client = client_of(&server);
    server.with(|api| {
        for n in 0..6 {
            api.create(&pods(), pod(&format!("p{n}"), &format!("node-{}", n % 2)))
                .unwrap();
        }
    });
    let node_of = |pod: &Pod| pod.spec.as_ref()?.node_name.clone();
    let pods = client
        .typed::<Pod>()
        .informer()
        .index("node", move |pod: &Pod, emit: &mut dyn FnMut(&str)| {
            node_of(pod).as_deref().into_iter().for_each(emit);
        })
        .build()
        .unwrap();
    assert_eq!(pods.name(), "pods");
    let counts: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let (lister, seen) = (pods.lister(), counts.clone());
    let nodes = Controller::builder("nodes")
        .watches(
            &pods,
            map_fn(move |pod: &Entry<ObjectKey, Pod>| node_of(&pod.object)),
        )
        .reconcile(move |node: String, _| {
            let n_pods = lister.by_index("node", &node).unwrap().len();
            seen.lock().unwrap().insert(node, n_pods);
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()
        .unwrap();
    let (watching, reconciling) = (pods.spawn().unwrap(), nodes.spawn().unwrap());
    pods.wait_synced(Duration::from_secs(30)).await.unwrap();
    let counted = |expected: [(&str, usize); 2]| {
        let expected: BTreeMap<_, _> = expected.map(|(node, n)| (node.to_owned(), n)).into();
        let counts = counts.clone();
        move || *counts.lock().unwrap() == expected
    };
    eventually("three each", counted([("node-0", 3), ("node-1", 3)])).await;
    server.with(|api| {
        let mut moved = api.get(&self::pods(), Some("default"), "p0").unwrap();
        moved["spec"]["nodeName"] = "node-1".into();
        api.put(&self::pods(), moved).unwrap();
    });
    eventually("one moved", counted([("node-0", 2), ("node-1", 4)])).await;
    let on_node: LabelSelector = "on=node-1".parse().unwrap();
    assert_eq!(
        pods.lister().matching(&on_node, &K8s).len(),
        3,
        "labels stay when a pod moves"
    );
    reconciling.stop().await.unwrap();
    watching.stop().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_factory_over_a_client_shares_by_kind_and_selection() {
    let server = Server::start(Options::default()).await.unwrap();
    let factory = Factory::new(informer::ClientSources::new(client_of(&server)));
    server.with(|api| {
        api.create(&pods(), pod("a", "n0")).unwrap();
        api.create(&pods(), pod("b", "n1")).unwrap();
    });
    let selection = Selection::all(pods());
    let all = factory.informer::<Pod>(&selection).unwrap();
    let again = factory.informer::<Pod>(&selection).unwrap();
    let some = factory
        .informer::<Pod>(&selection.labels("on=n1").namespace("default"))
        .unwrap();
    let nodes = Resource::cluster("", "v1", "nodes", "Node");
    let nodes = factory.informer::<Node>(&Selection::all(nodes)).unwrap();
    factory.start();
    factory.wait_synced(Duration::from_secs(30)).await.unwrap();
    assert!(all.is_same(&again));
    assert_eq!(
        (all.store().len(), some.store().len(), nodes.store().len()),
        (2, 1, 0)
    );
    factory.shut_down().await;
    server.shutdown().await;
}
