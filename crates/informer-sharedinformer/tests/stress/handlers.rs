//! Handlers of every form that come and go: invariants 1 and 2, and the silence of relists of invariant 4.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use informer_backoff::SplitMix64;
use informer_core::{Change, ObjectKey, Stamp, Store};
use informer_sharedinformer::{BacklogPolicy, HandlerOptions, Registration};

use crate::{Informer, cluster::Pod, pass};

/// What a handler was told, checked as it comes.
#[derive(Clone)]
pub(crate) struct Chain(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store<ObjectKey, Pod>>,
    now: Mutex<BTreeMap<ObjectKey, Stamp>>,
    n_told: AtomicU64,
    fault: Mutex<Option<String>>,
}

impl Chain {
    pub(crate) fn new(store: Arc<dyn Store<ObjectKey, Pod>>) -> Self {
        Self(Arc::new(Inner {
            store,
            now: Mutex::default(),
            n_told: AtomicU64::new(0),
            fault: Mutex::default(),
        }))
    }

    /// A change: it must follow from the ones before, and the store must show it or a later state.
    pub(crate) fn told(&self, change: &Change<ObjectKey, Pod>) {
        self.0.n_told.fetch_add(1, Ordering::Relaxed);
        if let Some(fault) = self.fault(change) {
            let fault = format!("{change:?} {fault}");
            self.0.fault.lock().unwrap().get_or_insert_with(|| fault.clone());
            panic!("{fault}");
        }
    }

    fn fault(&self, change: &Change<ObjectKey, Pod>) -> Option<&'static str> {
        let mut now = self.0.now.lock().unwrap();
        let before = now.remove(change.key());
        let fault = match (change, &before) {
            (Change::Added { .. }, None) => None,
            (Change::Added { .. }, Some(_)) => Some("was there already"),
            (_, None) => Some("was never added"),
            (Change::Updated { old, new }, Some(before)) => {
                if old.stamp != *before {
                    Some("leaves a gap")
                } else if old.stamp.uid != new.stamp.uid {
                    Some("joins two objects")
                } else if old.stamp == new.stamp {
                    Some("is no change")
                } else {
                    None
                }
            }
            (Change::Removed { last, .. }, Some(before)) => {
                (last.stamp.uid != before.uid).then_some("ends another object")
            }
            (Change::Resynced { current }, Some(before)) => {
                (current.stamp != *before).then_some("repeats another state")
            }
        };
        if !matches!(change, Change::Removed { .. }) {
            now.insert(change.key().clone(), change.entry().stamp.clone());
        }
        drop(now);
        let stored = self.0.store.get(change.key()).map(|entry| entry.object.version);
        let version = change.entry().object.version;
        let behind = match change {
            Change::Removed { .. } => stored.is_some_and(|stored| stored <= version),
            _ => stored.is_some_and(|stored| stored < version),
        };
        fault.or_else(|| behind.then_some("is not in the store yet"))
    }

    fn n_told(&self) -> u64 {
        self.0.n_told.load(Ordering::Relaxed)
    }

    /// Who was told everything ends with what the store holds.
    pub(crate) fn assert_ends_as(&self, store: &Arc<dyn Store<ObjectKey, Pod>>) {
        assert_eq!(*self.0.fault.lock().unwrap(), None);
        let stored = store.list().into_iter();
        let stored: BTreeMap<_, _> = stored.map(|entry| (entry.key, entry.stamp)).collect();
        assert_eq!(*self.0.now.lock().unwrap(), stored);
    }
}

fn options(random: &mut SplitMix64) -> HandlerOptions {
    let options = HandlerOptions::default();
    match random.next_u64() % 4 {
        0 => options.backlog(BacklogPolicy::Unbounded),
        1 => options.backlog(BacklogPolicy::Merge { limit: 0 }),
        2 => options.backlog(BacklogPolicy::Block { limit: 500 }),
        _ => options,
    }
}

fn add(informer: &Informer, random: &mut SplitMix64, chain: &Chain) -> Registration {
    let options = options(random);
    let told = chain.clone();
    let added = match random.next_u64() % 3 {
        0 => informer.add_handler(move |change: &_| told.told(change), options),
        1 => informer.add_blocking_handler(move |change: &_| told.told(change), options),
        _ => {
            let handler = move |change| {
                let told = told.clone();
                async move {
                    told.told(&change);
                    tokio::task::yield_now().await;
                }
            };
            informer.add_async_handler(handler, options)
        }
    };
    added.unwrap()
}

/// Adds and removes handlers of every form until the end.
pub(crate) async fn come_and_go(informer: Informer, seed: u64, stop: Arc<AtomicBool>) {
    let mut random = SplitMix64::new(seed);
    while !stop.load(Ordering::Relaxed) {
        let chain = Chain::new(informer.store());
        let time = Duration::from_micros(random.next_u64() % 30_000);
        if random.next_u64().is_multiple_of(4) {
            let mut changes = informer.subscribe(options(&mut random)).unwrap();
            let reads = async {
                while let Some(change) = changes.next().await {
                    chain.told(&change);
                }
            };
            tokio::select! {
                () = reads => panic!("nobody stopped the informer"),
                () = pass(time) => {}
            }
            continue;
        }
        let handler = add(&informer, &mut random, &chain);
        pass(time).await;
        handler.remove();
        handler.remove();
        handler.removed().await;
        let told = chain.n_told();
        pass(Duration::from_millis(1)).await;
        assert_eq!(chain.n_told(), told, "a call after the removal");
        assert_eq!(handler.n_panics(), 0, "a chain with a gap: see above");
    }
}
