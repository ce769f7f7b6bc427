//! A store of ordered maps: copied whole for each commit, and swapped in under a lock that is held for a moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::{Bound, ControlFlow},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use informer_core::{
    Batch, Cause, Change, CommitError, CommitFailure, Delta, Entry, IndexError, IndexFunc, Key,
    ResourceVersion, Snapshot, Store, StoreWriter, UnknownIndex,
};

type Functions<K> = Arc<Vec<(Arc<str>, Arc<dyn IndexFunc<K>>)>>;
/// Index and value to keys.
type Buckets<Q> = BTreeMap<(Arc<str>, String), BTreeSet<Q>>;

/// The reading side. Clones read the same.
#[derive(Debug)]
pub struct Shelf<Q, K>(Arc<Mutex<Inner<Q, K>>>);

/// The writing side.
pub struct ShelfWriter<Q, K> {
    shelf: Shelf<Q, K>,
    functions: Functions<K>,
}

struct Inner<Q, K> {
    state: Arc<State<Q, K>>,
    wakers: Vec<Waker>,
}

impl<Q, K> std::fmt::Debug for Inner<Q, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} entries", self.state.entries.len())
    }
}

impl<Q, K> std::fmt::Debug for ShelfWriter<Q, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ShelfWriter").field(&self.shelf.0).finish()
    }
}

struct State<Q, K> {
    functions: Functions<K>,
    entries: BTreeMap<Q, Entry<Q, K>>,
    buckets: Buckets<Q>,
    applied: ResourceVersion,
}

/// An empty store with these index functions.
#[must_use]
pub fn shelf<Q: Key, K>(
    functions: Vec<(Arc<str>, Arc<dyn IndexFunc<K>>)>,
) -> (ShelfWriter<Q, K>, Shelf<Q, K>) {
    let functions = Arc::new(functions);
    let state = State {
        functions: functions.clone(),
        entries: BTreeMap::new(),
        buckets: BTreeMap::new(),
        applied: ResourceVersion::none(),
    };
    let shelf = Shelf(Arc::new(Mutex::new(Inner {
        state: Arc::new(state),
        wakers: Vec::new(),
    })));
    let writer = ShelfWriter {
        shelf: shelf.clone(),
        functions,
    };
    (writer, shelf)
}

impl<Q, K> Shelf<Q, K> {
    fn lock(&self) -> MutexGuard<'_, Inner<Q, K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q, K> Clone for Shelf<Q, K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: Key, K: Send + Sync + 'static> Store<Q, K> for Shelf<Q, K> {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        self.lock().state.clone()
    }

    fn len(&self) -> usize {
        self.lock().state.entries.len()
    }

    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        let mut inner = self.lock();
        if inner.state.applied != *seen {
            return Poll::Ready(());
        }
        inner.wakers.push(cx.waker().clone());
        Poll::Pending
    }
}

