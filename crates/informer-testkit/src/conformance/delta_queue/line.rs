//! A queue under test with its consumer: a plain store, and an eye on every batch.

use std::{
    collections::BTreeSet,
    sync::Arc,
    task::{Context, Waker},
};

use informer_core::{Batch, Cause, Change, Delta, DeltaQueue, Entry, Stamp, Store};

use super::Rig;
use crate::conformance::{
    Samples,
    check::{Outcome, ensure},
    reference::SharedReference,
    samples,
};

pub(super) type DeltaOf<S> = Delta<<S as Samples>::Key, <S as Samples>::Object>;
pub(super) type EntryOf<S> = Entry<<S as Samples>::Key, <S as Samples>::Object>;
pub(super) type BatchOf<S> = Batch<<S as Samples>::Key, <S as Samples>::Object>;

/// A queue under test.
pub(super) struct Line<'a, S: Samples> {
    pub(super) rig: &'a Rig<S>,
    pub(super) queue: Box<dyn DeltaQueue<S::Key, S::Object>>,
    pub(super) store: SharedReference<S::Key, S::Object>,
    /// What the store was told so far.
    pub(super) told: Vec<Change<S::Key, S::Object>>,
    /// The batch in hand, as the store left it.
    left: Vec<DeltaOf<S>>,
    synced: bool,
}

impl<'a, S: Samples> Line<'a, S> {
    pub(super) fn new(rig: &'a Rig<S>) -> Self {
        let store = SharedReference::new();
        let known: Arc<dyn Store<S::Key, S::Object>> = Arc::new(store.clone());
        Self {
            rig,
            queue: (rig.make)(known),
            store,
            told: Vec::new(),
            left: Vec::new(),
            synced: false,
        }
    }

    /// One that has the first `n` objects listed at version 10, popped and settled.
    pub(super) fn filled(rig: &'a Rig<S>, n: u32) -> Outcome<Self> {
        let mut line = Self::new(rig);
        let items = (0..n).map(|n| line.entry(n, 0, &format!("{}", n + 1)));
        let items = list(items.collect(), "10");
        line.queue.push(items);
        line.drain()?;
        Ok(line)
    }

    pub(super) fn entry(&self, n: u32, state: u32, version: &str) -> EntryOf<S> {
        samples::entry(&self.rig.samples, n, state, version)
    }

    pub(super) fn push(&mut self, deltas: impl IntoIterator<Item = DeltaOf<S>>) {
        deltas.into_iter().for_each(|delta| self.queue.push(delta));
    }

    /// Pops a batch and looks at its form. Nothing is committed or settled.
    pub(super) fn pop(&mut self, max: usize) -> Outcome<BatchOf<S>> {
        let mut batch = Batch::default();
        let waiting = self.queue.len();
        let n = self.queue.pop_into(&mut batch, max);
        let deltas = &batch.deltas;
        ensure!(
            n == deltas.len(),
            "it says that it moved {n} deltas, and moved {deltas:?}"
        );
        ensure!(
            n <= max,
            "asked for at most {max} deltas, it moved {n}: {deltas:?}"
        );
        ensure!(
            n > 0 || max == 0 || waiting == 0,
            "its length is {waiting}, but it hands out nothing"
        );
        let keys: Vec<&S::Key> = deltas.iter().filter_map(Delta::key).collect();
        let distinct: BTreeSet<&S::Key> = keys.iter().copied().collect();
        ensure!(
            distinct.len() == keys.len(),
            "a batch holds one key twice: {deltas:?}"
        );
        ensure!(
            keys.len() == n || n == 1,
            "a delta about the whole does not come alone: {deltas:?}"
        );
        ensure!(
            self.queue.has_synced() == self.synced,
            "a pop, not a settle, changed whether it is synced"
        );
        Ok(batch)
    }

    /// Commits a popped batch, as far as the store accepts its objects. What it does not stays in hand.
    pub(super) fn commit(&mut self, mut batch: BatchOf<S>, accepts: &dyn Fn(&Arc<S::Object>) -> bool) {
        let told = self.store.lock().commit(&mut batch, accepts);
        self.told.extend(told);
        self.left = batch.deltas;
    }

    /// Settles what was popped.
    pub(super) fn settle(&mut self) -> Outcome {
        let left = std::mem::take(&mut self.left);
        self.settle_with(left)
    }

    pub(super) fn settle_with(&mut self, failed: Vec<DeltaOf<S>>) -> Outcome {
        self.queue.settle(failed);
        let synced = self.queue.has_synced();
        ensure!(synced || !self.synced, "it was synced, and is so no more");
        self.synced = synced;
        Ok(())
    }

    /// Pops, commits and settles one batch. `None`: nothing waits.
    pub(super) fn step(&mut self, max: usize) -> Outcome<Option<BatchOf<S>>> {
        let batch = self.pop(max)?;
        let copy = Batch {
            deltas: batch.deltas.clone(),
            initial: batch.initial,
            in_order: batch.in_order,
        };
        self.commit(batch, &|_| true);
        self.settle()?;
        Ok((!copy.is_empty()).then_some(copy))
    }

    /// Pops, commits and settles until nothing waits. Returns the batches.
    pub(super) fn drain(&mut self) -> Outcome<Vec<BatchOf<S>>> {
        let mut batches = Vec::new();
        while let Some(batch) = self.step(1000)? {
            batches.push(batch);
            ensure!(
                batches.len() < 100_000,
                "nothing is pushed, nothing fails, and it does not cease to hand out"
            );
        }
        ensure!(
            self.queue.is_empty() && matches!(self.queue.len(), 0),
            "it hands out nothing, but its length is {}",
            self.queue.len()
        );
        Ok(batches)
    }

    pub(super) fn is_ready(&mut self) -> Outcome<bool> {
        match self.queue.poll_ready(&mut Context::from_waker(Waker::noop())) {
            std::task::Poll::Pending => Ok(false),
            std::task::Poll::Ready(Ok(())) => Ok(true),
            std::task::Poll::Ready(Err(closed)) => {
                Err(format!("a queue cannot be closed, but it says: {closed}"))
            }
        }
    }

    pub(super) fn key(&self, n: u32) -> S::Key {
        self.rig.samples.key(n)
    }
}

/// A whole list.
pub(super) fn list<Q, K>(items: Vec<Entry<Q, K>>, at: &str) -> Delta<Q, K> {
    crate::conformance::rig::list(items, at)
}

/// The nth object is gone.
pub(super) fn gone<S: Samples>(samples: &S, n: u32, version: &str) -> DeltaOf<S> {
    Delta::Delete {
        key: samples.key(n),
        stamp: Stamp::new(version, format!("uid-{n}")),
        last: None,
        observed: true,
    }
}

/// Everything handed out, in its order.
pub(super) fn flat<S: Samples>(batches: &[BatchOf<S>]) -> Vec<DeltaOf<S>> {
    batches.iter().flat_map(|batch| &batch.deltas).cloned().collect()
}

/// The version that a delta of one key is about; `None` for those about the whole.
pub(super) fn version<Q, K>(delta: &Delta<Q, K>) -> Option<&str> {
    match delta {
        Delta::Upsert(entry, _) => Some(entry.stamp.version.as_str()),
        Delta::Delete { stamp, .. } | Delta::Unreadable { stamp, .. } => Some(stamp.version.as_str()),
        Delta::Replace { .. } | Delta::Resync | Delta::Bookmark { .. } => None,
    }
}

/// A change that the watch told.
pub(super) fn modified<Q, K>(entry: Entry<Q, K>) -> Delta<Q, K> {
    Delta::Upsert(entry, Cause::Modified)
}
