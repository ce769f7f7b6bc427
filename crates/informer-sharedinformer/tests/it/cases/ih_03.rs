//! IH-03: one bad handler.

use std::time::Duration;

use informer_core::Change;
use informer_sharedinformer::{BacklogPolicy, HandlerOptions};

use crate::support::{BOTH, Log, Pod, assert_gapless, idle, pass, pod, tapped};

#[tokio::test(start_paused = true)]
async fn ih_03_a_handler_that_panics_or_hangs_harms_no_other() {
    let (tap, informer) = tapped(BOTH[0]());
    let panicked = Log::default();
    let mut record = panicked.handler();
    let panics = move |change: &Change<_, Pod>| {
        record(change);
        assert_ne!(change.entry().object.version, 3, "three is too many");
    };
    let panics = informer
        .add_handler(panics, HandlerOptions::named("panics"))
        .unwrap();
    let hung = Log::default();
    let record = hung.clone();
    let mut first = true;
    let hangs = move |change| {
        let record = record.clone();
        let wait = std::mem::take(&mut first);
        async move {
            if wait {
                pass(Duration::from_secs(30)).await;
            }
            record.push(change);
        }
    };
    let hangs = informer
        .add_async_handler(hangs, HandlerOptions::named("hangs"))
        .unwrap();
    let normal = Log::default();
    let normal_one = informer
        .add_handler(normal.handler(), HandlerOptions::named("normal"))
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list((0..10).map(|n| pod(&format!("ns/{n}"), n + 1)), 10);
    idle().await;
    for at in 0..50_000_u64 {
        tap.modify(pod(&format!("ns/{}", at % 10), 100 + at));
        if at % 500 == 0 {
            idle().await;
        }
    }
    idle().await;
    // The normal one may have merged a burst, but it is not behind.
    assert_eq!(normal_one.backlog(), 0);
    assert_eq!(normal_one.n_delivered() + normal_one.n_merged(), 50_010);
    assert_eq!(panics.n_panics(), 1);
    assert!(
        panicked
            .lines()
            .iter()
            .any(|line| line.contains(r#"Added "ns/3"@4"#)),
        "it goes on"
    );
    let limit = BacklogPolicy::DEFAULT_LIMIT;
    assert!(
        (limit..=limit + 20).contains(&hangs.backlog()),
        "{}",
        hangs.backlog()
    );
    assert_eq!(hung.len(), 0);
    pass(Duration::from_secs(31)).await;
    assert_eq!(hangs.backlog(), 0);
    let end = assert_gapless(&hung.changes());
    assert_eq!(end, assert_gapless(&normal.changes()));
    assert_eq!(end, assert_gapless(&panicked.changes()));
    running.stop().await;
}
