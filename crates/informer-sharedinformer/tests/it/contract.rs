//! The sentences of client-go's contract of `SharedInformer` (`shared_informer.go`), with both queues.

use std::{sync::Arc, time::Duration};

use informer_core::{Change, StoreExt};
use informer_sharedinformer::HandlerOptions;

use crate::support::{BOTH, Log, idle, key, pod, pod_of, tapped, version};

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_there_from_the_start_sees_every_change() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1), pod("ns/b", 2)], 3);
        idle().await;
        tap.add(pod("ns/c", 4));
        tap.modify(pod("ns/a", 5));
        tap.delete(pod("ns/b", 6));
        idle().await;
        let expected = [
            r#"Added "ns/a"@1 initial"#,
            r#"Added "ns/b"@2 initial"#,
            r#"Added "ns/c"@4"#,
            r#"Updated "ns/a"@1 -> "ns/a"@5"#,
            r#"Removed "ns/b"@6"#,
        ];
        assert_eq!(log.lines(), expected);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_store_shows_a_change_before_a_handler_hears_of_it() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let store = informer.store();
        let log = Log::default();
        let mut record = log.handler();
        let handler = move |change: &Change<_, _>| {
            let stored = store.get(change.key());
            match change {
                Change::Removed { .. } => assert!(stored.is_none()),
                other => assert_eq!(stored.expect("stored").stamp, other.entry().stamp),
            }
            record(change);
        };
        let handler = informer.add_handler(handler, HandlerOptions::default()).unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1)], 1);
        idle().await;
        tap.modify(pod("ns/a", 2));
        idle().await;
        tap.delete(pod("ns/a", 3));
        idle().await;
        assert_eq!((log.len(), handler.n_panics()), (3, 0));
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_handler_first_gets_what_is_stored_as_adds() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/b", 2), pod("ns/a", 1)], 2);
        idle().await;
        let log = Log::default();
        let late = informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        assert!(!late.has_synced());
        late.synced().await.unwrap();
        assert_eq!(
            log.take(),
            [r#"Added "ns/a"@1 initial"#, r#"Added "ns/b"@2 initial"#]
        );
        tap.modify(pod("ns/a", 3));
        idle().await;
        assert_eq!(log.take(), [r#"Updated "ns/a"@1 -> "ns/a"@3"#]);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_removal_carries_the_last_state_and_whether_it_was_seen() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/seen", 1), pod("ns/missed", 2)], 2);
        idle().await;
        log.take();
        tap.delete(pod("ns/seen", 7));
        idle().await;
        tap.list([], 9);
        idle().await;
        let expected = [r#"Removed "ns/seen"@7"#, r#"Removed "ns/missed"@2 unobserved"#];
        assert_eq!(log.lines(), expected);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn another_uid_is_another_object() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod_of("ns/a", 1, "u1")], 1);
        idle().await;
        log.take();
        tap.list([pod_of("ns/a", 5, "u2")], 6);
        idle().await;
        assert_eq!(
            log.lines(),
            [r#"Removed "ns/a"@1#u1 unobserved"#, r#"Added "ns/a"@5#u2"#]
        );
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn handlers_are_told_the_same_each_at_its_own_pace() {
    let (tap, informer) = tapped(BOTH[0]());
    let (quick, slow) = (Log::default(), Log::default());
    informer
        .add_handler(quick.handler(), HandlerOptions::default())
        .unwrap();
    let record = slow.clone();
    let handler = move |change: Change<_, _>| {
        let record = record.clone();
        async move {
            crate::support::pass(Duration::from_secs(1)).await;
            record.push(change);
        }
    };
    let slow_one = informer
        .add_async_handler(handler, HandlerOptions::named("slow"))
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list((0..20).map(|n| pod(&format!("ns/{n:02}"), n + 1)), 20);
    idle().await;
    assert_eq!((quick.len(), slow.len(), slow_one.backlog()), (20, 0, 19));
    slow_one.synced().await.unwrap();
    assert_eq!(slow.lines(), quick.lines());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_query_is_answered_from_one_snapshot_that_can_be_held() {
    let (tap, informer) = tapped(BOTH[0]());
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    informer.synced().await.unwrap();
    let held = informer.store().snapshot();
    tap.modify(pod("ns/a", 2));
    tap.add(pod("ns/b", 3));
    idle().await;
    assert_eq!(
        (held.len(), held.get(&key("ns/a")).unwrap().object.version),
        (1, 1)
    );
    assert_eq!(
        informer.store().by_index("node", "node-2").unwrap()[0].key,
        key("ns/a")
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_applied_version_can_be_waited_for() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1)], 1);
        let store = informer.store();
        let wanted = version(7);
        let wait = store.wait_for(&wanted);
        tap.modify(pod("ns/a", 7));
        wait.await.unwrap();
        assert_eq!(store.get(&key("ns/a")).unwrap().object.version, 7);
        assert_eq!(informer.status().applied, version(7));
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_relist_keeps_the_objects_that_are_stored() {
    let (tap, informer) = tapped(BOTH[0]());
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    informer.synced().await.unwrap();
    let before = informer.store().get(&key("ns/a")).unwrap().object;
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    idle().await;
    let after = informer.store().get(&key("ns/a")).unwrap().object;
    assert!(Arc::ptr_eq(&before, &after));
    running.stop().await;
}
