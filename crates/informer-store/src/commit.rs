//! What a commit does with each delta. The next view is built here, aside; nobody sees it before it is whole.

use std::sync::Arc;

use ahash::{AHashMap, AHashSet};
use informer_core::{
    Batch, Cause, Change, CommitFailure, Delta, Entry, IndexError, Key, ResourceVersion, Stamp,
};
use smallvec::SmallVec;

use crate::{
    index::Values,
    tree::Tree,
    view::{Stored, View},
};

pub(crate) struct Commit<'a, Q: Key, K> {
    view: View<Q, K>,
    touched: bool,
    changes: &'a mut Vec<Change<Q, K>>,
    initial: bool,
    in_order: bool,
    kept: Vec<Delta<Q, K>>,
    failed: Vec<CommitFailure<Q>>,
}

/// The next view if it differs, the deltas that stay in the batch, and why.
type Finished<Q, K> = (Option<View<Q, K>>, Vec<Delta<Q, K>>, Vec<CommitFailure<Q>>);

impl<'a, Q: Key, K> Commit<'a, Q, K> {
    pub(crate) fn new(view: View<Q, K>, batch: &Batch<Q, K>, changes: &'a mut Vec<Change<Q, K>>) -> Self {
        Self {
            view,
            touched: false,
            changes,
            initial: batch.initial,
            in_order: batch.in_order,
            kept: Vec::new(),
            failed: Vec::new(),
        }
    }

    pub(crate) fn finish(self) -> Finished<Q, K> {
        (self.touched.then_some(self.view), self.kept, self.failed)
    }

    pub(crate) fn apply(&mut self, delta: Delta<Q, K>) {
        match delta {
            Delta::Upsert(entry, Cause::Sync) => self.resync_one(&entry.key),
            Delta::Upsert(entry, cause) => {
                let version = entry.stamp.version.clone();
                match self.upsert(entry) {
                    Err(entry) => self.kept.push(Delta::Upsert(entry, cause)),
                    // One object of a list says nothing about the rest of it.
                    Ok(()) if cause == Cause::Listed => {}
                    Ok(()) => self.follow(version),
                }
            }
            Delta::Delete {
                key,
                stamp,
                last,
                observed,
            } => {
                let version = stamp.version.clone();
                self.delete(&key, stamp, last, observed);
                // Concluded from a list: as for one of its objects.
                if observed {
                    self.follow(version);
                }
            }
            Delta::Unreadable { key, stamp } => {
                self.mark_stale(&key);
                self.follow(stamp.version);
            }
            Delta::Replace {
                items,
                unreadable,
                at,
                may_rewind,
            } => {
                self.replace(items, &unreadable);
                self.advance(at, may_rewind);
            }
            Delta::Resync => {
                let current = self.view.objects.values().map(|it| Change::Resynced {
                    current: it.entry.clone(),
                });
                self.changes.extend(current);
            }
            Delta::Bookmark { at, may_rewind } => self.advance(at, may_rewind),
        }
    }

    /// The entry is now this. An entry that an index cannot take comes back, and nothing changed.
    fn upsert(&mut self, new: Entry<Q, K>) -> Result<(), Entry<Q, K>> {
        let Some(stored) = self.view.stored(&new.key) else {
            let values = self.evaluate(&new).map_err(|()| new.clone())?;
            self.put(new.clone(), &[], values);
            self.changes.push(Change::Added {
                new,
                initial: self.initial,
            });
            return Ok(());
        };
        let stored = stored.clone();
        if is_same_state(&stored.entry, &new) {
            if stored.entry.stale {
                self.put_stale(&stored, false);
            }
            return Ok(());
        }
        let values = self.evaluate(&new).map_err(|()| new.clone())?;
        self.put(new.clone(), &stored.values, values);
        let old = stored.entry.clone();
        if old.stamp.same_object(&new.stamp) {
            self.changes.push(Change::Updated { old, new });
        } else {
            self.changes.push(Change::Removed {
                last: old,
                observed: false,
            });
            self.changes.push(Change::Added {
                new,
                initial: self.initial,
            });
        }
        Ok(())
    }

    /// A resync repeats what is stored: a copy that waited in a queue meanwhile brings nothing back, neither an older state nor an object
    /// that is gone.
    fn resync_one(&mut self, key: &Q) {
        if let Some(entry) = self.view.get(key) {
            let current = entry.clone();
            self.changes.push(Change::Resynced { current });
        }
    }

    fn delete(&mut self, key: &Q, stamp: Stamp, last: Option<Arc<K>>, observed: bool) {
        let Some(stored) = self.take(key) else {
            self.forget_unread(key);
            return;
        };
        let stored = stored.entry.clone();
        // The end of another incarnation: of this one only its absence is known.
        let observed = observed && stored.stamp.same_object(&stamp);
        let last = match last {
            Some(object) if stored.stamp.same_object(&stamp) => Entry::new(stored.key, stamp, object),
            _ => stored,
        };
        self.changes.push(Change::Removed { last, observed });
    }

