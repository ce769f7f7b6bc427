//! IH-01: store synced is not handler synced.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use informer_core::Change;
use informer_sharedinformer::HandlerOptions;

use crate::support::{BOTH, Informer, Log, idle, pass, pod, tapped};

/// Counts returned calls, each of which takes 20 ms.
fn slow(informer: &Informer, returned: &Arc<AtomicUsize>) -> informer_sharedinformer::Registration {
    let returned = returned.clone();
    let handler = move |_| {
        let returned = returned.clone();
        async move {
            pass(Duration::from_millis(20)).await;
            returned.fetch_add(1, Ordering::Relaxed);
        }
    };
    informer
        .add_async_handler(handler, HandlerOptions::default())
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn ih_01_a_handler_is_synced_when_its_last_initial_add_has_returned() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let returned = Arc::new(AtomicUsize::new(0));
        let early = slow(&informer, &returned);
        let running = informer.spawn().unwrap();
        tap.list((0..50).map(|n| pod(&format!("ns/{n:02}"), n + 1)), 50);
        informer.synced().await.unwrap();
        assert!(!early.has_synced(), "the informer is, the handler is not");
        let late_returned = Arc::new(AtomicUsize::new(0));
        let late = slow(&informer, &late_returned);
        let log = Log::default();
        let quick = informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        early.synced().await.unwrap();
        assert_eq!(returned.load(Ordering::Relaxed), 50);
        late.synced().await.unwrap();
        assert_eq!(late_returned.load(Ordering::Relaxed), 50);
        quick.synced().await.unwrap();
        tap.add(pod("ns/later", 60));
        idle().await;
        let initial = |change: &&Change<_, _>| matches!(change, Change::Added { initial: true, .. });
        let changes = log.changes();
        assert_eq!((changes.iter().filter(initial).count(), changes.len()), (50, 51));
        assert!(early.has_synced() && late.has_synced(), "once true, always true");
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn ih_01_with_zero_objects_both_are_synced() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        let early = informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        idle().await;
        assert!(!informer.has_synced() && !early.has_synced());
        tap.list([], 1);
        early.synced().await.unwrap();
        let late = informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        late.synced().await.unwrap();
        assert!(informer.has_synced() && log.len() == 0);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn ih_01_a_handler_that_drops_or_panics_at_every_add_is_synced_too() {
    let (tap, informer) = tapped(BOTH[0]());
    let dropped = |_: &Change<_, _>| {};
    let dropped = informer.add_handler(dropped, HandlerOptions::default()).unwrap();
    let panics = |_: &Change<_, _>| panic!("none is welcome");
    let panics = informer.add_handler(panics, HandlerOptions::default()).unwrap();
    let running = informer.spawn().unwrap();
    tap.list((0..50).map(|n| pod(&format!("ns/{n:02}"), n + 1)), 50);
    dropped.synced().await.unwrap();
    panics.synced().await.unwrap();
    assert_eq!(panics.n_panics(), 50);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn ih_01_initial_adds_that_merged_away_are_not_waited_for() {
    use informer_sharedinformer::BacklogPolicy;
    let (tap, informer) = tapped(BOTH[0]());
    let options = HandlerOptions::default().backlog(BacklogPolicy::Merge { limit: 0 });
    let mut changes = informer.subscribe(options).unwrap();
    let handler = changes.registration();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    tap.delete(pod("ns/a", 3));
    tap.delete(pod("ns/b", 4));
    idle().await;
    assert!(handler.has_synced(), "nothing is left to be told");
    tap.add(pod("ns/c", 5));
    assert_eq!(
        format!("{:?}", changes.next().await.unwrap()),
        r#"Added "ns/c"@5"#
    );
    running.stop().await;
}
