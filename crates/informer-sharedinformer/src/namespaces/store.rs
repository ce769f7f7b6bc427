//! The stores of several namespaces as one.

use std::{
    mem,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use informer_core::{Entry, ObjectKey, ResourceVersion, Snapshot, Store, UnknownIndex};

/// A namespace and its store; the empty name stands for a cluster-wide kind's one store.
pub(super) type Part<K> = (Arc<str>, Arc<dyn Store<ObjectKey, K>>);

/// Ordered by namespace, as keys are, so that one part follows the other.
pub(super) struct UnionStore<K> {
    /// Swapped whole.
    parts: Mutex<Arc<[Part<K>]>>,
    waiting: Mutex<Waiting>,
}

/// Who waits for a change, and what each part had applied when they began. Once a part has another version, they were woken by that part.
#[derive(Default)]
struct Waiting {
    applied: Vec<ResourceVersion>,
    wakers: Vec<Waker>,
}

impl Waiting {
    fn register(&mut self, waker: &Waker, applied: impl Iterator<Item = ResourceVersion>) {
        let applied: Vec<_> = applied.collect();
        if self.applied != applied {
            self.applied = applied;
            self.wakers.clear();
        }
        if !self.wakers.iter().any(|it| it.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }
}

impl<K: Send + Sync + 'static> UnionStore<K> {
    pub(super) fn new() -> Self {
        Self {
            parts: Mutex::new(Arc::new([])),
            waiting: Mutex::default(),
        }
    }

    /// Changes which parts there are.
    pub(super) fn set(&self, parts: impl Iterator<Item = Part<K>>) {
        let before = mem::replace(&mut *lock(&self.parts), parts.collect());
        let wakers = mem::take(&mut lock(&self.waiting).wakers);
        wakers.into_iter().for_each(Waker::wake);
        drop(before);
    }

    fn parts(&self) -> Arc<[Part<K>]> {
        lock(&self.parts).clone()
    }
}

impl<K: Send + Sync + 'static> Store<ObjectKey, K> for UnionStore<K> {
    fn snapshot(&self) -> Arc<dyn Snapshot<ObjectKey, K>> {
        Arc::new(UnionSnapshot::of(&self.parts()))
    }

    fn len(&self) -> usize {
        self.parts().iter().map(|(_, store)| store.len()).sum()
    }

    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        loop {
            let parts = self.parts();
            let now = UnionSnapshot::of(&parts);
            if now.applied != *seen {
                return Poll::Ready(());
            }
            let applied = now.parts.iter().map(|(_, snapshot)| snapshot.applied().clone());
            lock(&self.waiting).register(cx.waker(), applied);
            // Parts that came or went before that woke nobody.
            let mut changed = !Arc::ptr_eq(&parts, &self.parts());
            for ((_, store), (_, snapshot)) in parts.iter().zip(&now.parts) {
                changed |= store.poll_changed(cx, snapshot.applied()).is_ready();
            }
            if !changed {
                return Poll::Pending;
            }
        }
    }
}

type PartSnapshot<K> = (Arc<str>, Arc<dyn Snapshot<ObjectKey, K>>);

/// Each part at one moment, one after the other: between namespaces there is no one point in time, as there is none between two watches.
struct UnionSnapshot<K> {
    parts: Vec<PartSnapshot<K>>,
    applied: ResourceVersion,
}

impl<K> UnionSnapshot<K> {
    fn of(parts: &[Part<K>]) -> Self {
        let parts: Vec<_> = parts
            .iter()
            .map(|(namespace, store)| (namespace.clone(), store.snapshot()))
            .collect();
        let applied = earliest(parts.iter().map(|(_, snapshot)| snapshot.applied()));
        Self { parts, applied }
    }

    /// The part that a key belongs to.
    fn part(&self, key: &ObjectKey) -> Option<&dyn Snapshot<ObjectKey, K>> {
        let wanted = key.namespace().unwrap_or_default();
        let at = self
            .parts
            .binary_search_by(|(namespace, _)| (**namespace).cmp(wanted));
        Some(&*self.parts[at.ok()?].1)
    }
}

/// Up to here every part follows its source; none where that cannot be said.
fn earliest<'a>(mut versions: impl Iterator<Item = &'a ResourceVersion>) -> ResourceVersion {
    let first = versions.next().cloned().unwrap_or_default();
    let least = versions.try_fold(first, |least, version| match version.compare(&least) {
        Ok(order) if order.is_lt() => Some(version.clone()),
        Ok(_) => Some(least),
        Err(_) => None,
    });
    least.unwrap_or_default()
}

impl<K: Send + Sync> Snapshot<ObjectKey, K> for UnionSnapshot<K> {
    fn get(&self, key: &ObjectKey) -> Option<&Entry<ObjectKey, K>> {
        self.part(key)?.get(key)
    }

    fn scan(
        &self,
        after: Option<&ObjectKey>,
        visit: &mut dyn FnMut(&Entry<ObjectKey, K>) -> ControlFlow<()>,
    ) {
        for (namespace, snapshot) in &self.parts {
            // Parts before it have only smaller keys, parts behind it only greater ones.
            if after.is_some_and(|after| **namespace < *after.namespace().unwrap_or_default()) {
                continue;
            }
            let mut flow = ControlFlow::Continue(());
            snapshot.scan(after, &mut |entry| {
                flow = visit(entry);
                flow
            });
            if flow.is_break() {
                return;
            }
        }
    }

    fn by_index(
        &self,
        index: &str,
        value: &str,
        visit: &mut dyn FnMut(&Entry<ObjectKey, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        if self.parts.is_empty() {
            return Err(UnknownIndex::new(index, []));
        }
        for (_, snapshot) in &self.parts {
            let mut flow = ControlFlow::Continue(());
            snapshot.by_index(index, value, &mut |entry| {
                flow = visit(entry);
                flow
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn applied(&self) -> &ResourceVersion {
        &self.applied
    }

    fn unreadable(&self, visit: &mut dyn FnMut(&ObjectKey) -> ControlFlow<()>) {
        let mut keys = Vec::new();
        for (_, snapshot) in &self.parts {
            snapshot.unreadable(&mut |key| {
                keys.push(key.clone());
                ControlFlow::Continue(())
            });
        }
        keys.sort_unstable();
        let _end = keys.iter().try_for_each(visit);
    }

    fn is_unreadable(&self, key: &ObjectKey) -> bool {
        self.part(key).is_some_and(|part| part.is_unreadable(key))
    }

    fn len(&self) -> usize {
        self.parts.iter().map(|(_, snapshot)| snapshot.len()).sum()
    }
}

/// Only pointers move under the locks.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_version_is_told_only_where_there_is_one() {
        let of = |versions: &[&str]| {
            let versions: Vec<ResourceVersion> = versions.iter().map(|&it| it.into()).collect();
            earliest(versions.iter()).as_str().to_owned()
        };
        assert_eq!(of(&[]), "");
        assert_eq!(of(&["opaque"]), "opaque");
        assert_eq!(of(&["12", "9", "10"]), "9");
        assert_eq!(of(&["12", "", "10"]), "");
        assert_eq!(of(&["", "12"]), "");
        assert_eq!(of(&["12", "a"]), "");
    }
}
