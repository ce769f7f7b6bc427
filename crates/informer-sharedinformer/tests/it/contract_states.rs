//! The sentences of client-go's contract of `SharedInformer` about states: which of them the store shows, in which order, and that they come.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use informer_backoff::SplitMix64;
use informer_core::{Change, ObjectKey, Store};
use informer_sharedinformer::{HandlerOptions, SharedInformer, Sources};

use crate::{
    support::{BOTH, Informer, Log, Pod, assert_gapless, idle, key, pass, pod, tapped},
    world::{Cut, World, nodes, pods},
};

fn following(world: &World, queue: usize) -> Informer {
    SharedInformer::builder(world.source(&pods()))
        .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&pod.node))
        .queue(BOTH[queue]())
        .build()
        .unwrap()
}

fn held(informer: &Informer) -> BTreeMap<ObjectKey, u64> {
    let entries = informer.store().list().into_iter();
    entries.map(|entry| (entry.key, entry.object.version)).collect()
}

/// "The keys in the Store are of the form namespace/name for namespaced objects, and are simply the name for non-namespaced objects."
#[tokio::test(start_paused = true)]
async fn an_object_is_known_by_namespace_and_name_or_by_name_alone() {
    let world = World::with(&["ns/a", "ns2/a"]);
    let informer = following(&world, 0);
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    let keys: Vec<String> = held(&informer).keys().map(ToString::to_string).collect();
    assert_eq!(keys, ["ns/a", "ns2/a"]);
    running.stop().await;
    let world = World::with(&["a"]);
    let informer: Informer = SharedInformer::builder(world.source(&nodes())).build().unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    assert_eq!(held(&informer).into_keys().collect::<Vec<_>>(), [key("a")]);
    running.stop().await;
}

/// "The local cache starts out empty, and gets populated and updated during `Run()`." "if a collection of objects is henceforth unchanging
/// … cache eventually holds an exact copy of that collection"
#[tokio::test(start_paused = true)]
async fn the_store_begins_empty_and_becomes_an_exact_copy() {
    for queue in 0..2 {
        let world = World::with(&["ns/a", "ns/b", "other/c"]);
        let informer = following(&world, queue);
        assert!(informer.store().is_empty() && !informer.has_synced());
        assert!(informer.store().snapshot().applied().is_none());
        let running = informer.spawn().unwrap();
        informer.synced().await.unwrap();
        assert_eq!(held(&informer), world.live());
        running.stop().await;
        assert_eq!(held(&informer), world.live(), "it stays readable");
    }
}

/// "if the local cache ever holds a non-absent state … and the object is eventually removed from the authoritative state then eventually the
/// object is removed from the local cache"
#[tokio::test(start_paused = true)]
async fn what_ends_at_the_source_ends_in_the_store_whether_seen_or_not() {
    for queue in 0..2 {
        let world = World::with(&["ns/seen", "ns/missed", "ns/stays"]);
        let informer = following(&world, queue);
        let running = informer.spawn().unwrap();
        informer.synced().await.unwrap();
        world.delete("ns/seen");
        idle().await;
        assert_eq!(held(&informer).len(), 2);
        world.cut(Cut::Expired);
        world.delete("ns/missed");
        pass(Duration::from_secs(5)).await;
        assert_eq!(held(&informer), world.live());
        running.stop().await;
    }
}

/// "the sequence of states that appears in the informer's cache is a subsequence of the states authoritatively associated with X", and the
/// cache becomes consistent: through random changes, cuts, expired versions and broken connections, as the store shows it and as handlers
/// are told.
#[tokio::test(start_paused = true)]
async fn the_states_of_an_object_are_some_of_the_sources_in_its_order() {
    for seed in 0..40 {
        let world = World::with(&["ns/0", "ns/1", "ns/2"]);
        let informer = following(&world, usize::try_from(seed % 2).unwrap());
        let (log, mut random) = (Log::default(), SplitMix64::new(seed));
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        let mut shown: BTreeMap<ObjectKey, Vec<u64>> = BTreeMap::new();
        for _ in 0..150 {
            let name = format!("ns/{}", random.next_u64() % 5);
            match random.next_u64() % 12 {
                0 => world.cut(Cut::Quiet),
                1 => world.cut(Cut::Expired),
                2 => world.cut(Cut::Broken),
                3 | 4 if world.live().contains_key(&key(&name)) => world.delete(&name),
                _ => world.put(&name),
            }
            if random.next_u64() % 3 == 0 {
                pass(Duration::from_millis(random.next_u64() % 2_000)).await;
            }
            for (key, version) in held(&informer) {
                let states = shown.entry(key).or_default();
                if states.last() != Some(&version) {
                    states.push(version);
                }
            }
        }
        pass(Duration::from_secs(120)).await;
        assert_eq!(held(&informer), world.live(), "seed {seed}");
        let told = assert_gapless(&log.changes());
        assert_eq!(told.len(), world.live().len(), "seed {seed}");
        for change in log.changes() {
            if !matches!(change, Change::Removed { .. }) {
                let states = shown.entry(change.key().clone()).or_default();
                states.push(change.entry().object.version);
            }
        }
        for (key, states) in shown {
            // As the store showed them, then as the handler was told: each rises once.
            let falls = states.windows(2).filter(|pair| pair[1] < pair[0]).count();
            assert!(falls <= 1, "seed {seed}, {key}: {states:?}");
            let history: BTreeSet<u64> = world.history(&key).into_iter().collect();
            let strange = states.iter().find(|state| !history.contains(state));
            assert_eq!(strange, None, "seed {seed}, {key}");
        }
        running.stop().await;
    }
}

