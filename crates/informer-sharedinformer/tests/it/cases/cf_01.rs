//! CF-01: added, still queued, gone at the relist.

use informer_sharedinformer::HandlerOptions;

use crate::support::{BOTH, Log, Tap, idle, pod, tapped};

type Script = fn(&Tap);

#[tokio::test(start_paused = true)]
async fn cf_01_added_still_queued_gone_at_the_relist() {
    let scripts: [Script; 3] = [
        |tap| tap.add(pod("ns/o", 5)),
        |tap| {
            tap.add(pod("ns/o", 5));
            tap.delete(pod("ns/o", 6));
            tap.add(pod("ns/o", 7));
        },
        |tap| {
            tap.add(pod("ns/o", 5));
            tap.list([], 8);
        },
    ];
    for queue in BOTH {
        for script in scripts {
            let (tap, informer) = tapped(queue());
            let log = Log::default();
            informer
                .add_handler(log.handler(), HandlerOptions::default())
                .unwrap();
            // The informer does not run yet: everything waits in the queue.
            tap.list([], 1);
            script(&tap);
            tap.list([], 9);
            let running = informer.spawn().unwrap();
            idle().await;
            assert!(informer.store().is_empty());
            let lines = log.take();
            let count = |what: &str| lines.iter().filter(|line| line.starts_with(what)).count();
            assert_eq!(count("Added"), count("Removed"), "{lines:?}");
            assert_eq!(lines.last().map_or("Removed", |line| &line[..7]), "Removed");
            tap.list([], 10);
            idle().await;
            assert_eq!(log.len(), 0, "no further removal");
            running.stop().await;
        }
    }
}
