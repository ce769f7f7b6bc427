//! The queue in order: every delta, in the order of its arrival, a list as one.

use std::{
    collections::VecDeque,
    fmt,
    task::{Context, Poll},
};

use ahash::AHashSet;
use informer_core::{Batch, Closed, Delta, DeltaQueue, DeltaSink, Key};

use crate::Options;

/// Hands out every delta in the order of its arrival, across keys too; a list is one delta (client-go `RealFIFO` with atomic events,
/// `the_real_fifo.go`).
///
/// It merges nothing and drops nothing, and it knows no store: the difference between a list and the store is taken by the store.
///
/// * **Batches**: as many deltas as follow one another with pairwise distinct keys, at most [`Options::batch`]. `Replace`, `Resync` and
///   `Bookmark` come alone. What was queued when the first list came, and that list, is initial; what came later is not, and they never mix.
/// * **Synced** once an upsert or delete came before any list, or once the first list was settled.
/// * **Back-pressure** from [`Options::high_water`] waiting deltas on.
/// * **Failed** deltas go back to the front, unless a later delta of their key waits, or a list. Whatever fails counts as processed, so
///   that one bad object does not keep the rest unsynced; a failed first list alone does not. How often to try again is the consumer's
///   decision: what it does not return is not handed out again.
pub struct InOrder<Q, K> {
    options: Options,
    items: VecDeque<Delta<Q, K>>,
    /// Something was pushed that says the source has begun.
    populated: bool,
    synced: bool,
    /// Deltas of the initial population that wait. They follow those that were put back.
    n_initial: usize,
    /// Deltas in front of the initial ones that were put back, and were counted already.
    n_again: usize,
}

impl<Q: Key, K> InOrder<Q, K> {
    /// An empty queue.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            items: VecDeque::new(),
            populated: false,
            synced: false,
            n_initial: 0,
            n_again: 0,
        }
    }

    /// How many deltas the next batch has.
    fn n_next(&self, max: usize) -> usize {
        let mut limit = max.min(self.options.batch).min(self.items.len());
        if self.n_initial > 0 {
            limit = limit.min(self.n_again + self.n_initial);
        }
        let mut keys = AHashSet::with_capacity(limit);
        for (at, delta) in self.items.iter().take(limit).enumerate() {
            match delta.key() {
                Some(key) => {
                    if !keys.insert(key) {
                        return at;
                    }
                }
                None => return at.max(1),
            }
        }
        limit
    }

    /// Whether what waits says more than `failed` does.
    fn is_moot(&self, failed: &Delta<Q, K>, waiting: &AHashSet<Q>) -> bool {
        let waits = |what: fn(&Delta<Q, K>) -> bool| self.items.iter().any(what);
        match failed {
            Delta::Upsert(..) | Delta::Delete { .. } | Delta::Unreadable { .. } => {
                failed.key().is_some_and(|key| waiting.contains(key)) || waits(is_replace)
            }
            Delta::Replace { .. } => waits(is_replace),
            Delta::Resync => waits(|it| matches!(it, Delta::Resync)),
            Delta::Bookmark { .. } => {
                waits(|it| matches!(it, Delta::Bookmark { .. } | Delta::Replace { .. }))
            }
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static> DeltaSink<Q, K> for InOrder<Q, K> {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.items.len() < self.options.high_water {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        let is_first_list = is_replace(&delta) && !self.populated;
        if !matches!(delta, Delta::Resync | Delta::Bookmark { .. }) && !self.populated {
            self.populated = true;
            // A source that begins with a single object has no initial list to wait for (client-go `RealFIFO.Add`).
            self.synced = !is_first_list;
        }
        self.items.push_back(delta);
        if is_first_list {
            self.n_initial = self.items.len();
            self.n_again = 0;
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static> DeltaQueue<Q, K> for InOrder<Q, K> {
    fn pop_into(&mut self, batch: &mut Batch<Q, K>, max: usize) -> usize {
        let n = self.n_next(max);
        batch.in_order = true;
        batch.initial = !self.populated || self.n_initial > 0;
        batch.deltas.extend(self.items.drain(..n));
        let n_again = n.min(self.n_again);
        self.n_again -= n_again;
        self.n_initial = self.n_initial.saturating_sub(n - n_again);
        n
    }

    fn settle(&mut self, failed: Vec<Delta<Q, K>>) {
        if !failed.is_empty() {
            let waiting: AHashSet<Q> = self.items.iter().filter_map(Delta::key).cloned().collect();
            for delta in failed.into_iter().rev() {
                if self.is_moot(&delta, &waiting) {
                    continue;
                }
                if is_replace(&delta) && self.populated && !self.synced {
                    self.n_initial += 1;
                } else {
                    self.n_again += 1;
                }
                self.items.push_front(delta);
            }
        }
        if self.n_initial == 0 {
            self.n_again = 0;
            self.synced |= self.populated;
        }
    }

    fn has_synced(&self) -> bool {
        self.synced
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}

impl<Q, K> fmt::Debug for InOrder<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InOrder")
            .field("waiting", &self.items.len())
            .field("synced", &self.synced)
            .finish_non_exhaustive()
    }
}

fn is_replace<Q, K>(delta: &Delta<Q, K>) -> bool {
    matches!(delta, Delta::Replace { .. })
}
