//! Three candidates for one lease of the embedded API server. Whoever leads writes to a config map, each write fenced by its term and by the
//! version of what it was made from; then it stops, gives the lease back, and the next one leads.
//!
//! ```text
//! cargo run -p informer-leaderelection --example three_candidates
//! ```
#![expect(clippy::print_stdout, reason = "an example tells what it does")]

use std::{error::Error, time::Duration};

use informer_apiserver::Server;
use informer_client::{Client, DynamicObject, Kinds, LiveClient, ReadClient as _, WriteClientExt as _};
use informer_core::{ObjectKey, Resource};
use informer_hyper::HyperTransport;
use informer_leaderelection::{Elector, Fence, Leadership, LeaseLock, Options};
use serde_json::json;
use tokio::task::JoinSet;

type Failure = Box<dyn Error + Send + Sync>;

/// The annotation that says in which term the book was written last.
const TERM: &str = "example.com/term";

fn options(identity: &str) -> Options {
    // Shorter than the recommended fifteen seconds.
    let mut options = Options::new(identity).with_lease_duration(Duration::from_secs(3));
    options.release_on_cancel = true;
    options
}

/// What only the leader does.
async fn sign(client: LiveClient, leadership: Leadership) -> Result<(), Failure> {
    let fence = Fence::new(leadership.clone(), TERM);
    let client = fence.around(client);
    let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let key = ObjectKey::namespaced("default", "book");
    let book = client.read::<DynamicObject>(&config_maps, &key).await?;
    let mut book = DynamicObject::clone(&book.ok_or("there is no book")?.object);
    book.set("/data", json!({"by": leadership.identity()}));
    // With the term of this leader and the version of what was read: whoever is late is refused.
    client.update(&book, &Default::default()).await?;
    println!("{} has signed in term {}", leadership.identity(), fence.term()?);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let server = Server::start(Default::default()).await?;
    let client = Client::new(HyperTransport::builder(server.url()).build()?);
    let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let book = client.dynamic(config_maps.clone()).in_namespace("default");
    book.create(&json!({"metadata": {"name": "book"}}), &Default::default())
        .await?;
    let kinds = Kinds::new();
    kinds.register_dynamic(config_maps.clone())?;
    let live = LiveClient::of(&client, kinds);

    let mut candidates = JoinSet::new();
    for name in ["anna", "bert", "cora"] {
        let elector = Elector::new(LeaseLock::new(&client, "default", "pen"), options(name))?
            .on_event(|event| println!("  {event}"));
        let live = live.clone();
        // The work ends by itself here; a server would run until it is told to stop.
        let work = move |leadership| async move {
            if let Err(error) = sign(live, leadership).await {
                println!("not signed: {error}");
            }
        };
        candidates.spawn(elector.run_with(std::future::pending(), work));
    }
    while let Some(end) = candidates.join_next().await {
        println!("ended: {:?}", end?);
    }
    let last = book.get("book").await?;
    let term = last.object.metadata("annotations").map(|all| &all[TERM]);
    println!("the last term is {}", term.unwrap_or(&json!(null)));
    server.shutdown().await;
    Ok(())
}
