//! Own writes on top of a store that has not seen them yet.

use std::{
    fmt,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use informer_core::{Change, Entry, Incomparable, Key, Snapshot, Stamp, Store, UnknownIndex};

use super::{mutation_error::MutationError, recent::Recent};
use crate::{
    index::{Index, Values},
    indexers::{DuplicateIndex, Indexers},
};

/// How long, how many, and what a [`MutationCache`] answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MutationOptions {
    /// How long an own write is remembered. Five minutes.
    pub ttl: Duration,
    /// How many keys are remembered; the least recently used goes first. 100.
    pub capacity: NonZeroUsize,
    /// Whether an own write of a key that the store does not hold is answered. It may be one that the store has not seen yet, or one that
    /// was deleted since: without news of deletes it may be answered for the whole of `ttl`. No.
    pub include_adds: bool,
}

impl Default for MutationOptions {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(5 * 60),
            capacity: NonZeroUsize::MIN.saturating_add(99),
            include_adds: false,
        }
    }
}

/// Answers the newer of what the store holds and what the program itself wrote (client-go `MutationCache`, `mutation_cache.go`).
///
/// Tell it of each own write ([`mutation`](Self::mutation)), and, from a handler of the store's informer, of each change
/// ([`on_change`](Self::on_change)): then an own write is forgotten as soon as the store has it, and one that is told late, after the end
/// of its object, is not taken. That end is remembered as an own write is: for a time, and until something newer of the key comes. An
/// answer was true at some time, and is never older than the store's.
///
/// Which of two states is newer [`ResourceVersion::compare`](informer_core::ResourceVersion::compare) says. Where it cannot, the call is
/// an [`Incomparable`], and nothing changes (client-go panics).
///
/// An own write also counts under the values that it has in an index, if the functions of the store's indices were given
/// ([`with_indexers`](Self::with_indexers)), and no longer under those that it had (client-go answers it under its old values too).
///
/// ```
/// use std::{sync::{Arc, Mutex}, time::Instant};
///
/// use informer_core::{Change, Entry, ObjectKey, Stamp};
/// use informer_store::{Indexers, caches::{MutationCache, MutationOptions}, indexed};
///
/// let (_writer, reader) = indexed::<ObjectKey, u32>(Indexers::new())?;
/// let mut options = MutationOptions::default();
/// options.include_adds = true;
/// let own = Arc::new(Mutex::new(MutationCache::new(reader, options)));
///
/// # #[expect(clippy::disallowed_methods, reason = "an edge: the example has no clock")]
/// let now = Instant::now();
/// let key = ObjectKey::namespaced("shop", "cart");
/// let written = Entry::new(key.clone(), Stamp::new("7", "uid-1"), Arc::new(1));
/// own.lock().unwrap().mutation(now, written)?;
/// assert!(own.lock().unwrap().get(now, &key)?.is_some(), "before the store has it");
///
/// let handler = {
///     let own = own.clone();
///     move |change: &Change<ObjectKey, u32>| own.lock().unwrap().on_change(now, change)
/// };
/// let last = Entry::new(key.clone(), Stamp::new("9", "uid-1"), Arc::new(1));
/// handler(&Change::Removed { last, observed: true })?;
/// assert!(own.lock().unwrap().get(now, &key)?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MutationCache<S, Q: Key, K> {
    store: S,
    options: MutationOptions,
    indices: Vec<Index<Q, K>>,
    own: Recent<Q, Own<Q, K>>,
}

enum Own<Q, K> {
    Written(Entry<Q, K>),
    /// This incarnation is gone: a write that is told now, of it or of something older, comes too late.
    Gone(Stamp),
}

impl<Q, K> Own<Q, K> {
    fn stamp(&self) -> &Stamp {
        match self {
            Self::Written(entry) => &entry.stamp,
            Self::Gone(stamp) => stamp,
        }
    }
}

