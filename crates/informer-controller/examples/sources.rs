//! Where requests come from: a channel, a timer, a function, and a mapping that fails at first; a watch that is added and dropped.

use std::{
    convert::Infallible,
    error::Error,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

use informer_controller::{
    Action, Controller, InformerSource, SourceContext, Started, channel, source_fn, task_source, try_map_fn,
};
use informer_core::{Cause, Clock, Delta, DeltaSink, Entry, ObjectKey, Stamp};
use informer_sharedinformer::{SharedInformer, Sink};
use tokio::sync::mpsc;

/// The table that the mapping reads is not there yet.
static TABLE: AtomicBool = AtomicBool::new(false);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (seen, mut done) = mpsc::unbounded_channel();
    let (requests, doorbell) = channel("doorbell");
    let timer = task_source("timer", |context: SourceContext<String>| async move {
        context
            .clock
            .sleep_until(context.clock.now() + Duration::from_millis(5))
            .await;
        context.enqueue("tick".to_owned());
    });
    let once = source_fn("once", |context: SourceContext<String>| {
        context.enqueue("at the start".to_owned());
        Ok(Started::in_sync())
    });
    let controller = Controller::builder("sources")
        .source(doorbell)
        .source(timer)
        .source(once)
        .reconcile(move |request: String, _| {
            let _ = seen.send(request);
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()?;
    let running = controller.spawn()?;
    say(done.recv().await);
    say(done.recv().await);
    requests.send("somebody rang".to_owned()).await?;
    say(done.recv().await);

    // An informer whose objects lead to requests by a table that is read late.
    let pods = SharedInformer::fed_by(|mut sink: Sink<ObjectKey, String>| async move {
        let key = ObjectKey::namespaced("default", "web-0");
        let pod = Entry::new(key, Stamp::new("1", "uid"), "node-7".to_owned().into());
        sink.push(Delta::Replace {
            items: Vec::new(),
            unreadable: Vec::new(),
            at: "0".into(),
            may_rewind: false,
        });
        sink.push(Delta::Upsert(pod, Cause::Added));
        std::future::pending::<()>().await;
    })
    .name("pods")
    .build()?;
    let informing = pods.spawn()?;
    let by_node = try_map_fn(|pod: &Entry<ObjectKey, String>| {
        if TABLE.load(SeqCst) {
            Ok([pod.object.to_string()])
        } else {
            Err("the table is not there yet")
        }
    });
    let id = running.watch(InformerSource::new(&pods, by_node))?;
    controller.watch_synced(id).await?;
    while controller
        .status()
        .sources
        .iter()
        .all(|source| source.trouble.is_none())
    {
        tokio::task::yield_now().await;
    }
    TABLE.store(true, SeqCst);
    say(done.recv().await);
    running.unwatch(id);
    assert!(pods.status().handlers.is_empty());

    running.stop().await?;
    informing.stop().await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn say(request: Option<String>) {
    println!("reconciled: {}", request.unwrap_or_default());
}
