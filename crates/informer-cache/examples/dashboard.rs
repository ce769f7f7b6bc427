//! A dashboard's questions, answered from a cache: pods by node and by label, page by page, and what was changed a moment ago.
//!
//! ```text
//! cargo run -p informer-cache --example dashboard
//! ```

use std::{error::Error, time::Duration};

use informer_apiserver::{Options, Server};
use informer_cache::{Cache, CachedClient, KindOptions};
use informer_client::{
    Kinds, ListOptions, LiveClient, PartialMetadata, Patch, ReadClient, ReadClientExt, WriteClientExt,
    WriteOptions,
};
use informer_hyper::HyperTransport;
use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::json;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "an example")]
async fn main() -> Result<(), Box<dyn Error>> {
    // A server with a sample workload. A real one needs no more than another URL, and credentials.
    let server = Server::start(Options::default().workload(1)).await?;
    let transport = HyperTransport::builder(server.url()).build()?;
    let live = LiveClient::new(transport, Kinds::kubernetes());

    let cache = Cache::builder(live)
        .kind::<Pod>(KindOptions::typed())
        .kind::<Node>(KindOptions::typed())
        .build()?;
    cache.index_field("spec.nodeName", |pod: &Pod, emit: &mut dyn FnMut(&str)| {
        if let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) {
            emit(node);
        }
    })?;
    cache.start();
    cache.wait_synced(Duration::from_secs(30)).await?;
    for kind in cache.status() {
        println!(
            "{}: {} objects, held as {}",
            kind.resource,
            kind.objects(),
            kind.form
        );
    }

    let client = CachedClient::new(cache.clone()).read_your_writes();
    for node in client.list::<Node>(&ListOptions::all()).await?.objects() {
        let name = node.metadata.name.as_deref().unwrap_or_default();
        let on_it = ListOptions::all().fields(format!("spec.nodeName={name}"));
        println!("{name}: {} pods", client.list::<Pod>(&on_it).await?.entries.len());
    }

    let pods = cache.kinds().of::<Pod>()?;
    let mut of = ListOptions::all().limit(5);
    let mut n_pages = 0;
    loop {
        // As metadata, made of the pods that are cached: no second watch.
        let page = client.read_all::<PartialMetadata>(&pods, &of).await?;
        n_pages += 1;
        let Some(next) = page.next else { break };
        of = of.from_token(next);
    }
    println!("{n_pages} pages of pods");

    let first = client.list::<Pod>(&ListOptions::all().limit(1)).await?;
    if let Some(pod) = first.entries.first() {
        let label = Patch::Merge(json!({"metadata": {"labels": {"seen": "yes"}}}));
        client
            .patch::<Pod>(&pod.key, label, &WriteOptions::of("dashboard"))
            .await?;
        let seen = client.list::<Pod>(&ListOptions::all().labels("seen=yes")).await?;
        println!("labelled and read at once: {}", seen.names().join(" "));
    }

    cache.shut_down().await;
    server.shutdown().await;
    Ok(())
}
