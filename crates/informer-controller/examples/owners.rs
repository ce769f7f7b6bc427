//! What a controller is for and what it owns: a `Website` of our own kind owns ConfigMaps, against the embedded API server.
//!
//! `for_` names the controller after the kind, `owns` maps a ConfigMap to the website that manages it, the event filter leaves one
//! namespace alone, and a predicate drops what changes only the status. A ConfigMap that somebody deletes is made anew.

use std::error::Error;

use informer_apiserver::Server;
use informer_client::{Client, DynamicMeta, Selectors, WriteOptions};
use informer_controller::{Action, Attempt, Builder, GenerationChanged, Kind};
use informer_core::{ObjectKey, Resource};
use informer_hyper::HyperTransport;
use informer_sharedinformer::SharedInformer;
use informer_testkit::ResourceDef;
use serde_json::json;
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::start(Default::default()).await?;
    let websites = Resource::namespaced("example.com", "v1", "websites", "Website");
    let maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    server.with(|api| api.register(ResourceDef::new(websites.clone())));
    let client = Client::new(HyperTransport::builder(server.url()).build()?);
    let sites_informer = SharedInformer::builder(client.dynamic(websites.clone()).source(Selectors::all()))
        .name("websites")
        .build()?;
    let maps_informer = SharedInformer::builder(client.dynamic(maps.clone()).source(Selectors::all()))
        .name("configmaps")
        .build()?;

    let (did, mut done) = mpsc::unbounded_channel();
    let (sites, cached) = (sites_informer.lister(), maps_informer.lister());
    let api = client.dynamic(maps.clone());
    let controller = Builder::new()
        .for_(
            Kind::of(sites_informer.clone())
                .resource(&websites)
                .predicate(GenerationChanged::new(DynamicMeta)?),
        )
        .owns(Kind::of(maps_informer.clone()).meta(DynamicMeta))
        .with_event_filter(|event| {
            event.current().key().and_then(ObjectKey::namespace) != Some("kube-system")
        })
        .concurrency(2)
        .reconcile(move |key: ObjectKey, _: Attempt| {
            let (site, page) = (sites.entry(&key), cached.get(&key));
            let (api, did) = (api.clone(), did.clone());
            async move {
                let (Some(site), None) = (site, page) else {
                    return Ok(Action::Done);
                };
                let owner = json!({
                    "apiVersion": "example.com/v1", "kind": "Website", "name": key.name(),
                    "uid": &*site.stamp.uid, "controller": true,
                });
                let page = json!({
                    "metadata": {"name": key.name(), "ownerReferences": [owner]},
                    "data": {"index.html": "hello"},
                });
                let namespace = key.namespace().unwrap_or("default");
                api.in_namespace(namespace)
                    .create(&page, &WriteOptions::default())
                    .await?;
                let _ = did.send(key.to_string());
                Ok::<_, informer_client::Error>(Action::Done)
            }
        })
        .build()?;
    assert_eq!(controller.name(), "website");
    let (one, other) = (sites_informer.spawn()?, maps_informer.spawn()?);
    let running = controller.spawn()?;

    let site = |namespace: &str| json!({"metadata": {"name": "blog", "namespace": namespace}});
    server.with(|api| api.create(&websites, site("kube-system")))?;
    server.with(|api| api.create(&websites, site("default")))?;
    say("made a page for", done.recv().await);
    server.with(|api| api.delete(&maps, Some("default"), "blog"))?;
    say("its page was deleted, and made anew for", done.recv().await);

    running.stop().await?;
    one.stop().await;
    other.stop().await;
    server.shutdown().await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn say(what: &str, key: Option<String>) {
    println!("{what} {}", key.unwrap_or_default());
}