impl<Q: Key, K: Send + Sync + 'static> Snapshot<Q, K> for State<Q, K> {
    fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        self.entries.get(key)
    }

    fn scan(&self, after: Option<&Q>, visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>) {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut entries = self.entries.range((from, Bound::Unbounded));
        let _ = entries.try_for_each(|(_, entry)| visit(entry));
    }

    fn by_index(
        &self,
        index: &str,
        value: &str,
        visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        let names = || self.functions.iter().map(|(name, _)| &**name);
        if !names().any(|name| name == index) {
            return Err(UnknownIndex::new(index, names()));
        }
        let keys = self.buckets.get(&(index.into(), value.to_owned()));
        for key in keys.into_iter().flatten() {
            if let Some(entry) = self.entries.get(key)
                && visit(entry).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn applied(&self) -> &ResourceVersion {
        &self.applied
    }
}

impl<Q: Key, K: Send + Sync + 'static> StoreWriter<Q, K> for ShelfWriter<Q, K> {
    fn commit(
        &mut self,
        batch: &mut Batch<Q, K>,
        changes: &mut Vec<Change<Q, K>>,
    ) -> Result<(), CommitError<Q>> {
        let before = self.shelf.lock().state.clone();
        let mut next = Next {
            state: State {
                functions: self.functions.clone(),
                entries: before.entries.clone(),
                buckets: before.buckets.clone(),
                applied: before.applied.clone(),
            },
            initial: batch.initial,
            in_order: batch.in_order,
            changes,
            left: Vec::new(),
            failed: Vec::new(),
        };
        for delta in batch.deltas.drain(..) {
            next.apply(delta);
        }
        let Next {
            state, left, failed, ..
        } = next;
        batch.deltas = left;
        let wakers = {
            let mut inner = self.shelf.lock();
            inner.state = Arc::new(state);
            std::mem::take(&mut inner.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
        if failed.is_empty() {
            Ok(())
        } else {
            Err(CommitError { failed })
        }
    }
}

struct Next<'a, Q, K> {
    state: State<Q, K>,
    initial: bool,
    in_order: bool,
    changes: &'a mut Vec<Change<Q, K>>,
    left: Vec<Delta<Q, K>>,
    failed: Vec<CommitFailure<Q>>,
}

impl<Q: Key, K> Next<'_, Q, K> {
    fn apply(&mut self, delta: Delta<Q, K>) {
        match delta {
            Delta::Upsert(entry, Cause::Sync) => {
                let stored = self.state.entries.get(&entry.key).cloned();
                self.changes
                    .extend(stored.map(|current| Change::Resynced { current }));
            }
            Delta::Upsert(entry, cause) => {
                let version = entry.stamp.version.clone();
                match self.put(entry) {
                    Ok(()) if cause == Cause::Listed => {}
                    Ok(()) => self.reach(version),
                    Err(entry) => self.left.push(Delta::Upsert(entry, cause)),
                }
            }
            Delta::Delete {
                key,
                stamp,
                last,
                observed,
            } => {
                if let Some(stored) = self.take(&key) {
                    let same = stored.stamp.same_object(&stamp);
                    let told = match last.filter(|_| same) {
                        Some(object) => Entry::new(key, stamp.clone(), object),
                        None => stored,
                    };
                    self.changes.push(Change::Removed {
                        last: told,
                        observed: observed && same,
                    });
                }
                if observed {
                    self.reach(stamp.version);
                }
            }
            Delta::Unreadable { key, stamp } => {
                self.doubt(&key);
                self.reach(stamp.version);
            }
            Delta::Replace {
                items,
                unreadable,
                at,
                may_rewind,
            } => {
                self.replace(items, &unreadable);
                self.move_to(at, may_rewind);
            }
            Delta::Resync => {
                let all = self.state.entries.values().cloned();
                self.changes
                    .extend(all.map(|current| Change::Resynced { current }));
            }
            Delta::Bookmark { at, may_rewind } => self.move_to(at, may_rewind),
        }
    }

    fn replace(&mut self, items: Vec<Entry<Q, K>>, unreadable: &[Q]) {
        let mut wanted = BTreeMap::new();
        for item in items {
            wanted.insert(item.key.clone(), item);
        }
        let stored: Vec<Q> = self.state.entries.keys().cloned().collect();
        for key in stored {
            if wanted.contains_key(&key) {
                continue;
            }
            if unreadable.contains(&key) {
                self.doubt(&key);
            } else if let Some(last) = self.take(&key) {
                self.changes.push(Change::Removed {
                    last,
                    observed: false,
                });
            }
        }
        for (key, item) in wanted {
            if let Err(item) = self.put(item) {
                self.doubt(&key);
                self.left.push(Delta::Upsert(item, Cause::Listed));
            }
        }
    }

    fn put(&mut self, new: Entry<Q, K>) -> Result<(), Entry<Q, K>> {
        if let Some(stored) = self.state.entries.get_mut(&new.key) {
            let unchanged = if new.stamp.version.is_none() {
                Arc::ptr_eq(&stored.object, &new.object)
            } else {
                stored.stamp.version == new.stamp.version && stored.stamp.same_object(&new.stamp)
            };
            if unchanged {
                stored.stale = false;
                return Ok(());
            }
        }
        let buckets = match self.buckets_of(&new) {
            Ok(buckets) => buckets,
            Err(failure) => {
                self.failed.push(failure);
                return Err(new);
            }
        };
        let old = self.take(&new.key);
        for bucket in buckets {
            self.state
                .buckets
                .entry(bucket)
                .or_default()
                .insert(new.key.clone());
        }
        self.state.entries.insert(new.key.clone(), new.clone());
        match old {
            Some(old) if old.stamp.same_object(&new.stamp) => self.changes.push(Change::Updated { old, new }),
            old => {
                let removed = old.map(|last| Change::Removed {
                    last,
                    observed: false,
                });
                self.changes.extend(removed);
                let initial = self.initial;
                self.changes.push(Change::Added { new, initial });
            }
        }
        Ok(())
    }

    fn buckets_of(&self, entry: &Entry<Q, K>) -> Result<Vec<(Arc<str>, String)>, CommitFailure<Q>> {
        let mut buckets = Vec::new();
        for (name, function) in self.state.functions.iter() {
            let asked = catch_unwind(AssertUnwindSafe(|| {
                function.values(&entry.object, &mut |value| {
                    buckets.push((name.clone(), value.to_owned()))
                })
            }));
            let answered = asked.unwrap_or_else(|_| Err(IndexError::new("the index function panicked")));
            answered.map_err(|cause| CommitFailure {
                key: entry.key.clone(),
                index: Some(name.clone()),
                cause,
            })?;
        }
        Ok(buckets)
    }

    fn take(&mut self, key: &Q) -> Option<Entry<Q, K>> {
        let taken = self.state.entries.remove(key)?;
        self.state.buckets.retain(|_, keys| {
            keys.remove(key);
            !keys.is_empty()
        });
        Some(taken)
    }

    fn doubt(&mut self, key: &Q) {
        if let Some(entry) = self.state.entries.get_mut(key) {
            entry.stale = true;
        }
    }

    fn reach(&mut self, version: ResourceVersion) {
        if self.in_order {
            self.move_to(version, false);
        }
    }

    fn move_to(&mut self, version: ResourceVersion, may_rewind: bool) {
        let back = self
            .state
            .applied
            .compare(&version)
            .is_ok_and(|order| order.is_gt());
        if !version.is_none() && (may_rewind || !back) {
            self.state.applied = version;
        }
    }
}
