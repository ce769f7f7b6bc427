//! Delta queues: where a source pushes and a store's pump pops.

use std::{
    error::Error,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use crate::{Batch, Delta, ResourceVersion, Stamp};

/// The other side is gone: nothing pushed is seen any more, or nothing more will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the delta queue is closed")
    }
}

impl Error for Closed {}

/// Takes deltas from a source. The seeds' `Store`, when a reflector writes to it.
///
/// The suite `conformance::delta_sink` of `informer-testkit` checks one.
pub trait DeltaSink<Q, K>: Send {
    /// Whether a push is welcome. While pending, the driver stops reading its watch; nothing ever blocks a thread.
    ///
    /// # Errors
    /// [`Closed`]: nobody reads any more, and the driver ends.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>>;

    /// Takes a delta. Legal also when not ready (a list that was begun is finished), dropped when closed.
    fn push(&mut self, delta: Delta<Q, K>);

    /// Ready once nobody reads any more, also while a push would be welcome: what a driver waits on beside a quiet watch.
    fn poll_closed(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    /// Repeats the state to whoever is due: pushes [`Delta::Resync`], unless the sink can do it at once and tell how it went.
    ///
    /// # Errors
    /// When what the sink holds could not be repeated. The driver gives up its watch and takes the whole state anew.
    fn resync(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.push(Delta::Resync);
        Ok(())
    }

    /// The version up to which what was pushed is in use, where the sink can tell.
    fn applied(&self) -> Option<ResourceVersion> {
        None
    }

    /// The stored object of exactly this stamp, so that a relist reuses it and drops its own copy.
    fn known(&self, _key: &Q, _stamp: &Stamp) -> Option<Arc<K>> {
        None
    }
}

impl<Q, K, S: DeltaSink<Q, K> + ?Sized> DeltaSink<Q, K> for Box<S> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        (**self).poll_ready(cx)
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        (**self).push(delta);
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        (**self).poll_closed(cx)
    }

    fn resync(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        (**self).resync()
    }

    fn applied(&self) -> Option<ResourceVersion> {
        (**self).applied()
    }

    fn known(&self, key: &Q, stamp: &Stamp) -> Option<Arc<K>> {
        (**self).known(key, stamp)
    }
}

/// A queue of deltas: passive, without lock or waker. [`Handle`](crate::Handle) makes it shared and waits on it.
///
/// As a [`DeltaSink`] it answers `poll_ready` by its length alone and keeps no waker: that is the handle's part.
///
/// Deltas of one key are handed out in the order in which they were pushed. No state is left out; deletes that follow one another may
/// merge, and a delete of what nobody heard of may be dropped. A list is handed out as it came, or as what it means for each key: then a
/// `Bookmark` of its version ends it. Whatever is pushed, popped and settled: once nothing waits, the store that commits the batches holds
/// what the source holds, and has never applied a version before what it brought.
///
/// The suite `conformance::delta_queue` of `informer-testkit` checks one.
pub trait DeltaQueue<Q, K>: DeltaSink<Q, K> {
    /// Moves up to `max` deltas into `batch` (empty on entry) and returns how many.
    ///
    /// Keys in a batch are pairwise distinct; `Replace`, `Resync` and `Bookmark` come alone; deltas of the initial list and later ones
    /// never mix, and the batch says which they are.
    fn pop_into(&mut self, batch: &mut Batch<Q, K>, max: usize) -> usize;

    /// Called once after each popped batch was processed: counts towards synced, and takes back what failed, to be handed out again
    /// unless a later delta made it moot. What failed counts as processed: one bad object keeps nobody unsynced.
    fn settle(&mut self, failed: Vec<Delta<Q, K>>);

    /// Whether the whole of the first replace was processed. Once true, always true.
    fn has_synced(&self) -> bool;

    /// Deltas that wait.
    fn len(&self) -> usize;

    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<Q, K, D: DeltaQueue<Q, K> + ?Sized> DeltaQueue<Q, K> for Box<D> {
    fn pop_into(&mut self, batch: &mut Batch<Q, K>, max: usize) -> usize {
        (**self).pop_into(batch, max)
    }

    fn settle(&mut self, failed: Vec<Delta<Q, K>>) {
        (**self).settle(failed);
    }

    fn has_synced(&self) -> bool {
        (**self).has_synced()
    }

    fn len(&self) -> usize {
        (**self).len()
    }
}
