//! Handlers that are told of some objects only.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use informer_core::{Change, Entry, ObjectKey};
use informer_sharedinformer::{AsyncHandler, Filter, Filtered, HandlerOptions};
use proptest::prelude::*;

use crate::support::{BOTH, Log, Pod, assert_gapless, idle, pod, pod_of, tapped};

type PodEntry = Entry<ObjectKey, Pod>;

fn even(pod: &PodEntry) -> bool {
    pod.object.version.is_multiple_of(2)
}

/// client-go `TestFilteringResourceEventHandler` by its transitions.
#[tokio::test(start_paused = true)]
async fn what_enters_the_filter_is_added_and_what_leaves_it_removed() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        let handler = informer
            .add_handler(Filtered::new(even, log.handler()), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/in", 2), pod("ns/out", 1)], 2);
        idle().await;
        assert_eq!(log.take(), [r#"Added "ns/in"@2 initial"#]);
        assert!(handler.has_synced(), "what is not wanted counts as told");
        tap.modify(pod("ns/in", 4));
        idle().await;
        assert_eq!(log.take(), [r#"Updated "ns/in"@2 -> "ns/in"@4"#]);
        tap.modify(pod("ns/in", 5));
        tap.modify(pod("ns/out", 6));
        idle().await;
        let expected = [r#"Removed "ns/in"@4"#, r#"Added "ns/out"@6"#];
        assert_eq!(
            log.take(),
            expected,
            "the last state that was told; and not initial"
        );
        tap.modify(pod("ns/in", 7));
        tap.delete(pod("ns/in", 8));
        idle().await;
        assert_eq!(log.len(), 0, "it was told that it is gone already");
        tap.list([], 9);
        idle().await;
        assert_eq!(log.take(), [r#"Removed "ns/out"@6 unobserved"#]);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_removal_is_told_whatever_its_last_state_looks_like() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    informer
        .add_handler(Filtered::new(even, log.handler()), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 2)], 2);
    idle().await;
    // client-go asks the filter about the last state, and the handler never hears of the end.
    tap.delete(pod("ns/a", 3));
    idle().await;
    assert_eq!(log.lines(), [r#"Added "ns/a"@2 initial"#, r#"Removed "ns/a"@3"#]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_uid_is_removed_and_added_through_the_filter() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    informer
        .add_handler(Filtered::new(even, log.handler()), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod_of("ns/a", 2, "u1")], 2);
    tap.list([pod_of("ns/a", 4, "u2")], 4);
    idle().await;
    assert_eq!(log.lines().len(), 3);
    assert_gapless(&log.changes());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_asynchronous_handler_can_be_filtered() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let record = log.clone();
    let handler = move |change| {
        let record = record.clone();
        async move { record.push(change) }
    };
    informer
        .add_async_handler(Filtered::new(even, handler), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    idle().await;
    assert_eq!(log.lines(), [r#"Added "ns/b"@2 initial"#]);
    running.stop().await;
}

#[test]
fn a_predicate_may_change_its_mind_and_a_resync_shows_it() {
    let least = Arc::new(AtomicU64::new(0));
    let wanted = least.clone();
    let mut filter = Filter::new(move |pod: &PodEntry| pod.object.version >= wanted.load(Ordering::Relaxed));
    let mut apply = |change| filter.apply(change).map(|it| format!("{it:?}"));
    let resynced = || Change::Resynced {
        current: pod("ns/a", 5),
    };
    let new = pod("ns/a", 5);
    assert!(apply(Change::Added { new, initial: false }).is_some());
    assert_eq!(apply(resynced()).unwrap(), r#"Resynced "ns/a"@5"#);
    least.store(9, Ordering::Relaxed);
    assert_eq!(apply(resynced()).unwrap(), r#"Removed "ns/a"@5"#);
    assert_eq!(apply(resynced()), None);
    least.store(1, Ordering::Relaxed);
    assert_eq!(apply(resynced()).unwrap(), r#"Added "ns/a"@5"#);
}

/// A gapless chain of one key, and what the predicate says of each state.
fn chain(steps: &[(u8, bool)]) -> Vec<(Change<ObjectKey, Pod>, bool)> {
    let mut now: Option<PodEntry> = None;
    let mut changes = Vec::new();
    for (at, (what, wanted)) in (1_u64..).zip(steps) {
        let new = pod("ns/a", at);
        let change = match (now.take(), what % 4) {
            (None, _) => Change::Added {
                new: new.clone(),
                initial: what % 2 == 0,
            },
            (Some(old), 0 | 1) => Change::Updated {
                old,
                new: new.clone(),
            },
            (Some(current), 2) => Change::Resynced { current },
            (Some(_), _) => Change::Removed {
                last: new,
                observed: true,
            },
        };
        if !matches!(change, Change::Removed { .. }) {
            now = Some(change.entry().clone());
        }
        changes.push((change, *wanted));
    }
    changes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever the predicate says, and however often it changes its mind.
    #[test]
    fn what_comes_through_is_gapless(steps in prop::collection::vec((0_u8..8, any::<bool>()), 0..40)) {
        let verdict = std::cell::Cell::new(false);
        let mut filter = Filter::new(|_: &PodEntry| verdict.get());
        let mut told = Vec::new();
        let mut there = false;
        for (change, wanted) in chain(&steps) {
            verdict.set(wanted);
            there = wanted && !matches!(change, Change::Removed { .. });
            told.extend(filter.apply(change));
        }
        let end = assert_gapless(&told);
        prop_assert_eq!(!end.is_empty(), there);
    }
}

/// A closure is inferred through the wrapper, too.
#[test]
fn a_filtered_handler_is_a_handler() {
    fn is_async<Q, K>(_: impl AsyncHandler<Q, K>) {}
    is_async::<ObjectKey, Pod>(Filtered::new(even, |_: Change<ObjectKey, Pod>| async {}));
}
