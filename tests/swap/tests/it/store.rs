//! A foreign store: a map behind a lock, copied for each snapshot.

use std::{
    collections::BTreeMap,
    ops::{Bound, ControlFlow},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use informer_core::{
    Batch, Cause, Change, CommitError, Delta, Entry, Key, ResourceVersion, Snapshot, Store, StoreWriter,
    UnknownIndex,
};
use informer_sharedinformer::{QueueKind, SharedInformer};
use informer_swap_tests::{Cluster, Program, play};

struct Shelf<Q, K>(Arc<Mutex<Inner<Q, K>>>);

struct Inner<Q, K> {
    now: Copied<Q, K>,
    wakers: Vec<Waker>,
}

struct Copied<Q, K> {
    entries: BTreeMap<Q, Entry<Q, K>>,
    applied: ResourceVersion,
}

impl<Q, K> Clone for Shelf<Q, K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: Clone, K> Clone for Copied<Q, K>
where
    BTreeMap<Q, Entry<Q, K>>: Clone,
{
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            applied: self.applied.clone(),
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static> Shelf<Q, K> {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Inner {
            now: Copied {
                entries: BTreeMap::new(),
                applied: ResourceVersion::none(),
            },
            wakers: Vec::new(),
        })))
    }
}

impl<Q: Key, K: Send + Sync + 'static> Store<Q, K> for Shelf<Q, K> {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        Arc::new(self.0.lock().unwrap().now.clone())
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().now.entries.len()
    }

    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        let mut shelf = self.0.lock().unwrap();
        if shelf.now.applied != *seen {
            return Poll::Ready(());
        }
        shelf.wakers.push(cx.waker().clone());
        Poll::Pending
    }
}

impl<Q: Key, K: Send + Sync + 'static> Snapshot<Q, K> for Copied<Q, K> {
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
        _: &str,
        _: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        Err(UnknownIndex::new(index, []))
    }

    fn applied(&self) -> &ResourceVersion {
        &self.applied
    }
}

impl<Q: Key, K: Send + Sync + 'static> StoreWriter<Q, K> for Shelf<Q, K> {
    fn commit(
        &mut self,
        batch: &mut Batch<Q, K>,
        changes: &mut Vec<Change<Q, K>>,
    ) -> Result<(), CommitError<Q>> {
        let mut shelf = self.0.lock().unwrap();
        for delta in batch.deltas.drain(..) {
            shelf.now.apply(delta, batch.initial, changes);
        }
        shelf.wakers.drain(..).for_each(Waker::wake);
        Ok(())
    }
}

impl<Q: Key, K> Copied<Q, K> {
    fn apply(&mut self, delta: Delta<Q, K>, initial: bool, changes: &mut Vec<Change<Q, K>>) {
        match delta {
            Delta::Upsert(entry, Cause::Sync) => {
                let current = self.entries.get(&entry.key).cloned();
                changes.extend(current.map(|current| Change::Resynced { current }));
            }
            Delta::Upsert(entry, _) => self.put(entry, initial, changes),
            Delta::Delete {
                key,
                stamp,
                last,
                observed,
            } => {
                if let Some(before) = self.entries.remove(&key) {
                    let last = match last {
                        Some(object) if before.stamp.same_object(&stamp) => Entry::new(key, stamp, object),
                        _ => before,
                    };
                    changes.push(Change::Removed { last, observed });
                }
            }
            Delta::Unreadable { key, .. } => {
                if let Some(entry) = self.entries.get_mut(&key) {
                    entry.stale = true;
                }
            }
            Delta::Replace {
                items,
                unreadable,
                at,
                ..
            } => {
                let stays = |key: &Q| unreadable.contains(key) || items.iter().any(|item| item.key == *key);
                let gone: Vec<Q> = self.entries.keys().filter(|key| !stays(key)).cloned().collect();
                for last in gone.iter().filter_map(|key| self.entries.remove(key)) {
                    changes.push(Change::Removed {
                        last,
                        observed: false,
                    });
                }
                for item in items {
                    self.put(item, initial, changes);
                }
                self.applied = at;
            }
            Delta::Resync => {
                let all = self.entries.values().cloned();
                changes.extend(all.map(|current| Change::Resynced { current }));
            }
            Delta::Bookmark { at, .. } => self.applied = at,
        }
    }

    fn put(&mut self, new: Entry<Q, K>, initial: bool, changes: &mut Vec<Change<Q, K>>) {
        let before = self.entries.insert(new.key.clone(), new.clone());
        match before {
            Some(old) if old.stamp == new.stamp => {}
            Some(old) if old.stamp.same_object(&new.stamp) => changes.push(Change::Updated { old, new }),
            before => {
                changes.extend(before.map(|last| Change::Removed {
                    last,
                    observed: false,
                }));
                changes.push(Change::Added { new, initial });
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_map_behind_a_lock_is_the_store() {
    for queue in [|| QueueKind::InOrder, || QueueKind::Coalescing] {
        let cluster = Cluster::default();
        let shelf = Shelf::new();
        let informer = SharedInformer::builder(cluster.source())
            .store(shelf.clone(), Arc::new(shelf.clone()))
            .queue(queue())
            .build()
            .unwrap();
        play(&cluster, Program::new(informer, crate::name)).await;
        assert!(!shelf.is_empty());
    }
}

#[test]
fn a_store_of_ones_own_brings_its_own_indices() {
    let cluster = Cluster::default();
    let shelf = Shelf::new();
    let refused = SharedInformer::builder(cluster.source())
        .store(shelf.clone(), Arc::new(shelf))
        .index(
            "state",
            |_: &informer_swap_tests::Lamp, _: &mut dyn FnMut(&str)| {},
        )
        .build();
    assert!(refused.unwrap_err().to_string().contains("its own indices"));
}
