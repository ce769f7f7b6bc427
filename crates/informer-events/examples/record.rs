//! Records events about a pod on the embedded API server, a flood among them, and shows what the server keeps:
//! `cargo run -p informer-events --example record`

use std::error::Error;

use informer_apiserver::Server;
use informer_client::{Client, Selectors};
use informer_core::Resource;
use informer_events::{ApiSink, Broadcaster, Event, EventKind, ObjectReference, Occurrence};
use informer_hyper::HyperTransport;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it did")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::start(Default::default()).await?;
    let client = Client::new(HyperTransport::builder(server.url()).build()?);
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let nodes = Resource::cluster("", "v1", "nodes", "Node");
    let web = ObjectReference::new(&pods, Some("default"), "web");
    let node = ObjectReference::new(&nodes, None, "n1");

    let broadcaster = Broadcaster::new(ApiSink::new(&client), Default::default());
    let recorder = broadcaster.recorder("example.com/demo");

    // Two objects: the scheduler has bound a pod to a node.
    recorder.event(
        &web,
        Some(node),
        EventKind::Normal,
        "Scheduled",
        "Binding",
        "bound web to n1",
    );
    // With an annotation.
    let pulled = Occurrence::new(
        &web,
        EventKind::Normal,
        "Pulled",
        "Pulling",
        "pulled the image in 3 s",
    );
    recorder.record(pulled.annotation("example.com/image", "web:1"));
    // A flood.
    for _ in 0..500 {
        recorder.event(
            &web,
            None,
            EventKind::Warning,
            "BackOff",
            "Restarting",
            "back-off restarting the container",
        );
    }

    // Until the program ends, as a rule: `stop` is its signal.
    let report = broadcaster.run(async {}).await;
    println!(
        "{} events were recorded, {} requests made",
        report.stats.recorded(),
        report.stats.written
    );
    let events = client.objects::<Event>(Event::resource()).in_namespace("default");
    for item in events
        .list(&Selectors::all().fields(web.event_selector()))
        .await?
        .items
    {
        let event = item.object;
        println!(
            "{:>4}x {:7} {:9} {}",
            event.count(),
            event.kind.as_str(),
            event.reason,
            event.note
        );
    }
    server.shutdown().await;
    Ok(())
}
