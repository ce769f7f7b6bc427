//! CF-08: an index function fails, or comes late.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use informer_core::{IndexError, IndexFunc};
use informer_sharedinformer::{HandlerOptions, SharedInformer, Trouble};

use crate::support::{BOTH, Informer, Log, Pod, Tap, assert_gapless, idle, key, pass, pod, tapped};

/// Fails for a version, or panics.
struct Bad {
    version: Arc<AtomicU64>,
    panics: bool,
}

impl IndexFunc<Pod> for Bad {
    fn values(&self, pod: &Pod, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        if pod.version == self.version.load(Ordering::Relaxed) {
            assert!(!self.panics, "no values");
            return Err(IndexError::new("no values"));
        }
        emit(&pod.node);
        Ok(())
    }
}

/// Store and index agree.
fn assert_agrees(informer: &Informer) {
    let mut under = 0;
    for node in ["node-0", "node-1", "node-2"] {
        for entry in informer.store().by_index("node", node).unwrap() {
            assert_eq!(entry.object.node, node);
            assert_eq!(informer.store().get(&entry.key).unwrap().stamp, entry.stamp);
            under += 1;
        }
    }
    assert_eq!(under, informer.store().len());
}

#[tokio::test(start_paused = true)]
async fn cf_08_a_function_that_fails_spoils_neither_store_nor_index_nor_handlers() {
    for (queue, panics) in [(0, false), (0, true), (1, false), (1, true)] {
        let version = Arc::new(AtomicU64::new(2));
        let troubles = Arc::new(Mutex::new(Vec::new()));
        let (tap, seen) = (Tap::default(), troubles.clone());
        let bad = Bad {
            version: version.clone(),
            panics,
        };
        let informer = SharedInformer::fed_by(tap.clone())
            .queue(BOTH[queue]())
            .index("node", bad)
            .on_error(move |trouble: &Trouble| seen.lock().unwrap().push(trouble.to_string()))
            .build()
            .unwrap();
        let log = Log::default();
        let handler = informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        // On an add.
        tap.list([pod("ns/a", 1), pod("ns/b", 2), pod("ns/c", 3)], 3);
        idle().await;
        assert!(informer.has_synced() && handler.has_synced());
        assert_agrees(&informer);
        assert!(informer.store().get(&key("ns/b")).is_none());
        let first = troubles.lock().unwrap()[0].clone();
        assert!(
            first.contains(r#""ns/b""#) && first.contains(r#"index "node""#),
            "{first}"
        );
        // On an update: the old state stays, in store and index.
        version.store(4, Ordering::Relaxed);
        tap.modify(pod("ns/a", 4));
        tap.modify(pod("ns/c", 5));
        idle().await;
        assert_agrees(&informer);
        assert_eq!(informer.store().get(&key("ns/a")).unwrap().object.version, 1);
        assert_eq!(informer.store().get(&key("ns/c")).unwrap().object.version, 5);
        assert_eq!(&*informer.status().refusals[0].key, r#""ns/a""#);
        // On a delete: the function is not asked.
        version.store(1, Ordering::Relaxed);
        tap.delete(pod("ns/a", 6));
        idle().await;
        assert_agrees(&informer);
        assert!(informer.store().get(&key("ns/a")).is_none());
        // What it was is told in the end, and nothing is poisoned.
        version.store(0, Ordering::Relaxed);
        pass(Duration::from_secs(20)).await;
        assert!(informer.status().healthy);
        assert_agrees(&informer);
        assert_eq!(assert_gapless(&log.changes()).len(), informer.store().len());
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn cf_08_duplicates_no_value_and_the_empty_one() {
    let (tap, informer) = tapped(BOTH[0]());
    let odd = |pod: &Pod, emit: &mut dyn FnMut(&str)| match pod.version {
        1 => ["x", "x", "y", "x"].into_iter().for_each(emit),
        2 => {}
        _ => emit(""),
    };
    informer.add_index("odd", odd).unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2), pod("ns/c", 3)], 3);
    informer.synced().await.unwrap();
    let n = |value: &str| informer.lister().by_index("odd", value).unwrap().len();
    assert_eq!((n("x"), n("y"), n("")), (1, 1, 1));
    tap.delete(pod("ns/a", 4));
    idle().await;
    assert_eq!((n("x"), n("y"), n("")), (0, 0, 1));
    running.stop().await;
}

/// One that comes late is complete when the call returns, whatever is flowing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cf_08_an_index_added_while_events_flow_is_complete_at_once() {
    let (tap, informer) = tapped(BOTH[0]());
    let running = informer.spawn().unwrap();
    tap.list((0..10_000).map(|n| pod(&format!("ns/{n:05}"), n + 1)), 10_000);
    informer.synced().await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut tasks = tokio::task::JoinSet::new();
    let (flow, stopped) = (tap.clone(), stop.clone());
    tasks.spawn(async move {
        for at in 10_001_u64.. {
            if stopped.load(Ordering::Relaxed) {
                break;
            }
            // No object comes or goes: each stands under its version's last digit.
            while !flow.is_ready() {
                tokio::task::yield_now().await;
            }
            flow.modify(pod(&format!("ns/{:05}", at * 7 % 10_000), at));
            tokio::task::yield_now().await;
        }
    });
    for round in 0..3 {
        let name = format!("digit {round}");
        let by_digit = |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&(pod.version % 10).to_string());
        informer.add_index(&*name, by_digit).unwrap();
        let snapshot = informer.store().snapshot();
        let mut under = 0;
        for digit in 0..10 {
            let count = &mut |_: &_| {
                under += 1;
                std::ops::ControlFlow::Continue(())
            };
            snapshot.by_index(&name, &digit.to_string(), count).unwrap();
        }
        assert_eq!(under, 10_000);
        tokio::task::yield_now().await;
    }
    stop.store(true, Ordering::Relaxed);
    tasks.join_next().await.unwrap().unwrap();
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn cf_08_the_same_name_twice_is_an_error_and_before_the_sync_it_returns_at_once() {
    let (tap, informer) = tapped(BOTH[0]());
    let all = |_: &Pod, emit: &mut dyn FnMut(&str)| emit("all");
    let running = informer.spawn().unwrap();
    idle().await;
    assert!(!informer.has_synced());
    informer.add_index("all", all).unwrap();
    let again = informer.add_index("all", all).unwrap_err();
    assert!(again.to_string().contains(r#"informer "pods": "#), "{again}");
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    informer.synced().await.unwrap();
    assert_eq!(informer.lister().by_index("all", "all").unwrap().len(), 2);
    assert_eq!(
        informer.lister().by_index("node", "node-1").unwrap().len(),
        1,
        "the others are as they were"
    );
    running.stop().await;
}
