//! Measures a client, an informer and a controller on the embedded API server, and prints what Prometheus would read:
//! `cargo run -p informer-prometheus --example scrape`

use std::{convert::Infallible, error::Error, time::Duration};

use informer_apiserver::Server;
use informer_client::{Client, Selectors};
use informer_controller::{Action, Controller, ForObject};
use informer_core::{ObjectKey, Resource};
use informer_hyper::HyperTransport;
use informer_prometheus::Registry;
use informer_sharedinformer::{InformerId, SharedInformer};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it did")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::start(Default::default()).await?;
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    for name in ["web-1", "web-2", "web-3"] {
        server.with(|api| api.create(&pods, json!({"metadata": {"name": name}})))?;
    }

    // One registry for all of the program.
    let registry = Registry::new();
    let transport = registry.transport(
        HyperTransport::builder(server.url()).build()?,
        server.address().to_string(),
    );
    let informer = SharedInformer::builder(
        Client::new(transport)
            .dynamic(pods.clone())
            .source(Selectors::all()),
    )
    .metrics(&registry.informers(), InformerId::new("example", pods))
    .build()?;
    let (done, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let controller = Controller::builder("pods")
        .watches(&informer, ForObject)
        .metrics_from(registry.clone())
        .reconcile(move |key: ObjectKey, _| {
            let done = done.clone();
            async move {
                let _nobody_listens_any_more = done.send(key);
                Ok::<_, Infallible>(Action::Done)
            }
        })
        .build()?;
    let watching = informer.spawn()?;
    let reconciling = controller.spawn()?;
    informer.wait_synced(Duration::from_secs(10)).await?;
    for _ in 0..3 {
        seen.recv().await;
    }

    // What a `/metrics` endpoint answers, with `Registry::CONTENT_TYPE`; here without the buckets.
    for line in registry.render().lines().filter(|line| !line.contains("_bucket")) {
        println!("{line}");
    }
    reconciling.stop().await?;
    watching.stop().await;
    server.shutdown().await;
    Ok(())
}
