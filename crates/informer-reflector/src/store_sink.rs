//! A reflector straight into a store, without a queue.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{Batch, Change, Closed, CommitError, Delta, DeltaSink, Key, Stamp, Store, StoreWriter};

type ErrorHook<Q> = Box<dyn FnMut(&CommitError<Q>) + Send>;
type ChangeHook<Q, K> = Box<dyn FnMut(&Change<Q, K>) + Send>;

/// A [`DeltaSink`] that commits each delta to a store at once, on the reflector's own task (client-go's `Reflector` over a `Store`).
///
/// Always ready: what the hooks do delays the reading of the watch. A delta that the store refuses is given to
/// [`on_error`](Self::on_error), logged, and dropped.
pub struct StoreSink<W, Q, K> {
    writer: W,
    batch: Batch<Q, K>,
    changes: Vec<Change<Q, K>>,
    synced: bool,
    known: Option<Arc<dyn Store<Q, K>>>,
    on_change: Option<ChangeHook<Q, K>>,
    on_error: Option<ErrorHook<Q>>,
}

impl<W, Q, K> fmt::Debug for StoreSink<W, Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreSink")
            .field("synced", &self.synced)
            .finish_non_exhaustive()
    }
}

impl<W, Q, K> StoreSink<W, Q, K> {
    /// A sink over the writer of a store.
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            batch: Batch::default(),
            changes: Vec::new(),
            synced: false,
            known: None,
            on_change: None,
            on_error: None,
        }
    }

    /// The readers' side of the same store, so that a relist reuses the objects that are already there.
    #[must_use]
    pub fn reusing(mut self, store: Arc<dyn Store<Q, K>>) -> Self {
        self.known = Some(store);
        self
    }

    /// Calls `hook` for each change, after the store has it.
    #[must_use]
    pub fn on_change(mut self, hook: impl FnMut(&Change<Q, K>) + Send + 'static) -> Self {
        self.on_change = Some(Box::new(hook));
        self
    }

    /// Calls `hook` when deltas could not be stored.
    #[must_use]
    pub fn on_error(mut self, hook: impl FnMut(&CommitError<Q>) + Send + 'static) -> Self {
        self.on_error = Some(Box::new(hook));
        self
    }

    /// Whether a whole state was committed.
    pub fn has_synced(&self) -> bool {
        self.synced
    }
}

impl<W, Q, K> DeltaSink<Q, K> for StoreSink<W, Q, K>
where
    W: StoreWriter<Q, K>,
    Q: Key,
    K: Send + Sync,
{
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        Poll::Ready(Ok(()))
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        let whole = matches!(delta, Delta::Replace { .. });
        self.batch.deltas.push(delta);
        self.batch.initial = !self.synced;
        if let Err(error) = self.writer.commit(&mut self.batch, &mut self.changes) {
            tracing::error!(%error, "Store refused objects");
            if let Some(hook) = &mut self.on_error {
                hook(&error);
            }
        }
        self.batch.deltas.clear();
        self.synced |= whole;
        for change in self.changes.drain(..) {
            if let Some(hook) = &mut self.on_change {
                hook(&change);
            }
        }
    }

    fn known(&self, key: &Q, stamp: &Stamp) -> Option<Arc<K>> {
        let entry = self.known.as_ref()?.get(key)?;
        (entry.stamp == *stamp && !stamp.version.is_none()).then_some(entry.object)
    }
}
