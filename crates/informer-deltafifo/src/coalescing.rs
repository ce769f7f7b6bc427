//! The coalescing queue as a `DeltaQueue`: the deltas of a key, one per batch.

use std::{
    collections::VecDeque,
    fmt, mem,
    sync::Arc,
    task::{Context, Poll},
};

use ahash::{AHashMap, AHashSet};
use informer_core::{Batch, Closed, Delta, DeltaQueue, DeltaSink, Key, ResourceVersion, Stamp, Store};

use crate::{Options, delta_fifo::DeltaFifo};

/// A [`DeltaFifo`] behind the contract of every queue.
///
/// The keys of a batch are pairwise distinct, so that the deltas of one key come in batches that follow one another, in their order. A
/// list comes as its upserts and deletes, key by key; a `Bookmark` of its version closes it, after the last of them.
///
/// Keys come in the order of the queue, not of the versions, so that no upsert says how far the source was followed
/// ([`Batch::in_order`] is `false`). Bookmarks say it instead: one follows whatever waited when its version came.
///
/// What happens to a listed key while the first list waits comes after that list's bookmark: initial and later deltas never mix.
///
/// **Synced** once an upsert or delete came before any list, or once the bookmark of the first list was settled.
pub struct Coalescing<Q, K> {
    options: Options,
    fifo: DeltaFifo<Q, K>,
    /// Keys that were popped and have deltas left to hand out, in that order.
    spreading: VecDeque<Q>,
    left: AHashMap<Q, VecDeque<Delta<Q, K>>>,
    n_left: usize,
    /// How many of the deltas of a key belong to the initial list, where that is more than one: of those that wait while the list does,
    /// and of those that are left. What is behind them came later.
    initial_waiting: AHashMap<Q, usize>,
    initial_left: AHashMap<Q, usize>,
    /// Keys of the batch in hand.
    in_hand: Vec<Q>,
    marks: VecDeque<Mark>,
    populated: bool,
    synced: bool,
    /// The bookmark of the first list waits.
    initial: bool,
}

/// A bookmark, and its place: behind the key that was the last in the queue when it came.
struct Mark {
    after: u64,
    at: ResourceVersion,
    may_rewind: bool,
    /// It closes a list.
    list: bool,
}

impl<Q: Key, K: Send + Sync + 'static> Coalescing<Q, K> {
    /// An empty queue in front of the store that its consumer writes.
    #[must_use]
    pub fn new(known: Arc<dyn Store<Q, K>>, options: Options) -> Self {
        Self {
            options,
            fifo: DeltaFifo::new(known),
            spreading: VecDeque::new(),
            left: AHashMap::new(),
            n_left: 0,
            initial_waiting: AHashMap::new(),
            initial_left: AHashMap::new(),
            in_hand: Vec::new(),
            marks: VecDeque::new(),
            populated: false,
            synced: false,
            initial: false,
        }
    }

    /// Notes that everything up to this version waits in front of here.
    fn mark(&mut self, at: ResourceVersion, may_rewind: bool, list: bool) {
        let after = self.fifo.n_queued();
        let n_marks = self.marks.len();
        let initial = self.initial;
        if let Some(last) = self.marks.back_mut() {
            // What closes the first list says nothing of what came later.
            let is_fixed = initial && last.list;
            // While the consumer lags, the last mark moves on instead of leaving one behind for each delta. Not the first: it must come
            // some day. Nor one that closes a list.
            if (last.after == after && !is_fixed) || (n_marks > 1 && !last.list && !list) {
                last.after = after;
                if !at.is_none() {
                    last.at = at;
                }
                last.may_rewind |= may_rewind;
                last.list |= list;
                return;
            }
        }
        if list || !at.is_none() {
            self.marks.push_back(Mark {
                after,
                at,
                may_rewind,
                list,
            });
        }
    }

    fn pop_mark(&mut self) -> Option<Delta<Q, K>> {
        let nothing_left = if self.initial {
            self.initial_left.is_empty()
        } else {
            self.spreading.is_empty()
        };
        let due = self.marks.front()?.after <= self.fifo.n_popped() && nothing_left;
        let mark = due.then(|| self.marks.pop_front()).flatten()?;
        self.initial &= !mark.list;
        Some(Delta::Bookmark {
            at: mark.at,
            may_rewind: mark.may_rewind,
        })
    }

    /// The next delta of each key that has some left. While the first list waits, only what belongs to it.
    fn pop_left(&mut self, batch: &mut Batch<Q, K>, max: usize) {
        if self.initial && self.initial_left.is_empty() {
            return;
        }
        for _ in 0..self.spreading.len() {
            if batch.deltas.len() == max {
                return;
            }
            let Some(key) = self.spreading.pop_front() else {
                return;
            };
            if self.initial && !self.take_initial(&key) {
                self.spreading.push_back(key);
                continue;
            }
            let Some(deltas) = self.left.get_mut(&key) else {
                continue;
            };
            batch.deltas.extend(deltas.pop_front());
            self.n_left -= 1;
            if deltas.is_empty() {
                self.left.remove(&key);
            } else {
                self.spreading.push_back(key.clone());
            }
            self.in_hand.push(key);
        }
    }

    /// Whether the next delta that is left of a key belongs to the initial list; counts it as taken.
    fn take_initial(&mut self, key: &Q) -> bool {
        let Some(n) = self.initial_left.get_mut(key) else {
            return false;
        };
        *n -= 1;
        if *n == 0 {
            self.initial_left.remove(key);
        }
        true
    }

    /// The first delta of each key from the queue, as far as the next mark. The rest of its deltas is left for later batches, and so is
    /// all of a key that is in the batch already.
    fn pop_new(&mut self, batch: &mut Batch<Q, K>, max: usize) {
        let in_batch = batch.deltas.iter().filter_map(Delta::key);
        let mut busy: AHashSet<Q> = in_batch.chain(&self.spreading).cloned().collect();
        while batch.deltas.len() < max {
            let end = self.marks.front().map_or(u64::MAX, |mark| mark.after);
            if self.fifo.n_popped() >= end {
                return;
            }
            let Some(popped) = self.fifo.pop_one_more() else {
                return;
            };
            let mut deltas = popped.deltas.into_iter();
            if let Some(n) = self.initial_waiting.remove(&popped.key) {
                self.initial_left.insert(popped.key.clone(), n - 1);
            }
            if busy.insert(popped.key.clone()) {
                batch.deltas.extend(deltas.next());
                self.in_hand.push(popped.key.clone());
            }
            self.leave(popped.key, deltas);
        }
    }

    fn leave(&mut self, key: Q, deltas: impl Iterator<Item = Delta<Q, K>>) {
        let mut deltas = deltas.peekable();
        if deltas.peek().is_none() {
            return;
        }
        let left = self.left.entry(key.clone()).or_default();
        if left.is_empty() {
            self.spreading.push_back(key);
        }
        let before = left.len();
        left.extend(deltas);
        self.n_left += left.len() - before;
    }
}

