//! CF-04: a relist that brings nothing new stays silent.

use informer_sharedinformer::HandlerOptions;

use crate::support::{BOTH, Log, idle, pod, tapped};

#[tokio::test(start_paused = true)]
async fn cf_04_a_relist_that_brings_nothing_new_stays_silent() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        let handler = informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        let pods = || (0..1000).map(|n| pod(&format!("ns/{n:04}"), n + 1));
        tap.list(pods(), 1000);
        idle().await;
        assert_eq!(log.take().len(), 1000);
        for relist in 0..5 {
            tap.list(pods(), 1001 + relist);
            idle().await;
        }
        assert_eq!(
            (log.len(), handler.backlog(), informer.status().queued),
            (0, 0, 0)
        );
        running.stop().await;
    }
}
