//! CF-03: same name, new uid.

use informer_core::Change;
use informer_sharedinformer::HandlerOptions;

use crate::support::{BOTH, Log, assert_gapless, idle, pod_of, tapped};

#[tokio::test(start_paused = true)]
async fn cf_03_an_object_made_anew_is_removed_and_added_missed_or_seen() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod_of("ns/a", 5, "u1")], 5);
        idle().await;
        log.take();
        // Deleted and made again while the watch was down.
        tap.list([pod_of("ns/a", 9, "u2")], 9);
        idle().await;
        assert_eq!(
            log.take(),
            [r#"Removed "ns/a"@5#u1 unobserved"#, r#"Added "ns/a"@9#u2"#]
        );
        // The same, seen.
        tap.delete(pod_of("ns/a", 10, "u2"));
        tap.add(pod_of("ns/a", 11, "u3"));
        idle().await;
        assert_eq!(log.take(), [r#"Removed "ns/a"@10#u2"#, r#"Added "ns/a"@11#u3"#]);
        // The watch resumed behind the delete.
        tap.modify(pod_of("ns/a", 15, "u4"));
        idle().await;
        assert_eq!(
            log.take(),
            [r#"Removed "ns/a"@11#u3 unobserved"#, r#"Added "ns/a"@15#u4"#]
        );
        running.stop().await;
    }
}

/// Also where changes wait and merge: no handler ever sees one uid turn into another.
#[tokio::test(start_paused = true)]
async fn cf_03_merging_never_joins_two_objects() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let record = log.clone();
    let slow = move |change: Change<_, _>| {
        let record = record.clone();
        async move {
            crate::support::pass(std::time::Duration::from_secs(1)).await;
            record.push(change);
        }
    };
    let options =
        HandlerOptions::default().backlog(informer_sharedinformer::BacklogPolicy::Merge { limit: 0 });
    let handler = informer.add_async_handler(slow, options).unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod_of("ns/a", 1, "u1")], 1);
    for at in 1..60_u64 {
        tap.list([pod_of("ns/a", at * 10, &format!("u{}", at / 2))], at * 10);
        idle().await;
    }
    crate::support::pass(std::time::Duration::from_secs(200)).await;
    assert!(handler.n_merged() > 0);
    let end = assert_gapless(&log.changes());
    assert_eq!(end.values().next().unwrap().uid, "u29".into());
    running.stop().await;
}
