//! A store that is slow and plain: what the suites measure others by, and what stands behind a queue or sink under test.

use std::{
    collections::BTreeMap,
    ops::{Bound, ControlFlow},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use informer_core::{
    Batch, Cause, Change, Delta, Entry, Key, ResourceVersion, Snapshot, Stamp, Store, UnknownIndex,
};

/// Whether the store can take an object.
pub(super) type Accepts<'a, K> = &'a dyn Fn(&Arc<K>) -> bool;

/// What a store must hold. Follows the rules of a commit one by one, on a map.
pub(super) struct Reference<Q, K> {
    pub(super) entries: BTreeMap<Q, Entry<Q, K>>,
    pub(super) applied: ResourceVersion,
}

impl<Q: Key, K> Clone for Reference<Q, K> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            applied: self.applied.clone(),
        }
    }
}

impl<Q: Key, K> Reference<Q, K> {
    pub(super) fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            applied: ResourceVersion::none(),
        }
    }

    /// Commits. What the store cannot take stays in the batch.
    pub(super) fn commit(&mut self, batch: &mut Batch<Q, K>, accepts: Accepts<'_, K>) -> Vec<Change<Q, K>> {
        let mut told = Vec::new();
        let mut kept = Vec::new();
        for delta in std::mem::take(&mut batch.deltas) {
            self.apply(
                delta,
                batch.initial,
                batch.in_order,
                accepts,
                &mut told,
                &mut kept,
            );
        }
        batch.deltas = kept;
        told
    }

    fn apply(
        &mut self,
        delta: Delta<Q, K>,
        initial: bool,
        in_order: bool,
        accepts: Accepts<'_, K>,
        told: &mut Vec<Change<Q, K>>,
        kept: &mut Vec<Delta<Q, K>>,
    ) {
        match delta {
            Delta::Upsert(entry, Cause::Sync) => {
                let current = self.entries.get(&entry.key).cloned();
                told.extend(current.map(|current| Change::Resynced { current }));
            }
            Delta::Upsert(entry, cause) => {
                let version = entry.stamp.version.clone();
                if !self.upsert(entry.clone(), initial, accepts, told) {
                    kept.push(Delta::Upsert(entry, cause));
                } else if in_order && cause != Cause::Listed {
                    self.advance(version, false);
                }
            }
            Delta::Delete {
                key,
                stamp,
                last,
                observed,
            } => {
                let version = stamp.version.clone();
                self.delete(&key, stamp, last, observed, told);
                if in_order && observed {
                    self.advance(version, false);
                }
            }
            Delta::Unreadable { key, stamp } => {
                self.turn_stale(&key);
                if in_order {
                    self.advance(stamp.version, false);
                }
            }
            Delta::Replace {
                items,
                unreadable,
                at,
                may_rewind,
            } => {
                self.replace(items, &unreadable, initial, accepts, told, kept);
                self.advance(at, may_rewind);
            }
            Delta::Resync => told.extend(
                self.entries
                    .values()
                    .cloned()
                    .map(|current| Change::Resynced { current }),
            ),
            Delta::Bookmark { at, may_rewind } => self.advance(at, may_rewind),
        }
    }

    fn replace(
        &mut self,
        items: Vec<Entry<Q, K>>,
        unreadable: &[Q],
        initial: bool,
        accepts: Accepts<'_, K>,
        told: &mut Vec<Change<Q, K>>,
        kept: &mut Vec<Delta<Q, K>>,
    ) {
        let listed: BTreeMap<Q, Entry<Q, K>> = items
            .into_iter()
            .map(|entry| (entry.key.clone(), entry))
            .collect();
        let known: Vec<Q> = self.entries.keys().cloned().collect();
        for key in known.iter().filter(|key| !listed.contains_key(key)) {
            if unreadable.contains(key) {
                self.turn_stale(key);
            } else {
                let last = self.entries.remove(key);
                told.extend(last.map(|last| Change::Removed {
                    last,
                    observed: false,
                }));
            }
        }
        for entry in listed.into_values() {
            if !self.upsert(entry.clone(), initial, accepts, told) {
                self.turn_stale(&entry.key);
                kept.push(Delta::Upsert(entry, Cause::Listed));
            }
        }
    }

    /// Whether it was taken.
    fn upsert(
        &mut self,
        new: Entry<Q, K>,
        initial: bool,
        accepts: Accepts<'_, K>,
        told: &mut Vec<Change<Q, K>>,
    ) -> bool {
        if let Some(old) = self.entries.get_mut(&new.key)
            && same_state(old, &new)
        {
            old.stale = false;
            return true;
        }
        if !accepts(&new.object) {
            return false;
        }
        match self.entries.insert(new.key.clone(), new.clone()) {
            Some(old) if old.stamp.same_object(&new.stamp) => told.push(Change::Updated { old, new }),
            old => {
                told.extend(old.map(|last| Change::Removed {
                    last,
                    observed: false,
                }));
                told.push(Change::Added { new, initial });
            }
        }
        true
    }

    fn delete(
        &mut self,
        key: &Q,
        stamp: Stamp,
        last: Option<Arc<K>>,
        observed: bool,
        told: &mut Vec<Change<Q, K>>,
    ) {
        let Some(stored) = self.entries.remove(key) else {
            return;
        };
        let same = stored.stamp.same_object(&stamp);
        let last = match last {
            Some(object) if same => Entry::new(stored.key, stamp, object),
            _ => stored,
        };
        told.push(Change::Removed {
            last,
            observed: observed && same,
        });
    }

    fn turn_stale(&mut self, key: &Q) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.stale = true;
        }
    }

    fn advance(&mut self, to: ResourceVersion, may_rewind: bool) {
        let backward = self.applied.compare(&to).is_ok_and(|order| order.is_gt());
        if !to.is_none() && (may_rewind || !backward) {
            self.applied = to;
        }
    }
}

fn same_state<Q, K>(stored: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
    if new.stamp.version.is_none() {
        Arc::ptr_eq(&stored.object, &new.object)
    } else {
        stored.stamp.version == new.stamp.version && stored.stamp.same_object(&new.stamp)
    }
}

impl<Q: Key, K: Send + Sync + 'static> Snapshot<Q, K> for Reference<Q, K> {
    fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        self.entries.get(key)
    }

    fn scan(&self, after: Option<&Q>, visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>) {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut range = self.entries.range((from, Bound::Unbounded));
        let _ = range.try_for_each(|(_, entry)| visit(entry));
    }

    fn by_index(
        &self,
        index: &str,
        _: &str,
        _: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        Err(UnknownIndex::new(index, []))
    }

    fn applied(&self) -> &ResourceVersion {
        &self.applied
    }
}

/// The reference where somebody else reads it, too.
pub(super) struct SharedReference<Q, K>(Arc<Mutex<Reference<Q, K>>>);

impl<Q: Key, K> SharedReference<Q, K> {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Reference::new())))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Reference<Q, K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q, K> Clone for SharedReference<Q, K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: Key, K: Send + Sync + 'static> Store<Q, K> for SharedReference<Q, K> {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        Arc::new(self.lock().clone())
    }

    fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whoever tests with it looks again by itself.
    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        if self.lock().applied != *seen {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
