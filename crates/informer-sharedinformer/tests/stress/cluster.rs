//! The source: two thousand changes a second, and lists between them that show what was missed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use informer_backoff::SplitMix64;
use informer_core::{
    Cause, Clock, Closed, Delta, DeltaSink, Entry, ObjectKey, ResourceVersion, Stamp, TokioClock,
};
use informer_sharedinformer::Sink;

/// Objects that change one by one.
const KEYS: u64 = 300;

/// Objects that come and go together, by lists alone.
pub(crate) const GROUP: usize = 40;

/// Their namespace.
pub(crate) const FLIP: &str = "flip";

/// Changes a second, and in one step.
const RATE: u64 = 2_000;
const STEP: u64 = 20;

/// Steps between two lists.
const LIST_EVERY: u64 = 25;

/// An object that is counted while it lives.
#[derive(Debug)]
pub(crate) struct Pod {
    pub(crate) version: u64,
    pub(crate) node: String,
    alive: Arc<AtomicUsize>,
}

impl Drop for Pod {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Changes and lists that were pushed.
#[derive(Clone, Default)]
pub(crate) struct Pushed(Arc<(AtomicU64, AtomicU64)>);

impl Pushed {
    pub(crate) fn get(&self) -> (u64, u64) {
        (self.0.0.load(Ordering::Relaxed), self.0.1.load(Ordering::Relaxed))
    }
}

pub(crate) struct Cluster {
    alive: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    pushed: Pushed,
    random: SplitMix64,
    version: u64,
    /// Version and uid of what exists.
    live: BTreeMap<ObjectKey, (u64, u64)>,
    generation: u64,
}

impl Cluster {
    pub(crate) fn new(alive: Arc<AtomicUsize>, stop: Arc<AtomicBool>) -> Self {
        Self {
            alive,
            stop,
            pushed: Pushed::default(),
            random: SplitMix64::new(7),
            version: 0,
            live: BTreeMap::new(),
            generation: 0,
        }
    }

    pub(crate) fn counts(&self) -> Pushed {
        self.pushed.clone()
    }

    pub(crate) async fn play(mut self, mut sink: Sink<ObjectKey, Pod>) {
        self.list(&mut sink);
        let mut at = TokioClock.now();
        for step in 1_u64.. {
            at += Duration::from_secs(STEP) / u32::try_from(RATE).unwrap();
            TokioClock.sleep_until(at).await;
            if std::future::poll_fn(|cx| sink.poll_ready(cx)).await == Err(Closed) {
                return;
            }
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            for _ in 0..STEP {
                let delta = self.change();
                sink.push(delta);
                self.pushed.0.0.fetch_add(1, Ordering::Relaxed);
            }
            if step % LIST_EVERY == 0 {
                self.miss();
                self.list(&mut sink);
            }
        }
        std::future::poll_fn(|cx| sink.poll_closed(cx)).await;
    }

    fn next(&mut self, most: u64) -> u64 {
        self.random.next_u64() % most
    }

    fn key(&mut self) -> ObjectKey {
        let n = self.next(KEYS);
        ObjectKey::namespaced(&format!("ns-{}", n % 3), &format!("{n:03}"))
    }

    /// A change that the watch sees.
    fn change(&mut self) -> Delta<ObjectKey, Pod> {
        self.version += 1;
        let (key, version) = (self.key(), self.version);
        match self.live.get(&key).copied() {
            Some((_, uid)) if self.next(4) == 0 => {
                self.live.remove(&key);
                let entry = self.entry(key, version, uid);
                Delta::Delete {
                    key: entry.key,
                    stamp: entry.stamp,
                    last: Some(entry.object),
                    observed: true,
                }
            }
            Some((_, uid)) => self.put(key, version, uid, Cause::Modified),
            None => self.put(key, version, version, Cause::Added),
        }
    }

    fn put(&mut self, key: ObjectKey, version: u64, uid: u64, cause: Cause) -> Delta<ObjectKey, Pod> {
        self.live.insert(key.clone(), (version, uid));
        Delta::Upsert(self.entry(key, version, uid), cause)
    }

    /// Changes that nobody sees before the next list: some objects go, some are made anew, and the group is another.
    fn miss(&mut self) {
        for _ in 0..10 {
            self.version += 1;
            let (key, version) = (self.key(), self.version);
            if self.next(2) == 0 {
                self.live.remove(&key);
            } else {
                self.live.insert(key, (version, version));
            }
        }
        self.generation += 1;
        self.live.retain(|key, _| key.namespace() != Some(FLIP));
        for n in 0..GROUP {
            self.version += 1;
            let name = format!("{}-{n:02}", self.generation);
            let key = ObjectKey::namespaced(FLIP, &name);
            self.live.insert(key, (self.version, self.version));
        }
    }

    /// All that exists, decoded anew but for what the store has.
    fn list(&self, sink: &mut Sink<ObjectKey, Pod>) {
        let items = self.live.iter().map(|(key, (version, uid))| {
            let mut entry = self.entry(key.clone(), *version, *uid);
            if let Some(known) = sink.known(key, &entry.stamp) {
                entry.object = known;
            }
            entry
        });
        let items = items.collect();
        sink.push(Delta::Replace {
            items,
            unreadable: Vec::new(),
            at: ResourceVersion::new(self.version.max(1).to_string()),
            may_rewind: false,
        });
        self.pushed.0.1.fetch_add(1, Ordering::Relaxed);
    }

    fn entry(&self, key: ObjectKey, version: u64, uid: u64) -> Entry<ObjectKey, Pod> {
        self.alive.fetch_add(1, Ordering::Relaxed);
        let pod = Pod {
            version,
            node: format!("node-{}", version % 5),
            alive: self.alive.clone(),
        };
        let stamp = Stamp::new(&*version.to_string(), format!("uid-{uid}"));
        Entry::new(key, stamp, Arc::new(pod))
    }
}