impl<Q: Key, K: Send + Sync + 'static> DeltaSink<Q, K> for Coalescing<Q, K> {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.fifo.n_deltas() + self.n_left < self.options.high_water {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        if !self.populated && !matches!(delta, Delta::Resync | Delta::Bookmark { .. }) {
            self.populated = true;
            self.initial = matches!(delta, Delta::Replace { .. });
            self.synced = !self.initial;
        }
        match delta {
            Delta::Upsert(entry, cause) => {
                let version = entry.stamp.version.clone();
                self.fifo.upsert(entry, cause);
                self.mark(version, false, false);
            }
            Delta::Delete {
                key,
                stamp,
                last,
                observed,
            } => {
                let version = stamp.version.clone();
                self.fifo.delete(key, stamp, last, observed);
                self.mark(version, false, false);
            }
            Delta::Unreadable { key, stamp } => {
                let version = stamp.version.clone();
                self.fifo.unreadable(key, stamp);
                self.mark(version, false, false);
            }
            Delta::Replace {
                items,
                unreadable,
                at,
                may_rewind,
            } => {
                let is_first = self.initial && self.marks.iter().all(|mark| !mark.list);
                self.fifo.replace(items, unreadable);
                if is_first {
                    self.initial_waiting = self.fifo.several();
                }
                self.mark(at, may_rewind, true);
            }
            Delta::Resync => self.fifo.resync(),
            Delta::Bookmark { at, may_rewind } => self.mark(at, may_rewind, false),
        }
    }

    fn known(&self, key: &Q, stamp: &Stamp) -> Option<Arc<K>> {
        let entry = self.fifo.known().get(key)?;
        (entry.stamp == *stamp && !stamp.version.is_none()).then_some(entry.object)
    }
}

impl<Q: Key, K: Send + Sync + 'static> DeltaQueue<Q, K> for Coalescing<Q, K> {
    fn pop_into(&mut self, batch: &mut Batch<Q, K>, max: usize) -> usize {
        let max = max.min(self.options.batch);
        batch.in_order = false;
        batch.initial = self.initial || !self.populated;
        if max == 0 {
            return 0;
        }
        if let Some(bookmark) = self.pop_mark() {
            batch.deltas.push(bookmark);
        } else {
            self.pop_left(batch, max);
            self.pop_new(batch, max);
        }
        batch.deltas.len()
    }

    fn settle(&mut self, failed: Vec<Delta<Q, K>>) {
        for key in mem::take(&mut self.in_hand) {
            // One with deltas left is still on its way.
            if !self.left.contains_key(&key) {
                self.fifo.done(&key);
            }
        }
        for delta in failed {
            match delta.key() {
                Some(key) => {
                    if !self.left.contains_key(key) && self.fifo.waiting(key).is_none() {
                        self.fifo.queue(delta);
                    }
                }
                None => {
                    if let Delta::Bookmark { at, may_rewind } = delta
                        && self.marks.is_empty()
                    {
                        self.mark(at, may_rewind, false);
                    }
                }
            }
        }
        self.synced |= self.populated && !self.initial;
    }

    fn has_synced(&self) -> bool {
        self.synced
    }

    fn len(&self) -> usize {
        self.fifo.n_deltas() + self.n_left + self.marks.len()
    }
}

impl<Q, K> fmt::Debug for Coalescing<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coalescing")
            .field("fifo", &self.fifo)
            .field("left", &self.n_left)
            .field("marks", &self.marks.len())
            .field("synced", &self.synced)
            .finish_non_exhaustive()
    }
}
