//! The coalescing queue on its own terms: all deltas of one key at a time.

use std::{collections::VecDeque, fmt, ops::ControlFlow, sync::Arc};

use ahash::{AHashMap, AHashSet};
use informer_core::{Cause, Delta, Entry, Key, Stamp, Store};

use crate::deltas::{Deltas, Outcome};

/// A list of deltas per key and a queue of keys (client-go `DeltaFIFO`, `delta_fifo.go`): the queue of client-go up to 1.32.
///
/// * A key waits once, where its first delta put it; [`pop`](Self::pop) hands out all that happened to it since. There is no order across
///   keys.
/// * Only deletes that follow one another merge, and the richer one stays.
/// * A list becomes one `Replaced` delta per object, and a `Deleted` one, concluded, for each key that is known or waits and is not in the
///   list.
/// * A delete of a key that is neither known nor waits is dropped, as nobody ever heard of it. That its state cannot be read is word of it.
/// * A resync queues what is known as `Sync` deltas, but for keys about which something waits.
/// * **Synced** once an upsert or delete came before any list, or once every key that waited after the first list was popped.
///
/// What is known is the store that the consumer writes. A key that was popped counts by where its deltas lead, not by what the store
/// says, until the next `pop`, [`done`](Self::done) or [`requeue`](Self::requeue): a list that arrives while the consumer still works on
/// it is judged right, without a lock around the consumer (kubernetes#115658).
pub struct DeltaFifo<Q, K> {
    known: Arc<dyn Store<Q, K>>,
    queue: VecDeque<Q>,
    waiting: AHashMap<Q, Deltas<Q, K>>,
    n_deltas: usize,
    /// Where what was popped leaves its key.
    in_hand: AHashMap<Q, Outcome<Q, K>>,
    /// Keys queued and popped ever: a place in the queue is named by how many were queued before it.
    n_queued: u64,
    n_popped: u64,
    populated: bool,
    synced: bool,
    /// Keys of the initial population that wait.
    n_initial: usize,
}

/// All that happened to one key.
pub struct Popped<Q, K> {
    /// The key.
    pub key: Q,
    /// What happened, oldest first. Never empty.
    pub deltas: Deltas<Q, K>,
    /// It belongs to the initial list.
    pub initial: bool,
}

