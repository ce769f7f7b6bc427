//! IH-02: register and unregister at any moment.

use std::time::Duration;

use informer_core::{Clock, TokioClock};
use informer_sharedinformer::{HandlerOptions, SharedInformer};

use crate::support::{BOTH, Log, Tap, assert_gapless, pass, pod};

const TASKS: u64 = 8;

/// One run in real threads: tasks add and remove handlers before, during and after a delayed start while events flow.
async fn round(queue: usize) {
    let tap = Tap::default();
    let informer = SharedInformer::fed_by(tap.clone())
        .queue(BOTH[queue]())
        .resync(Duration::from_secs(1))
        .build()
        .unwrap();
    let slow = |_| async { tokio::task::yield_now().await };
    informer
        .add_async_handler(slow, HandlerOptions::named("slow"))
        .unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        let informer = informer.clone();
        tasks.spawn(async move {
            for turn in 0..20 {
                let log = Log::default();
                let handler = informer
                    .add_handler(log.handler(), HandlerOptions::default())
                    .unwrap();
                for _ in 0..(task + turn) % 7 {
                    tokio::task::yield_now().await;
                }
                handler.remove();
                handler.remove();
                handler.removed().await;
                let told = log.len();
                assert_gapless(&log.changes());
                tokio::task::yield_now().await;
                assert_eq!(log.len(), told, "a call after the removal");
            }
        });
    }
    tap.list((0..20).map(|n| pod(&format!("ns/{n:02}"), n + 1)), 20);
    tokio::task::yield_now().await;
    let running = informer.spawn().unwrap();
    for at in 100..600_u64 {
        let name = format!("ns/{:02}", at * 7 % 25);
        if at % 5 == 0 {
            tap.delete(pod(&name, at));
        } else {
            tap.modify(pod(&name, at));
        }
        if at % 16 == 0 {
            tokio::task::yield_now().await;
        }
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let log = Log::default();
    let last = informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    while informer.status().queued > 0 {
        tokio::task::yield_now().await;
    }
    last.synced().await.unwrap();
    running.stop().await;
    assert_gapless(&log.changes());
    assert!(
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .is_err()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ih_02_handlers_come_and_go_at_any_moment_and_nothing_hangs() {
    let rounds = async {
        for n in 0..200 {
            round(n % 2).await;
        }
    };
    tokio::select! {
        () = rounds => {}
        () = TokioClock.sleep_until(TokioClock.now() + Duration::from_secs(600)) => panic!("it hangs"),
    }
}

#[tokio::test(start_paused = true)]
async fn ih_02_a_start_long_after_a_resync_was_due_is_harmless() {
    let tap = Tap::default();
    let informer = SharedInformer::fed_by(tap.clone())
        .resync(Duration::from_secs(1))
        .build()
        .unwrap();
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    tap.list([pod("ns/a", 1)], 1);
    pass(Duration::from_secs(5)).await;
    let running = informer.spawn().unwrap();
    pass(Duration::from_millis(1_500)).await;
    assert_eq!(log.lines(), [r#"Added "ns/a"@1 initial"#, r#"Resynced "ns/a"@1"#]);
    running.stop().await;
}
