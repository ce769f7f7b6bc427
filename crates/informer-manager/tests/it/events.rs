//! A recorder that outlives what records.

use informer_core::Resource;
use informer_events::{Broadcaster, EventKind, MemorySink, ObjectReference};
use informer_manager::{Manager, runnable};

#[tokio::test(start_paused = true)]
async fn the_last_words_of_what_stops_are_written() {
    let sink = MemorySink::new();
    let broadcaster = Broadcaster::new(sink.clone(), Default::default());
    let recorder = broadcaster.recorder("example.com/porter");
    let running = Manager::builder()
        .runnable(broadcaster)
        .runnable(runnable("porter", |life| async move {
            life.stopping().await;
            let pods = Resource::namespaced("", "v1", "pods", "Pod");
            let web = ObjectReference::new(&pods, Some("default"), "web");
            recorder.event(
                &web,
                None,
                EventKind::Normal,
                "Leaving",
                "Stopping",
                "the porter leaves",
            );
            Ok(())
        }))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    assert!(running.stop().await.unwrap().is_clean());
    assert_eq!(sink.events().len(), 1);
    assert_eq!(sink.events()[0].reason, "Leaving");
}