    /// Makes the store hold exactly these: first what vanished, then what is new or different, in the order of the list.
    fn replace(&mut self, items: Vec<Entry<Q, K>>, unreadable: &[Q]) {
        let mut last_of: AHashMap<Q, usize> = AHashMap::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            last_of.insert(item.key.clone(), at);
        }
        let unread: AHashSet<&Q> = unreadable.iter().collect();
        if self.view.unread.len() > 0 {
            self.view.unread = Tree::new();
            self.touched = true;
        }
        let mut vanished = Vec::new();
        for stored in self.view.objects.values() {
            let key = &stored.entry.key;
            if !last_of.contains_key(key) && !unread.contains(key) {
                vanished.push(key.clone());
            }
        }
        for key in unreadable.iter().filter(|key| !last_of.contains_key(*key)) {
            self.mark_stale(key);
        }
        for key in vanished {
            if let Some(stored) = self.take(&key) {
                self.changes.push(Change::Removed {
                    last: stored.entry.clone(),
                    observed: false,
                });
            }
        }
        for (at, item) in items.into_iter().enumerate() {
            if last_of.get(&item.key) != Some(&at) {
                continue;
            }
            if let Err(item) = self.upsert(item) {
                self.mark_stale(&item.key);
                self.kept.push(Delta::Upsert(item, Cause::Listed));
            }
        }
    }

    /// What is stored of it is not the last state; without anything stored, that it is there is kept.
    fn mark_stale(&mut self, key: &Q) {
        match self.view.stored(key).cloned() {
            Some(stored) if !stored.entry.stale => self.put_stale(&stored, true),
            Some(_) => {}
            None => self.touched |= self.view.unread.insert(key.clone(), ()).is_none(),
        }
    }

    fn forget_unread(&mut self, key: &Q) {
        if self.view.unread.len() > 0 {
            self.touched |= self.view.unread.remove(key).is_some();
        }
    }

    fn put_stale(&mut self, stored: &Stored<Q, K>, stale: bool) {
        let entry = Entry {
            stale,
            ..stored.entry.clone()
        };
        let values = stored.values.clone();
        let key = entry.key.clone();
        self.view.objects.insert(key, Arc::new(Stored { entry, values }));
        self.touched = true;
    }

    /// Asks every index before any of them changes. A failure is noted.
    fn evaluate(&mut self, entry: &Entry<Q, K>) -> Result<SmallVec<[Values; 1]>, ()> {
        let mut values = SmallVec::with_capacity(self.view.indices.len());
        for index in &self.view.indices {
            match index.evaluate(&entry.object) {
                Ok(of_it) => values.push(of_it),
                Err(cause) => {
                    self.failed
                        .push(failure(entry.key.clone(), index.name.clone(), cause));
                    return Err(());
                }
            }
        }
        Ok(values)
    }

    fn put(&mut self, entry: Entry<Q, K>, old: &[Values], values: SmallVec<[Values; 1]>) {
        for (at, index) in self.view.indices.iter_mut().enumerate() {
            let old = old.get(at).map_or(&[][..], |it| it);
            index.shift(&entry.key, old, &values[at]);
        }
        self.forget_unread(&entry.key);
        let key = entry.key.clone();
        self.view.objects.insert(key, Arc::new(Stored { entry, values }));
        self.touched = true;
    }

    fn take(&mut self, key: &Q) -> Option<Arc<Stored<Q, K>>> {
        let stored = self.view.objects.remove(key)?;
        for (index, values) in self.view.indices.iter_mut().zip(&stored.values) {
            index.shift(key, values, &[]);
        }
        self.touched = true;
        Some(stored)
    }

    /// The source was followed up to a delta of this version, if the batch is in the source's order.
    fn follow(&mut self, to: ResourceVersion) {
        if self.in_order {
            self.advance(to, false);
        }
    }

    /// Forward only, unless it may rewind. Where versions have no order the last one counts.
    fn advance(&mut self, to: ResourceVersion, may_rewind: bool) {
        let applied = &self.view.applied;
        let backward = applied.compare(&to).is_ok_and(|order| order.is_gt());
        if to.is_none() || to == *applied || (backward && !may_rewind) {
            return;
        }
        self.view.applied = to;
        self.touched = true;
    }
}

fn failure<Q>(key: Q, index: Arc<str>, cause: IndexError) -> CommitFailure<Q> {
    CommitFailure {
        key,
        index: Some(index),
        cause,
    }
}

/// Equal stamps are one state. Without versions nothing tells states apart but the object itself.
fn is_same_state<Q, K>(stored: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
    if new.stamp.version.is_none() {
        return Arc::ptr_eq(&stored.object, &new.object);
    }
    stored.stamp.version == new.stamp.version && stored.stamp.same_object(&new.stamp)
}
