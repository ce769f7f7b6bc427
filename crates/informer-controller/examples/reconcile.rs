//! A controller against the embedded API server: every ConfigMap of namespace `default` has a copy in `backup`.
//!
//! One informer sees both namespaces. A change of either side leads to the request of the original; the reconciler reads the newest state
//! of both from the cache and does what is missing, where an object that is not there was deleted. What fails comes back by itself.

use std::{collections::BTreeMap, error::Error, sync::Arc};

use informer_apiserver::Server;
use informer_client::{Api, Client, DeleteOptions, Selectors, WriteOptions};
use informer_controller::{Action, Attempt, Controller, InformerSource, Reconciler, VersionChanged, map_fn};
use informer_core::{Entry, ObjectKey, Resource};
use informer_hyper::HyperTransport;
use informer_sharedinformer::{Lister, SharedInformer};
use informer_transport::JsonCodec;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;

/// What this program reads of a ConfigMap.
#[derive(Debug, Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: BTreeMap<String, String>,
}

struct Copier {
    cached: Lister<ObjectKey, ConfigMap>,
    copies: Api<HyperTransport, ConfigMap, JsonCodec<ConfigMap>>,
    did: mpsc::UnboundedSender<String>,
}

impl Reconciler<ObjectKey> for Copier {
    type Error = informer_client::Error;

    async fn reconcile(&self, original: ObjectKey, _: Attempt) -> Result<Action, Self::Error> {
        let name = original.name();
        let wanted = self.cached.get(&original);
        let copy = self.cached.get(&ObjectKey::namespaced("backup", name));
        let options = WriteOptions::default();
        let did = match (wanted, copy) {
            (None, None) => return Ok(Action::Done),
            (None, Some(_)) => {
                self.copies.delete(name, &DeleteOptions::default()).await?;
                "deleted"
            }
            (Some(wanted), None) => {
                self.copies.create(&copy_of(name, &wanted), &options).await?;
                "created"
            }
            (Some(wanted), Some(copy)) if wanted.data != copy.data => {
                self.copies
                    .replace(name, &copy_of(name, &wanted), &options)
                    .await?;
                "updated"
            }
            (Some(_), Some(_)) => return Ok(Action::Done),
        };
        let _ = self.did.send(format!("{did} the copy of {original}"));
        Ok(Action::Done)
    }
}

fn copy_of(name: &str, original: &ConfigMap) -> serde_json::Value {
    json!({"metadata": {"name": name, "namespace": "backup"}, "data": original.data})
}

/// The original that a ConfigMap is, or is the copy of.
fn original(entry: &Entry<ObjectKey, ConfigMap>) -> Option<ObjectKey> {
    matches!(entry.key.namespace(), Some("default" | "backup"))
        .then(|| ObjectKey::namespaced("default", entry.key.name()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let kind = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let server = Server::start(Default::default()).await?;
    let namespaces = Resource::cluster("", "v1", "namespaces", "Namespace");
    server.with(|api| api.create(&namespaces, json!({"metadata": {"name": "backup"}})))?;
    let client = Client::new(HyperTransport::builder(server.url()).build()?);
    let maps = client.objects::<ConfigMap>(kind.clone());
    let informer = SharedInformer::builder(maps.source(Selectors::all()))
        .name("configmaps")
        .build()?;

    let (did, mut done) = mpsc::unbounded_channel();
    let controller = Controller::builder("copier")
        .source(InformerSource::new(&informer, map_fn(original)).predicate(VersionChanged))
        .reconciler(Arc::new(Copier {
            cached: informer.lister(),
            copies: maps.clone().in_namespace("backup"),
            did,
        }))
        .concurrency(4)
        .build()?;
    let informing = informer.spawn()?;
    let running = controller.spawn()?;

    let greeting = |text| json!({"metadata": {"name": "greeting"}, "data": {"text": text}});
    server.with(|api| api.create(&kind, greeting("hello")))?;
    next(&mut done, "wrote an original").await;
    server.with(|api| api.put(&kind, greeting("good morning")))?;
    next(&mut done, "changed it").await;
    server.with(|api| api.delete(&kind, Some("backup"), "greeting"))?;
    next(&mut done, "deleted the copy").await;
    server.with(|api| api.delete(&kind, Some("default"), "greeting"))?;
    next(&mut done, "deleted the original").await;

    running.stop().await?;
    informing.stop().await;
    server.shutdown().await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is a program")]
async fn next(done: &mut mpsc::UnboundedReceiver<String>, cause: &str) {
    if let Some(did) = done.recv().await {
        println!("somebody {cause:22} -> the controller {did}");
    }
}
