//! The stores of several namespaces as one.

use std::{
    convert::Infallible,
    mem,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use informer_core::{Entry, ObjectKey, ResourceVersion, Snapshot, Store, UnknownIndex};

/// A namespace and its store; the empty name stands for a cluster-wide kind's one store, or for all the other namespaces.
pub(super) type Part<K> = (Arc<str>, Arc<dyn Store<ObjectKey, K>>);

/// Ordered by namespace, as keys are, so that one part follows the other; but that of all the other namespaces, which has them between.
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

/// A namespace and what it holds at one moment; the empty name stands for all the other namespaces, or for a kind that lives in none.
pub type PartSnapshot<K> = (Arc<str>, Arc<dyn Snapshot<ObjectKey, K>>);

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
        match at {
            Ok(at) => Some(&*self.parts[at].1),
            Err(_) => others(&self.parts),
        }
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
        let each = |(namespace, snapshot): &PartSnapshot<K>, visit: &mut Visit<'_, K>| {
            // Parts before it have only smaller keys, parts behind it only greater ones.
            let before = |after: &ObjectKey| **namespace < *after.namespace().unwrap_or_default();
            if namespace.is_empty() || !after.is_some_and(before) {
                snapshot.scan(after, visit);
            }
            Ok::<_, Infallible>(())
        };
        let Ok(()) = in_key_order(&self.parts, &each, visit);
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
        let each = |(_, snapshot): &PartSnapshot<K>, visit: &mut Visit<'_, K>| {
            snapshot.by_index(index, value, visit)
        };
        in_key_order(&self.parts, &each, visit)
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

/// Is shown one entry after the other, until it breaks off.
pub type Visit<'a, K> = dyn FnMut(&Entry<ObjectKey, K>) -> ControlFlow<()> + 'a;

/// The part of all the other namespaces, or of a kind that lives in none.
fn others<K>(parts: &[PartSnapshot<K>]) -> Option<&dyn Snapshot<ObjectKey, K>> {
    let (name, snapshot) = parts.first()?;
    name.is_empty().then_some(&**snapshot)
}

/// Shows what one part holds.
pub type Show<'a, K, E> = dyn Fn(&PartSnapshot<K>, &mut Visit<'_, K>) -> Result<(), E> + 'a;

/// Visits what `each` of these parts shows in key order, where each shows its own in that order: one part after the other, or in between what
/// the part under the empty name shows, which stands for all the other namespaces. `each` is given a part and a visitor, and stops when that
/// says so; for whoever reads the [stores](crate::Namespaces::stores) of several namespaces by itself.
///
/// # Errors
/// The first of `each`.
pub fn in_key_order<K, E>(
    parts: &[PartSnapshot<K>],
    each: &Show<'_, K, E>,
    visit: &mut Visit<'_, K>,
) -> Result<(), E> {
    let (rest, named) = parts.split_at(usize::from(others(parts).is_some()));
    let mut named = named.iter().peekable();
    let mut flow = ControlFlow::Continue(());
    let mut failed = None;
    if let [rest] = rest {
        each(rest, &mut |entry| {
            let namespace = entry.key.namespace().unwrap_or_default();
            while let Some(part) = named.next_if(|(name, _)| **name < *namespace) {
                let shown = each(part, &mut |entry| {
                    flow = visit(entry);
                    flow
                });
                failed = shown.err();
                if failed.is_some() || flow.is_break() {
                    flow = ControlFlow::Break(());
                    return flow;
                }
            }
            flow = visit(entry);
            flow
        })?;
    }
    if let Some(error) = failed {
        return Err(error);
    }
    for part in named {
        if flow.is_break() {
            break;
        }
        each(part, &mut |entry| {
            flow = visit(entry);
            flow
        })?;
    }
    Ok(())
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
