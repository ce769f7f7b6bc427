//! A writer that tells the whole instead of the changes.

use std::fmt;

use informer_core::{Batch, Cause, Change, CommitError, Delta, Entry, Key, Store, StoreWriter};

/// Hands on the full list after every commit that could have changed it (client-go `UndeltaStore`, `undelta_store.go`): for a consumer
/// that wants to be told what there is, not what changed.
///
/// It writes through to any writer and reads from the store behind it. One call comes for each commit that held an upsert, a delete or a
/// list, also if nothing changed by it: that the first list is empty is told too. A resync, a bookmark or a read calls nobody. The calls
/// come in the order of the commits, in key order each, on the thread that commits. What a commit could not apply is not in the list; the
/// rest is, and the error is returned as ever.
///
/// ```
/// use informer_core::{Batch, Delta, StoreWriter};
/// use informer_store::{Indexers, caches::UndeltaStore, indexed};
///
/// let (writer, reader) = indexed::<String, u32>(Indexers::new())?;
/// let mut told = Vec::new();
/// let mut writer = UndeltaStore::new(writer, reader, |all| told.push(all.len()));
/// let first = Delta::Replace { items: vec![], unreadable: vec![], at: "1".into(), may_rewind: false };
/// writer.commit(&mut Batch::of(first, true), &mut Vec::new())?;
/// drop(writer);
/// assert_eq!(told, [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UndeltaStore<W, S, F> {
    writer: W,
    store: S,
    push: F,
}

impl<W, S, F> UndeltaStore<W, S, F> {
    /// Writes through `writer`, and hands to `push` what `store`, which that writer writes, then holds.
    pub fn new<Q: Key, K>(writer: W, store: S, push: F) -> Self
    where
        W: StoreWriter<Q, K>,
        S: Store<Q, K>,
        F: FnMut(Vec<Entry<Q, K>>) + Send,
    {
        Self { writer, store, push }
    }

    /// The store, to read from it.
    pub fn store(&self) -> &S {
        &self.store
    }
}

impl<Q, K, W, S, F> StoreWriter<Q, K> for UndeltaStore<W, S, F>
where
    Q: Key,
    W: StoreWriter<Q, K>,
    S: Store<Q, K>,
    F: FnMut(Vec<Entry<Q, K>>) + Send,
{
    fn commit(
        &mut self,
        batch: &mut Batch<Q, K>,
        changes: &mut Vec<Change<Q, K>>,
    ) -> Result<(), CommitError<Q>> {
        let tells = batch.deltas.iter().any(is_write);
        let result = self.writer.commit(batch, changes);
        if tells {
            (self.push)(self.store.list());
        }
        result
    }
}

fn is_write<Q, K>(delta: &Delta<Q, K>) -> bool {
    match delta {
        Delta::Upsert(_, cause) => *cause != Cause::Sync,
        Delta::Delete { .. } | Delta::Unreadable { .. } | Delta::Replace { .. } => true,
        Delta::Resync | Delta::Bookmark { .. } => false,
    }
}

impl<W: fmt::Debug, S, F> fmt::Debug for UndeltaStore<W, S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UndeltaStore")
            .field("writer", &self.writer)
            .finish_non_exhaustive()
    }
}
