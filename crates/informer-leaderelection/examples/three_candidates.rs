//! Three candidates for one lease of the embedded API server. Whoever leads writes to a config map, each write fenced by its term and by the
//! version of what it was made from; then it stops, gives the lease back, and the next one leads.
//!
//! ```text
//! cargo run -p informer-leaderelection --example three_candidates
//! ```
#![expect(clippy::print_stdout, reason = "an example tells what it does")]

use std::{error::Error, time::Duration};

use informer_apiserver::Server;
use informer_client::{Client, WriteOptions};
use informer_core::Resource;
use informer_hyper::HyperTransport;
use informer_leaderelection::{Elector, Leadership, LeaseLock, Options};
use serde_json::json;
use tokio::task::JoinSet;

type Failure = Box<dyn Error + Send + Sync>;

fn options(identity: &str) -> Options {
    let mut options = Options::new(identity);
    // Shorter than the recommended numbers, which `Options::new` has.
    options.lease_duration = Duration::from_secs(3);
    options.renew_deadline = Duration::from_secs(2);
    options.retry_period = Duration::from_millis(200);
    options.release_on_cancel = true;
    options
}

/// What only the leader does.
async fn sign(client: Client<HyperTransport>, leadership: Leadership) -> Result<(), Failure> {
    let Some(term) = leadership.term() else {
        return Ok(());
    };
    let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let book = client.dynamic(config_maps).in_namespace("default");
    let found = book.get("book").await?;
    let signed: u32 = found.object.text("/data/term").unwrap_or("0").parse()?;
    if signed > term.transitions {
        return Err("a later term has written".into());
    }
    let mut page = found.object.into_value();
    page["data"] = json!({"term": term.transitions.to_string(), "by": leadership.identity()});
    // The version goes along in the metadata: whoever is late gets a conflict.
    book.replace("book", &page, &WriteOptions::default()).await?;
    println!("{} has signed in term {term}", leadership.identity());
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let server = Server::start(Default::default()).await?;
    let client = Client::new(HyperTransport::builder(server.url()).build()?);
    let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let book = client.dynamic(config_maps).in_namespace("default");
    book.create(&json!({"metadata": {"name": "book"}}), &WriteOptions::default())
        .await?;

    let mut candidates = JoinSet::new();
    for name in ["anna", "bert", "cora"] {
        let elector = Elector::new(LeaseLock::new(&client, "default", "pen"), options(name))?
            .on_event(|event| println!("  {event}"));
        let client = client.clone();
        // The work ends by itself here; a server would run until it is told to stop.
        let work = move |leadership| async move {
            if let Err(error) = sign(client, leadership).await {
                println!("not signed: {error}");
            }
        };
        candidates.spawn(elector.run_with(std::future::pending(), work));
    }
    while let Some(end) = candidates.join_next().await {
        println!("ended: {:?}", end?);
    }
    let last = book.get("book").await?;
    println!(
        "the last term is {}",
        last.object.text("/data/term").unwrap_or("missing")
    );
    server.shutdown().await;
    Ok(())
}
