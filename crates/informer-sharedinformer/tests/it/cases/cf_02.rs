//! CF-02: deletion missed while away; the mark of an unknown end is there once.

use informer_sharedinformer::HandlerOptions;

use crate::support::{BOTH, Log, idle, pod, tapped};

#[tokio::test(start_paused = true)]
async fn cf_02_a_missed_deletion_is_told_once_with_the_last_known_state() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 5), pod("ns/b", 6)], 6);
        idle().await;
        log.take();
        // Both lists wait before the first is processed.
        tap.list([pod("ns/b", 6)], 9);
        tap.list([], 10);
        idle().await;
        let expected = [r#"Removed "ns/a"@5 unobserved"#, r#"Removed "ns/b"@6 unobserved"#];
        assert_eq!(log.lines(), expected);
        assert!(informer.store().is_empty());
        running.stop().await;
    }
}
