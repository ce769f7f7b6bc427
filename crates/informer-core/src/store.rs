//! Stores: readers take snapshots, one writer commits batches.

use std::{
    error::Error,
    fmt,
    future::{Future, poll_fn},
    ops::ControlFlow,
    sync::Arc,
    task::{Context, Poll},
};

use crate::{Batch, Change, Entry, Incomparable, ResourceVersion};

/// Reads a cache. The seeds' `Store` when a program reads from it, and their `Indexer` when it was built with index functions.
///
/// The suite `conformance::store` of `informer-testkit` checks one, and its snapshots.
pub trait Store<Q, K>: Send + Sync {
    /// The state now, which stays as it is however long it is held. Never waits for the writer, nor makes it wait.
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>>;

    /// Objects in it.
    fn len(&self) -> usize;

    /// Ready once the applied version differs from `seen`; else the waker is kept until the next commit.
    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()>;

    /// Whether nothing is in it.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry of a key.
    fn get(&self, key: &Q) -> Option<Entry<Q, K>>
    where
        Q: Clone,
    {
        self.snapshot().get(key).cloned()
    }

    /// All entries in key order, from one snapshot.
    fn list(&self) -> Vec<Entry<Q, K>>
    where
        Q: Clone,
    {
        let snapshot = self.snapshot();
        let mut entries = Vec::with_capacity(snapshot.len());
        snapshot.scan(None, &mut |entry| {
            entries.push(entry.clone());
            ControlFlow::Continue(())
        });
        entries
    }

    /// The entries under a value of an index, in key order, from one snapshot.
    ///
    /// # Errors
    /// When there is no such index; the error names those that exist.
    fn by_index(&self, index: &str, value: &str) -> Result<Vec<Entry<Q, K>>, UnknownIndex>
    where
        Q: Clone,
    {
        let mut entries = Vec::new();
        self.snapshot().by_index(index, value, &mut |entry| {
            entries.push(entry.clone());
            ControlFlow::Continue(())
        })?;
        Ok(entries)
    }
}

/// Waiting on a store, beside [`Store`] so that the trait stays dyn-compatible. For every store.
pub trait StoreExt<Q, K>: Store<Q, K> {
    /// Waits until the store has applied `version` or a later one. Set a deadline around it.
    ///
    /// # Errors
    /// At once when the versions cannot be compared: waiting would tell nothing.
    fn wait_for(&self, version: &ResourceVersion) -> impl Future<Output = Result<(), Incomparable>> + Send {
        async move {
            loop {
                let applied = self.snapshot().applied().clone();
                // Nothing applied yet is before every version.
                if !applied.is_none() && applied.compare(version)?.is_ge() {
                    return Ok(());
                }
                poll_fn(|cx| self.poll_changed(cx, &applied)).await;
            }
        }
    }
}

impl<Q, K, S: Store<Q, K> + ?Sized> StoreExt<Q, K> for S {}

impl<Q, K, S: Store<Q, K> + ?Sized> Store<Q, K> for Arc<S> {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        (**self).snapshot()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        (**self).poll_changed(cx, seen)
    }
}

/// One point in time of a store, however long it is held. Several queries on it see the same state.
pub trait Snapshot<Q, K>: Send + Sync {
    /// The entry of a key.
    fn get(&self, key: &Q) -> Option<&Entry<Q, K>>;

    /// Visits entries in key order, from behind `after`, until `visit` breaks.
    fn scan(&self, after: Option<&Q>, visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>);

    /// Visits the entries under a value of an index, in key order, until `visit` breaks.
    ///
    /// # Errors
    /// When there is no such index; the error names those that exist.
    fn by_index(
        &self,
        index: &str,
        value: &str,
        visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex>;

    /// The version up to which the source's changes are in it; empty before the first list.
    fn applied(&self) -> &ResourceVersion;

    /// Visits the keys of objects that are there at the source, in no state that could ever be read, in key order, until `visit` breaks. Of one
    /// that was read before, the last state that could be is an entry, which is [stale](Entry::stale).
    ///
    /// A store that does not keep them visits none, and its readers take such an object for absent.
    fn unreadable(&self, visit: &mut dyn FnMut(&Q) -> ControlFlow<()>) {
        let _ = visit;
    }

    /// Whether the object of a key is there in no state that could ever be read: it is not absent.
    fn is_unreadable(&self, key: &Q) -> bool
    where
        Q: PartialEq,
    {
        let mut is_it = false;
        self.unreadable(&mut |unread| {
            is_it = unread == key;
            if is_it {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        is_it
    }

    /// Objects in it.
    fn len(&self) -> usize {
        let mut n = 0;
        self.scan(None, &mut |_| {
            n += 1;
            ControlFlow::Continue(())
        });
        n
    }

    /// Whether nothing is in it.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Derives the values under which an object stands in one index (client-go `IndexFunc`).
///
/// The same object must always give the same values. Duplicates are folded; no value at all leaves the object out of the index.
pub trait IndexFunc<K: ?Sized>: Send + Sync {
    /// Emits the values of `object`.
    ///
    /// # Errors
    /// When it cannot tell: the change is applied to no index and not to the store, and the object is reported.
    fn values(&self, object: &K, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError>;
}

impl<K: ?Sized, F> IndexFunc<K> for F
where
    F: Fn(&K, &mut dyn FnMut(&str)) + Send + Sync,
{
    fn values(&self, object: &K, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        self(object, emit);
        Ok(())
    }
}

/// An index function could not tell the values of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexError {
    message: Box<str>,
}

impl IndexError {
    /// An error with a sentence that says why.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into().into_boxed_str(),
        }
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for IndexError {}

/// There is no index of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownIndex {
    name: Box<str>,
    existing: Vec<Box<str>>,
}

impl UnknownIndex {
    /// The name that was asked for and those that exist.
    #[must_use]
    pub fn new<'a>(name: &str, existing: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            name: name.into(),
            existing: existing.into_iter().map(Into::into).collect(),
        }
    }
}

impl fmt::Display for UnknownIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.existing.is_empty() {
            write!(f, "no index {:?}: this store has none", self.name)
        } else {
            write!(
                f,
                "no index {:?}: there are {}",
                self.name,
                self.existing.join(", ")
            )
        }
    }
}

