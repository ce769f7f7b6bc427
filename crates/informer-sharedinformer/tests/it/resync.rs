//! Resync: who is told the cached state again, and when (client-go `TestListenerResyncPeriods`, `TestResyncCheckPeriod`).

use std::time::Duration;

use informer_core::{ObjectKey, TokioClock};
use informer_sharedinformer::{HandlerOptions, QueueKind, Resync, SharedInformer};

use crate::support::{BOTH, Informer, Log, Pod, Tap, pass, pod};

fn resyncing(queue: QueueKind<ObjectKey, Pod>, period: u64) -> (Tap, Informer) {
    let tap = Tap::default();
    let informer = SharedInformer::fed_by(tap.clone())
        .queue(queue)
        .clock(TokioClock)
        .resync(Duration::from_secs(period))
        .build()
        .unwrap();
    (tap, informer)
}

fn add(informer: &Informer, resync: Resync) -> Log {
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default().resync(resync))
        .unwrap();
    log
}

#[tokio::test(start_paused = true)]
async fn each_handler_is_told_again_at_its_own_period() {
    for queue in BOTH {
        let (tap, informer) = resyncing(queue(), 10);
        let inherits = add(&informer, Resync::Inherit);
        let never = add(&informer, Resync::Never);
        let slow = add(&informer, Resync::Every(Duration::from_secs(25)));
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
        pass(Duration::from_millis(9_900)).await;
        let again = [r#"Resynced "ns/a"@1"#, r#"Resynced "ns/b"@2"#];
        for log in [&inherits, &never, &slow] {
            assert_eq!(log.take().len(), 2, "the initial adds");
        }
        pass(Duration::from_millis(200)).await;
        assert_eq!(inherits.take(), again);
        pass(Duration::from_secs(20)).await;
        assert_eq!(inherits.take().len(), 4);
        assert_eq!(slow.take(), again, "due after 25 s, told at the check after 30");
        assert_eq!(never.len(), 0);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn before_the_start_a_handler_can_shorten_the_check_and_later_it_is_raised_to_it() {
    let (tap, informer) = resyncing(BOTH[0](), 30);
    let early = add(&informer, Resync::Every(Duration::from_secs(5)));
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    pass(Duration::from_secs(1)).await;
    let late = add(&informer, Resync::Every(Duration::from_secs(2)));
    pass(Duration::from_millis(4_100)).await;
    assert_eq!(
        early.take(),
        [r#"Added "ns/a"@1 initial"#, r#"Resynced "ns/a"@1"#]
    );
    assert_eq!(
        late.take(),
        [r#"Added "ns/a"@1 initial"#],
        "it came a second later"
    );
    pass(Duration::from_secs(5)).await;
    assert_eq!(late.take(), [r#"Resynced "ns/a"@1"#]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_without_a_period_never_resyncs() {
    let (tap, informer) = resyncing(BOTH[0](), 0);
    let log = add(&informer, Resync::Every(Duration::from_secs(1)));
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    pass(Duration::from_secs(60)).await;
    assert_eq!(log.lines(), [r#"Added "ns/a"@1 initial"#]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_resync_never_travels_back_nor_raises_the_dead() {
    for queue in BOTH {
        let (tap, informer) = resyncing(queue(), 1);
        let log = add(&informer, Resync::Inherit);
        let running = informer.spawn().unwrap();
        tap.list((0..5).map(|n| pod(&format!("ns/{n}"), n + 1)), 5);
        for round in 0..200_u64 {
            let name = format!("ns/{}", round % 5);
            let at = 10 + round;
            match round % 7 {
                0 => tap.delete(pod(&name, at)),
                _ => tap.modify(pod(&name, at)),
            }
            pass(Duration::from_millis(37)).await;
        }
        pass(Duration::from_secs(2)).await;
        crate::support::assert_gapless(&log.changes());
        assert!(log.lines().iter().any(|line| line.starts_with("Resynced")));
        running.stop().await;
    }
}

/// A resync of nothing is over at once: it does not hold up the schedule of those that follow.
#[tokio::test(start_paused = true)]
async fn a_resync_of_an_empty_store_leaves_the_schedule_as_it_is() {
    for queue in BOTH {
        let (tap, informer) = resyncing(queue(), 4);
        let slow = add(&informer, Resync::Inherit);
        let quick = add(&informer, Resync::Every(Duration::from_secs(1)));
        let running = informer.spawn().unwrap();
        tap.list([], 1);
        pass(Duration::from_millis(12_500)).await;
        tap.add(pod("ns/a", 2));
        pass(Duration::from_millis(700)).await;
        assert_eq!(quick.take(), [r#"Added "ns/a"@2"#, r#"Resynced "ns/a"@2"#]);
        assert_eq!(slow.take(), [r#"Added "ns/a"@2"#], "due at 12 s and at 16 s");
        running.stop().await;
    }
}