/// "Client notifications happen … after the corresponding index updates. It is possible that additional cache and index updates happen before"
#[tokio::test(start_paused = true)]
async fn an_index_shows_a_change_before_a_handler_hears_of_it() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let store = informer.store();
        let ahead = Arc::new(AtomicBool::new(false));
        let seen = ahead.clone();
        let handler = move |change: Change<ObjectKey, Pod>| {
            let now = store.get(change.key()).expect("nothing is removed here");
            let under = store.by_index("node", &now.object.node).unwrap();
            assert!(under.iter().any(|entry| entry.key == *change.key()));
            let (told, shown) = (change.entry().object.version, now.object.version);
            assert!(shown >= told);
            seen.fetch_or(shown > told, Ordering::Relaxed);
            pass(Duration::from_millis(1))
        };
        let handler = informer
            .add_async_handler(handler, HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1)], 1);
        for at in 2..40 {
            tap.modify(pod("ns/a", at));
        }
        pass(Duration::from_secs(1)).await;
        assert_eq!(handler.n_panics(), 0);
        assert!(ahead.load(Ordering::Relaxed), "the store may be further");
        running.stop().await;
    }
}

/// "For a given SharedInformer and client, the notifications are delivered sequentially."
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_one_handler_never_overlap() {
    let (tap, informer) = tapped(BOTH[0]());
    let mut told = Vec::new();
    for blocking in [false, true] {
        let log = Log::default();
        let (inside, mut record) = (Mutex::new(()), log.handler());
        let handler = move |change: &Change<_, _>| {
            let alone = inside.try_lock().expect("one call at a time");
            std::thread::yield_now();
            record(change);
            drop(alone);
        };
        let options = HandlerOptions::default();
        let registration = if blocking {
            informer.add_blocking_handler(handler, options)
        } else {
            informer.add_handler(handler, options)
        };
        told.push((registration.unwrap(), log));
    }
    let running = informer.spawn().unwrap();
    tap.list((0..500).map(|n| pod(&format!("ns/{n}"), n + 1)), 500);
    for (registration, log) in &told {
        registration.synced().await.unwrap();
        assert_eq!((log.len(), registration.n_panics()), (500, 0));
    }
    running.stop().await;
}

/// "the result of a `List` call will not contain two entries with the same namespace and name"
#[tokio::test(start_paused = true)]
async fn a_list_holds_no_key_twice() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1), pod("ns/a", 2), pod("ns/b", 3)], 3);
        informer.synced().await.unwrap();
        idle().await;
        let mut keys = Vec::new();
        informer.store().snapshot().scan(None, &mut |entry| {
            keys.push((entry.key.to_string(), entry.object.version));
            ControlFlow::Continue(())
        });
        assert_eq!(keys, [("ns/a".to_owned(), 2), ("ns/b".to_owned(), 3)]);
        running.stop().await;
    }
}

/// "A delete notification exposes the last locally known non-absent state, except that its ResourceVersion is replaced with a
/// ResourceVersion in which the object is actually absent."
#[tokio::test(start_paused = true)]
async fn a_removal_that_was_seen_has_the_version_of_the_absence() {
    let world = World::with(&["ns/a"]);
    let informer = following(&world, 0);
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    world.delete("ns/a");
    idle().await;
    let Some(Change::Removed { last, observed: true }) = log.changes().pop() else {
        panic!("{:?}", log.lines());
    };
    assert_eq!(last.stamp.version, world.version());
    assert_eq!(last.object.node, "node-1", "the content is the last known");
    running.stop().await;
}