impl<S: Store<Q, K>, Q: Key, K: Send + Sync + 'static> MutationCache<S, Q, K> {
    /// Own writes above `store`.
    #[must_use]
    pub fn new(store: S, options: MutationOptions) -> Self {
        Self {
            store,
            options,
            indices: Vec::new(),
            own: Recent::new(options.capacity, options.ttl),
        }
    }

    /// The same, with the functions of the store's indices.
    ///
    /// # Errors
    /// When two of them have one name.
    pub fn with_indexers(mut self, indexers: Indexers<K>) -> Result<Self, DuplicateIndex> {
        self.indices = indexers.checked()?.into_iter().map(Index::new).collect();
        Ok(self)
    }

    /// The program wrote this and the server answered with it. Returns whether it was taken: something newer, or its end, may be known.
    ///
    /// # Errors
    /// When its version has no order.
    pub fn mutation(&mut self, now: Instant, written: Entry<Q, K>) -> Result<bool, Incomparable> {
        let stamp = &written.stamp;
        // A version that compares with nothing would spoil every later answer of this key.
        stamp.version.compare(&stamp.version)?;
        if let Some(own) = self.own.get(now, &written.key) {
            let order = stamp.version.compare(&own.stamp().version)?;
            let is_gone = match own {
                Own::Written(_) => false,
                Own::Gone(gone) => order.is_eq() || gone.same_object(stamp),
            };
            if order.is_lt() || is_gone {
                return Ok(false);
            }
        }
        self.own.insert(now, written.key.clone(), Own::Written(written));
        Ok(true)
    }

    /// A handler was told of this change.
    ///
    /// # Errors
    /// When the version of what changed and that of an own write of it have no order.
    pub fn on_change(&mut self, now: Instant, change: &Change<Q, K>) -> Result<(), Incomparable> {
        match change {
            Change::Added { new, .. } | Change::Updated { new, .. } => {
                self.on_add_or_update(now, &new.key, &new.stamp)
            }
            Change::Resynced { current } => self.on_add_or_update(now, &current.key, &current.stamp),
            Change::Removed { last, .. } => self.on_delete(now, &last.key, &last.stamp),
        }
    }

    /// The store holds this state: an own write that is not newer is forgotten.
    ///
    /// # Errors
    /// As [`on_change`](Self::on_change).
    pub fn on_add_or_update(&mut self, now: Instant, key: &Q, stamp: &Stamp) -> Result<(), Incomparable> {
        if let Some(own) = self.own.get(now, key)
            // No need to look at the uid: versions are ordered across the incarnations of a key.
            && stamp.version.compare(&own.stamp().version)?.is_ge()
        {
            self.own.remove(key);
        }
        Ok(())
    }

    /// The object is gone, seen last in this state: an own write of it is forgotten, and one that is told later is not taken. An own write
    /// that is newer and of another incarnation stays.
    ///
    /// # Errors
    /// As [`on_change`](Self::on_change).
    pub fn on_delete(&mut self, now: Instant, key: &Q, stamp: &Stamp) -> Result<(), Incomparable> {
        if let Some(own) = self.own.get(now, key) {
            let is_over =
                stamp.version.compare(&own.stamp().version)?.is_ge() || own.stamp().same_object(stamp);
            if !is_over {
                return Ok(());
            }
        }
        self.own.insert(now, key.clone(), Own::Gone(stamp.clone()));
        Ok(())
    }

    /// The newer of the store's and the own state of a key.
    ///
    /// # Errors
    /// When the two have no order.
    pub fn get(&mut self, now: Instant, key: &Q) -> Result<Option<Entry<Q, K>>, Incomparable> {
        match self.store.get(key) {
            Some(stored) => self.newer(now, stored).map(Some),
            None if self.options.include_adds => Ok(match self.own.get(now, key) {
                Some(Own::Written(entry)) => Some(entry.clone()),
                _ => None,
            }),
            // It was not seen yet, or it is gone: nobody can tell.
            None => Ok(None),
        }
    }

    /// The entries under a value of an index, each in the newer of its two states, in key order.
    ///
    /// # Errors
    /// When the store has no such index, two states have no order, or the index function fails for an own write. Adds are included only
    /// from an index whose function is known.
    pub fn by_index(
        &mut self,
        now: Instant,
        index: &str,
        value: &str,
    ) -> Result<Vec<Entry<Q, K>>, MutationError> {
        let snapshot = self.store.snapshot();
        let mut stored = Vec::new();
        snapshot.by_index(index, value, &mut |entry| {
            stored.push(entry.clone());
            std::ops::ControlFlow::Continue(())
        })?;
        let function = self.indices.iter().position(|it| *it.name == *index);
        let mut found = match function {
            Some(at) => self.own_under(now, &*snapshot, at, value)?,
            None if self.options.include_adds => {
                let known = self.indices.iter().map(|it| &*it.name);
                return Err(UnknownIndex::new(index, known).into());
            }
            None => Vec::new(),
        };
        for entry in stored {
            let stamp = entry.stamp.clone();
            let newer = self.newer(now, entry)?;
            // An own state was found above, if the value is still one of its values.
            if function.is_none() || newer.stamp == stamp {
                found.push(newer);
            }
        }
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found)
    }

    /// Keys that are remembered: of own writes, and of ends.
    #[must_use]
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Whether none is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The own writes that count now and have this value.
    fn own_under(
        &self,
        now: Instant,
        snapshot: &dyn Snapshot<Q, K>,
        index: usize,
        value: &str,
    ) -> Result<Vec<Entry<Q, K>>, MutationError> {
        let mut found = Vec::new();
        for (key, own) in self.own.iter(now) {
            let Own::Written(entry) = own else { continue };
            let counts = match snapshot.get(key) {
                None => self.options.include_adds,
                Some(stored) => entry.stamp.version.compare(&stored.stamp.version)?.is_gt(),
            };
            if counts && has(&self.values_of(index, entry)?, value) {
                found.push(entry.clone());
            }
        }
        Ok(found)
    }

    fn values_of(&self, index: usize, entry: &Entry<Q, K>) -> Result<Values, MutationError> {
        let index = &self.indices[index];
        index
            .evaluate(&entry.object)
            .map_err(|cause| MutationError::of_index(index.name.clone(), cause))
    }

    /// The own state of the key if it is newer. One that is not is forgotten.
    fn newer(&mut self, now: Instant, stored: Entry<Q, K>) -> Result<Entry<Q, K>, Incomparable> {
        let Some(own) = self.own.get(now, &stored.key) else {
            return Ok(stored);
        };
        if stored.stamp.version.compare(&own.stamp().version)?.is_ge() {
            self.own.remove(&stored.key);
            return Ok(stored);
        }
        match own {
            Own::Written(entry) => Ok(entry.clone()),
            // The handler was told more than the store holds: the store, then, is what can be answered.
            Own::Gone(_) => Ok(stored),
        }
    }
}

fn has(values: &Values, value: &str) -> bool {
    values.iter().any(|it| **it == *value)
}

impl<S: fmt::Debug, Q: Key, K> fmt::Debug for MutationCache<S, Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MutationCache")
            .field("store", &self.store)
            .field("options", &self.options)
            .field("remembered", &self.own.len())
            .finish_non_exhaustive()
    }
}
