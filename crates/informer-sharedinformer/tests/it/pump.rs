//! The pump for one handler: client-go's `cache.Controller`.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::Change;
use informer_sharedinformer::{Phase, PumpHandle, QueueKind, SharedInformer, Trouble};

use tokio::task::JoinSet;

use crate::support::{BOTH, Log, Pod, Tap, assert_gapless, idle, key, pass, pod};

type Builder = informer_sharedinformer::Builder<informer_core::ObjectKey, Pod, Tap>;

fn builder(queue: QueueKind<informer_core::ObjectKey, Pod>) -> (Tap, Builder) {
    let tap = Tap::default();
    let builder = SharedInformer::fed_by(tap.clone())
        .name("pods")
        .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&pod.node))
        .queue(queue);
    (tap, builder)
}

/// client-go `Example`, `TestHammerController` in small: the handler is told in step with the store.
#[tokio::test(start_paused = true)]
async fn the_handler_is_called_in_step_with_the_store() {
    for queue in BOTH {
        let (tap, builder) = builder(queue());
        let log = Log::default();
        let handle: Arc<Mutex<Option<PumpHandle<_, Pod>>>> = Arc::default();
        let (mut record, reads) = (log.handler(), handle.clone());
        let handler = move |change: &Change<_, Pod>| {
            // Nothing is behind this change but what came with it.
            let handle = reads.lock().unwrap().clone().unwrap();
            let stored = handle.store().get(change.key());
            assert_eq!(stored.is_none(), matches!(change, Change::Removed { .. }));
            record(change);
        };
        let pump = builder.build_pump(handler).unwrap();
        let its = pump.handle();
        *handle.lock().unwrap() = Some(its.clone());
        assert_eq!(its.status().phase, Phase::Idle);
        let mut run = JoinSet::new();
        run.spawn(pump.run());
        tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
        its.synced().await.unwrap();
        assert_eq!(
            log.len(),
            2,
            "synced means that the handler returned from the whole list"
        );
        tap.modify(pod("ns/a", 4));
        tap.delete(pod("ns/b", 5));
        idle().await;
        assert_eq!(
            log.lines()[2..],
            [r#"Updated "ns/a"@1 -> "ns/a"@4"#, r#"Removed "ns/b"@5"#]
        );
        assert_gapless(&log.changes());
        assert_eq!(its.lister().by_index("node", "node-1").unwrap().len(), 1);
        its.add_index("all", |_: &Pod, emit: &mut dyn FnMut(&str)| emit("x"))
            .unwrap();
        assert_eq!(its.store().by_index("all", "x").unwrap().len(), 1);
        its.stop();
        assert!(run.join_next().await.unwrap().unwrap().still_running.is_empty());
        assert!(its.is_stopped() && its.has_synced());
        assert_eq!(its.store().get(&key("ns/a")).unwrap().object.version, 4);
        handle.lock().unwrap().take();
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_inside_the_handler_is_the_end_of_its_calls() {
    let (tap, builder) = builder(BOTH[0]());
    let log = Log::default();
    let handle: Arc<Mutex<Option<PumpHandle<_, Pod>>>> = Arc::default();
    let (mut record, stops) = (log.handler(), handle.clone());
    let pump = builder
        .build_pump(move |change: &Change<_, Pod>| {
            record(change);
            stops.lock().unwrap().as_ref().unwrap().stop();
        })
        .unwrap();
    *handle.lock().unwrap() = Some(pump.handle());
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    assert!(pump.run().await.still_running.is_empty());
    assert_eq!(log.len(), 1);
    let its = handle.lock().unwrap().take().unwrap();
    assert!(its.synced().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn panics_are_contained_and_resyncs_come() {
    let (tap, builder) = builder(BOTH[0]());
    let troubles = Arc::new(Mutex::new(Vec::new()));
    let seen = troubles.clone();
    let log = Log::default();
    let mut record = log.handler();
    let pump = builder
        .resync(Duration::from_secs(10))
        .on_error(move |trouble: &Trouble| seen.lock().unwrap().push(trouble.to_string()))
        .build_pump(move |change: &Change<_, Pod>| {
            record(change);
            assert_ne!(change.key().name(), "b", "b is too much");
        })
        .unwrap();
    let its = pump.handle();
    let mut run = JoinSet::new();
    run.spawn(pump.run());
    tap.list([pod("ns/a", 1), pod("ns/b", 2), pod("ns/c", 3)], 3);
    its.synced().await.unwrap();
    assert_eq!(log.take().len(), 3);
    assert_eq!(its.status().handlers[0].panics, 1);
    assert!(troubles.lock().unwrap()[0].contains("b is too much"));
    pass(Duration::from_millis(10_100)).await;
    assert_eq!(
        log.take(),
        [
            r#"Resynced "ns/a"@1"#,
            r#"Resynced "ns/b"@2"#,
            r#"Resynced "ns/c"@3"#
        ]
    );
    its.stop();
    run.join_next().await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_that_is_dropped_or_stopped_before_it_ran_never_syncs() {
    for stop in [false, true] {
        let (_, builder) = builder(BOTH[0]());
        let pump = builder.build_pump(|_: &Change<_, Pod>| {}).unwrap();
        let its = pump.handle();
        if stop {
            its.stop();
            pump.run().await;
        } else {
            drop(pump);
        }
        assert!(its.synced().await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_its_future_stops_it() {
    let (tap, builder) = builder(BOTH[0]());
    let log = Log::default();
    let pump = builder.build_pump(log.handler()).unwrap();
    let its = pump.handle();
    tap.list([pod("ns/a", 1)], 1);
    tokio::select! {
        _ = pump.run() => panic!("nobody stopped it"),
        () = pass(Duration::from_secs(1)) => {}
    }
    assert!(its.is_stopped());
    assert_eq!(log.len(), 1);
}