impl<Q: Key, K: Send + Sync + 'static> DeltaFifo<Q, K> {
    /// An empty queue in front of the store that its consumer writes.
    #[must_use]
    pub fn new(known: Arc<dyn Store<Q, K>>) -> Self {
        Self {
            known,
            queue: VecDeque::new(),
            waiting: AHashMap::new(),
            n_deltas: 0,
            in_hand: AHashMap::new(),
            n_queued: 0,
            n_popped: 0,
            populated: false,
            synced: false,
            n_initial: 0,
        }
    }

    /// The watch said ADDED.
    pub fn add(&mut self, entry: Entry<Q, K>) {
        self.upsert(entry, Cause::Added);
    }

    /// The watch said MODIFIED.
    pub fn update(&mut self, entry: Entry<Q, K>) {
        self.upsert(entry, Cause::Modified);
    }

    /// The object is now this, for that reason.
    pub fn upsert(&mut self, entry: Entry<Q, K>, cause: Cause) {
        self.populate();
        self.queue(Delta::Upsert(entry, cause));
    }

    /// It is gone; `last` is its last state where the source sent it. Nothing, if nobody ever heard of it.
    pub fn delete(&mut self, key: Q, stamp: Stamp, last: Option<Arc<K>>, observed: bool) {
        self.populate();
        if self.exists(&key) {
            self.queue(Delta::Delete {
                key,
                stamp,
                last,
                observed,
            });
        }
    }

    /// It exists in a state that could not be decoded.
    pub fn unreadable(&mut self, key: Q, stamp: Stamp) {
        self.populate();
        self.queue(Delta::Unreadable { key, stamp });
    }

    /// The source holds exactly these, and some that could not be read.
    pub fn replace(&mut self, items: Vec<Entry<Q, K>>, unreadable: Vec<Q>) {
        let listed: AHashSet<Q> = items
            .iter()
            .map(|item| &item.key)
            .chain(&unreadable)
            .cloned()
            .collect();
        let readable: AHashSet<Q> = items.iter().map(|item| item.key.clone()).collect();
        for item in items {
            self.queue(Delta::Upsert(item, Cause::Listed));
        }
        for key in unreadable {
            // Listed twice, once readable: it was read.
            if !readable.contains(&key) {
                let stamp = Stamp::default();
                self.queue(Delta::Unreadable { key, stamp });
            }
        }
        for vanished in self.not_in(&listed) {
            self.queue(vanished);
        }
        if !self.populated {
            self.populated = true;
            self.n_initial = self.queue.len();
            self.synced = self.n_initial == 0;
        }
    }

    /// Queues what is known once more, but for keys about which something waits or is in hand: their handlers are told anyway, and a
    /// copy from now would take them back.
    pub fn resync(&mut self) {
        let mut entries = Vec::new();
        self.known.snapshot().scan(None, &mut |entry| {
            if !self.waiting.contains_key(&entry.key) && !self.in_hand.contains_key(&entry.key) {
                entries.push(entry.clone());
            }
            ControlFlow::Continue(())
        });
        for entry in entries {
            self.queue(Delta::Upsert(entry, Cause::Sync));
        }
    }

    /// Takes the next key and all that happened to it. What was popped before counts as done.
    pub fn pop(&mut self) -> Option<Popped<Q, K>> {
        self.in_hand.clear();
        self.pop_one_more()
    }

    /// Takes the next key, processes it, and puts it back if that failed (client-go `Pop`, up to 1.32 with `ErrRequeue`). `None`: nothing
    /// waits.
    pub fn pop_with<E>(
        &mut self,
        process: impl FnOnce(&Popped<Q, K>) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        let popped = self.pop()?;
        let result = process(&popped);
        match result {
            Ok(()) => self.done(&popped.key),
            Err(_) => self.requeue(popped),
        }
        Some(result)
    }

    /// The consumer has processed a key: from now on it counts as the store says.
    pub fn done(&mut self, key: &Q) {
        self.in_hand.remove(key);
    }

    /// The consumer could not process it: it waits again, behind the others, unless something newer of its key waits already (client-go
    /// `addIfNotPresent`).
    pub fn requeue(&mut self, popped: Popped<Q, K>) {
        self.in_hand.remove(&popped.key);
        if !self.waiting.contains_key(&popped.key) {
            for delta in popped.deltas {
                self.queue(delta);
            }
        }
    }

    /// Whether the initial population was popped.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.synced
    }

    /// Keys that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// What waits for a key.
    #[must_use]
    pub fn waiting(&self, key: &Q) -> Option<&Deltas<Q, K>> {
        self.waiting.get(key)
    }

    /// As [`pop`](Self::pop), beside those in hand.
    pub(crate) fn pop_one_more(&mut self) -> Option<Popped<Q, K>> {
        let key = self.queue.pop_front()?;
        let deltas = self
            .waiting
            .remove(&key)
            .expect("every key in the queue has deltas");
        let initial = !self.synced;
        self.n_popped += 1;
        self.n_deltas -= deltas.len();
        if self.n_initial > 0 {
            self.n_initial -= 1;
            self.synced |= self.n_initial == 0;
        }
        let before = || self.present(&key).map_or(Outcome::Unread, Outcome::Present);
        let left = deltas.outcome().unwrap_or_else(before);
        self.in_hand.insert(key.clone(), left);
        Some(Popped { key, deltas, initial })
    }

    pub(crate) fn n_deltas(&self) -> usize {
        self.n_deltas
    }

    pub(crate) fn n_queued(&self) -> u64 {
        self.n_queued
    }

    pub(crate) fn n_popped(&self) -> u64 {
        self.n_popped
    }

    /// How many deltas wait for each key that has several.
    pub(crate) fn several(&self) -> AHashMap<Q, usize> {
        let several = self.waiting.iter().filter(|(_, deltas)| deltas.len() > 1);
        several.map(|(key, deltas)| (key.clone(), deltas.len())).collect()
    }

    pub(crate) fn known(&self) -> &dyn Store<Q, K> {
        &*self.known
    }

    /// Appends to what waits for the key; a key without anything goes to the end of the queue.
    pub(crate) fn queue(&mut self, delta: Delta<Q, K>) {
        let Some(key) = delta.key() else { return };
        if !self.waiting.contains_key(key) {
            self.queue.push_back(key.clone());
            self.n_queued += 1;
        }
        let deltas = self.waiting.entry(key.clone()).or_insert_with(Deltas::new);
        if deltas.push(delta) {
            self.n_deltas += 1;
        }
    }

    /// The first sign that the source is there. One that is not a list makes the queue synced: there is no initial list to wait for.
    fn populate(&mut self) {
        if !self.populated {
            self.populated = true;
            self.synced = true;
        }
    }

    /// Whether anybody heard, or is about to hear, of the key.
    fn exists(&self, key: &Q) -> bool {
        self.waiting.contains_key(key)
            || match self.in_hand.get(key) {
                Some(left) => !matches!(left, Outcome::Absent),
                None => self.known.get(key).is_some() || self.known.snapshot().is_unreadable(key),
            }
    }

    /// The last state of a key that does not wait, if any could be read.
    fn present(&self, key: &Q) -> Option<Entry<Q, K>> {
        match self.in_hand.get(key) {
            Some(Outcome::Present(entry)) => Some(entry.clone()),
            Some(Outcome::Unread | Outcome::Absent) => None,
            None => self.known.get(key),
        }
    }

    /// A concluded delete for each key that waits, is in hand or is known, and is not in the list.
    fn not_in(&self, listed: &AHashSet<Q>) -> Vec<Delta<Q, K>> {
        let mut vanished = Vec::new();
        for key in self.queue.iter().filter(|key| !listed.contains(key)) {
            let deltas = &self.waiting[key];
            // One more would merge with it and tell nothing new.
            if !matches!(deltas.newest(), Some(Delta::Delete { .. })) {
                let last = deltas.last_state().or_else(|| self.present(key));
                vanished.push(concluded(key.clone(), last));
            }
        }
        let mut rest: Vec<(Q, Option<Entry<Q, K>>)> = Vec::new();
        let is_rest = |key: &Q| !listed.contains(key) && !self.waiting.contains_key(key);
        let is_stored = |key: &Q| is_rest(key) && !self.in_hand.contains_key(key);
        let known = self.known.snapshot();
        known.scan(None, &mut |entry| {
            if is_stored(&entry.key) {
                rest.push((entry.key.clone(), Some(entry.clone())));
            }
            ControlFlow::Continue(())
        });
        known.unreadable(&mut |key| {
            if is_stored(key) {
                rest.push((key.clone(), None));
            }
            ControlFlow::Continue(())
        });
        for (key, left) in self.in_hand.iter().filter(|(key, _)| is_rest(key)) {
            match left {
                Outcome::Present(entry) => rest.push((key.clone(), Some(entry.clone()))),
                Outcome::Unread => rest.push((key.clone(), None)),
                Outcome::Absent => {}
            }
        }
        rest.sort_by(|(a, _), (b, _)| a.cmp(b));
        vanished.extend(rest.into_iter().map(|(key, last)| concluded(key, last)));
        vanished
    }
}

/// A delete that nobody saw (client-go `DeletedFinalStateUnknown`), with the last state that is known.
fn concluded<Q, K>(key: Q, last: Option<Entry<Q, K>>) -> Delta<Q, K> {
    let (stamp, last) = match last {
        Some(entry) => (entry.stamp, Some(entry.object)),
        None => (Stamp::default(), None),
    };
    Delta::Delete {
        key,
        stamp,
        last,
        observed: false,
    }
}

impl<Q, K> fmt::Debug for DeltaFifo<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeltaFifo")
            .field("keys", &self.queue.len())
            .field("deltas", &self.n_deltas)
            .field("in_hand", &self.in_hand.len())
            .field("synced", &self.synced)
            .finish_non_exhaustive()
    }
}

impl<Q: fmt::Debug, K> fmt::Debug for Popped<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Popped")
            .field("deltas", &self.deltas)
            .field("initial", &self.initial)
            .finish_non_exhaustive()
    }
}
