//! A reflector straight into a store, without a queue.

use std::{
    error::Error,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{
    Batch, Change, Closed, CommitError, Delta, DeltaSink, Key, ResourceVersion, Stamp, Store, StoreWriter,
};

use crate::ingest::{Panicked, guarded};

type ErrorHook<Q> = Box<dyn FnMut(&CommitError<Q>) + Send>;
type ChangeHook<Q, K> = Box<dyn FnMut(&Change<Q, K>) + Send>;

/// A [`DeltaSink`] that commits each delta to a store at once, on the reflector's own task (client-go's `Reflector` over a `Store`).
///
/// Always ready: what the hooks do delays the reading of the watch. A delta that the store refuses is given to
/// [`on_error`](Self::on_error), logged, and dropped; a resync that it refuses makes the reflector list anew. A hook that panics is logged.
pub struct StoreSink<W, Q, K> {
    writer: W,
    batch: Batch<Q, K>,
    changes: Vec<Change<Q, K>>,
    synced: bool,
    applied: Option<ResourceVersion>,
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
            applied: None,
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

impl<W, Q, K> StoreSink<W, Q, K>
where
    W: StoreWriter<Q, K>,
    Q: Key,
    K: Send + Sync,
{
    fn commit(&mut self, delta: Delta<Q, K>) -> Result<(), CommitError<Q>> {
        let whole = matches!(delta, Delta::Replace { .. });
        let version = version(&delta);
        self.batch.deltas.push(delta);
        self.batch.initial = !self.synced;
        let committed = self.writer.commit(&mut self.batch, &mut self.changes);
        self.batch.deltas.clear();
        self.synced |= whole;
        match &committed {
            Ok(()) => self.applied = version.or_else(|| self.applied.take()),
            Err(error) => {
                tracing::error!(%error, "Store refused objects");
                if let Some(hook) = &mut self.on_error {
                    told(guarded(|| hook(error)));
                }
            }
        }
        for change in self.changes.drain(..) {
            if let Some(hook) = &mut self.on_change {
                told(guarded(|| hook(&change)));
            }
        }
        committed
    }
}

/// How far a delta leads, where it says so.
fn version<Q, K>(delta: &Delta<Q, K>) -> Option<ResourceVersion> {
    let version = match delta {
        Delta::Upsert(entry, _) => &entry.stamp.version,
        Delta::Delete { stamp, .. } | Delta::Unreadable { stamp, .. } => &stamp.version,
        Delta::Replace { at, .. } | Delta::Bookmark { at, .. } => at,
        Delta::Resync => return None,
    };
    (!version.is_none()).then(|| version.clone())
}

fn told(call: Result<(), Panicked>) {
    if let Err(panic) = call {
        tracing::error!(%panic, "Store hook panicked");
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
        // Refused objects were reported.
        let _ = self.commit(delta);
    }

    fn resync(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.commit(Delta::Resync).map_err(Into::into)
    }

    fn applied(&self) -> Option<ResourceVersion> {
        self.applied.clone()
    }

    fn known(&self, key: &Q, stamp: &Stamp) -> Option<Arc<K>> {
        let entry = self.known.as_ref()?.get(key)?;
        (entry.stamp == *stamp && !stamp.version.is_none()).then_some(entry.object)
    }
}
