//! A transport that writes down what comes through it, and one that plays it back: an informer runs on a recording.
//!
//! `cargo run -p informer-transport --example recording`

#![expect(clippy::print_stdout, reason = "an example tells what it does")]

mod tape;

use std::{error::Error, time::Duration};

use informer_client::{Client, Selectors};
use informer_core::{Resource, TokioClock};
use informer_sharedinformer::SharedInformer;
use informer_testkit::{FakeApi, FakeTransport, SharedApi};
use informer_transport::Transport;
use serde_json::{Value, json};

use crate::tape::{Player, Recorder, Tape};

fn maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

/// Runs an informer until it knows `n` config maps; `meanwhile` is called when it is in sync.
async fn follow(
    transport: impl Transport + 'static,
    n: usize,
    meanwhile: impl FnOnce(),
) -> Result<(), Box<dyn Error>> {
    let maps = Client::new(transport).objects::<Value>(maps());
    let informer = SharedInformer::builder(maps.source(Selectors::all())).build()?;
    let mut changes = informer.subscribe(Default::default())?;
    let running = informer.spawn()?;
    informer.wait_synced(Duration::from_secs(30)).await?;
    meanwhile();
    for _ in 0..n {
        println!("  {:?}", changes.next().await.ok_or("the informer ended")?);
    }
    running.stop().await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let api = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    let put = |name| api.with(|api| api.create(&maps(), json!({"metadata": {"name": name}})));
    put("one")?;
    let tape = Tape::default();
    println!("recorded");
    let recorder = Recorder(FakeTransport::new(api.clone()), tape.clone());
    follow(recorder, 2, || drop(put("two"))).await?;
    tape.with(|tape| {
        tape.iter()
            .for_each(|(asked, status, chunks)| println!("  {asked}: {status}, {} chunks", chunks.len()))
    });
    println!("played back");
    follow(Player(tape), 2, || {}).await
}
