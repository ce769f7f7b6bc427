//! The whole of it: watch pods, index them by node, reconcile the nodes.
//!
//! Against the embedded API server with its sample workload, for two seconds; with a cluster of your own the client is
//! `informer::connect(&config)`, where `Config::find` has found the kubeconfig.
#![expect(clippy::print_stdout, reason = "an example tells what it does")]

use std::{collections::BTreeMap, convert::Infallible, error::Error, sync::Arc, time::Duration};

use informer::{controller::map_fn, prelude::*};
use informer_apiserver::{Options, Server};
use serde::Deserialize;

/// What this program reads of a pod. k8s-openapi's `Pod` would do as well, with more memory.
#[derive(Debug, Deserialize)]
struct Pod {
    spec: Spec,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::start(Options::default().workload(1)).await?;
    let client = Client::new(HyperTransport::builder(server.url()).build()?);

    // One LIST and one WATCH, an index, and any number of readers and handlers.
    let pods = client
        .objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"))
        .informer();
    let pods = pods
        .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| {
            pod.spec.node_name.as_deref().into_iter().for_each(emit);
        })
        .build()?;

    // What to reconcile when a pod changes: the node it runs on. Many changes of a node's pods become one reconcile.
    // Of a pod that moves it is the node before, too.
    let node_of = map_fn(|pod: &Entry<ObjectKey, Pod>| pod.object.spec.node_name.clone());
    let busy = Arc::new(std::sync::Mutex::new(BTreeMap::new()));
    let (lister, seen) = (pods.lister(), busy.clone());
    let nodes = Controller::builder("nodes")
        .watches(&pods, node_of)
        .reconcile(move |node: String, _attempt| {
            let n_pods = lister.by_index("node", &node).map_or(0, |pods| pods.len());
            if let Ok(mut busy) = seen.lock() {
                busy.insert(node, n_pods);
            }
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()?;

    let watching = pods.spawn()?;
    let reconciling = nodes.spawn()?;
    pods.wait_synced(Duration::from_secs(30)).await?;
    println!("{} pods", pods.store().len());
    let clock = TokioClock;
    clock.sleep_until(clock.now() + Duration::from_secs(2)).await;

    reconciling.stop().await?;
    for (node, n_pods) in busy.lock().map_err(|_| "a reconcile panicked")?.iter() {
        println!("{node:<12} {n_pods:>4}");
    }
    watching.stop().await;
    server.shutdown().await;
    Ok(())
}