impl Error for UnknownIndex {}

/// Writes a store. There is one for each, and it alone changes the store.
///
/// # What a commit does with a delta
/// * **Upsert.** An upsert of a key that is not there is stored and told as `Added`, initial if the batch is. Another version of the same
///   object is stored and told as `Updated`, whose `old` is what was stored. Another uid is another object: it is stored and told as
///   `Removed`, not observed, then `Added`. Where objects have no version, the same allocation is the same state, and any other is another.
///   A `Cause::Sync` repeats what is stored and brings nothing back.
/// * **Delete.** A delete takes the entry out and tells `Removed`, with the last state that the delta brings, else with what was stored. A
///   delete of a key that is not there tells nothing. A delete of another uid takes the entry out as well, and tells what was stored, not
///   observed.
/// * **Unreadable.** `Unreadable` turns the entry stale and tells nobody; the next state that can be read ends that. Of a key that has no entry
///   a store may keep that it is unreadable ([`Snapshot::unreadable`]) until a state can be read, it is deleted, or it is not in a `Replace`.
/// * **Replace.** A `Replace` takes the difference: `Removed`, not observed, for what is not in it, and each item as an upsert. What a
///   `Replace` does not change it does not tell. Of two items of one key in a `Replace` the later one counts. What a `Replace` could not
///   read stays and turns stale.
/// * **Resync, Bookmark.** A `Resync` tells `Resynced` for each entry. A `Bookmark` moves the applied version alone.
///
/// The applied version follows `Replace` and `Bookmark`, and, where the batch is in order, upserts by the watch, observed deletes and what
/// could not be read. Where the batch is not in order, only `Replace` and `Bookmark` move the applied version. It moves only forward, unless
/// a `Replace` or `Bookmark` may rewind. Of two versions that cannot be compared the later one to come counts, and an empty one changes
/// nothing.
///
/// The suite `conformance::store_writer` of `informer-testkit` checks one.
pub trait StoreWriter<Q, K>: Send {
    /// Applies the deltas of a batch in one step, visible to readers all at once, and appends what changed.
    ///
    /// Drains from `batch` what it applied. A delta that cannot be applied changes nothing, stays in the batch, and the rest is
    /// applied. An item of a `Replace` that cannot be applied leaves the old state, which turns stale, and stays in the batch as an upsert.
    /// An upsert of the stored stamp changes nothing and tells nobody, except that `Cause::Sync` is told as `Resynced`.
    ///
    /// # Errors
    /// When deltas were left in the batch: which keys, and why.
    fn commit(
        &mut self,
        batch: &mut Batch<Q, K>,
        changes: &mut Vec<Change<Q, K>>,
    ) -> Result<(), CommitError<Q>>;
}

impl<Q, K, W: StoreWriter<Q, K> + ?Sized> StoreWriter<Q, K> for Box<W> {
    fn commit(
        &mut self,
        batch: &mut Batch<Q, K>,
        changes: &mut Vec<Change<Q, K>>,
    ) -> Result<(), CommitError<Q>> {
        (**self).commit(batch, changes)
    }
}

/// Some deltas of a batch could not be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitError<Q> {
    /// Which, and why. Never empty.
    pub failed: Vec<CommitFailure<Q>>,
}

/// One object that could not be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitFailure<Q> {
    /// Its key.
    pub key: Q,
    /// The index that could not take it, where it was one.
    pub index: Option<Arc<str>>,
    /// Why.
    pub cause: IndexError,
}

impl<Q: fmt::Debug> fmt::Display for CommitError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} objects could not be stored", self.failed.len())?;
        if let Some(first) = self.failed.first() {
            write!(f, ", the first {:?}", first.key)?;
            if let Some(index) = &first.index {
                write!(f, " by index {index:?}")?;
            }
            write!(f, ": {}", first.cause)?;
        }
        Ok(())
    }
}

impl<Q: fmt::Debug> Error for CommitError<Q> {}
