//! What a read sees: the stores of a kind at one moment, and who has to agree to that moment.

use informer_core::{Entry, ObjectKey, ResourceVersion, Snapshot, Stamp};
use informer_sharedinformer::{PartSnapshot, Visit, in_key_order};

use super::NamedStore;

/// Snapshots, by namespace; one under the empty name stands for every namespace that has none of its own.
pub(crate) struct Seen<K>(Vec<PartSnapshot<K>>);

/// Shows what one snapshot holds.
type ShowOne<'a, K, E> = dyn Fn(&dyn Snapshot<ObjectKey, K>, &mut Visit<'_, K>) -> Result<(), E> + 'a;

/// What is seen, without the objects.
pub(crate) trait Look {
    /// The state of an object.
    fn stamp(&self, key: &ObjectKey) -> Option<&Stamp>;

    /// Up to where the store of a namespace follows; `None`: that namespace is not looked at.
    fn applied(&self, namespace: Option<&str>) -> Option<&ResourceVersion>;
}

/// Decides whether what is seen is enough.
pub(crate) trait Gate: Send + Sync {
    fn check(&self, look: &dyn Look) -> Verdict;
}

/// What a gate says. The texts say which write it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Shown,
    Missing(String),
    Incomparable(String),
}

impl<K> Seen<K> {
    pub(super) fn of(stores: &[NamedStore<K>]) -> Self {
        let snapshots = stores
            .iter()
            .map(|(name, store)| (name.clone(), store.snapshot()));
        Self(snapshots.collect())
    }

    pub(super) fn versions(&self) -> impl Iterator<Item = &ResourceVersion> {
        self.0.iter().map(|(_, snapshot)| snapshot.applied())
    }

    pub(super) fn snapshots(&self) -> impl Iterator<Item = &dyn Snapshot<ObjectKey, K>> {
        self.0.iter().map(|(_, snapshot)| &**snapshot)
    }

    /// What `each` snapshot shows, in key order.
    pub(super) fn in_key_order<E>(
        &self,
        each: &ShowOne<'_, K, E>,
        visit: &mut Visit<'_, K>,
    ) -> Result<(), E> {
        let each = |(_, snapshot): &PartSnapshot<K>, visit: &mut Visit<'_, K>| each(&**snapshot, visit);
        in_key_order(&self.0, &each, visit)
    }

    /// The version of the whole, where there is one.
    pub(super) fn version(&self) -> ResourceVersion {
        match &*self.0 {
            [(_, snapshot)] => snapshot.applied().clone(),
            _ => ResourceVersion::none(),
        }
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Entry<ObjectKey, K>> {
        self.part(key.namespace())?.get(key)
    }

    /// The object is there, in no state that could ever be read.
    pub(super) fn is_unreadable(&self, key: &ObjectKey) -> bool {
        let part = self.part(key.namespace());
        part.is_some_and(|part| part.is_unreadable(key))
    }

    fn part(&self, namespace: Option<&str>) -> Option<&dyn Snapshot<ObjectKey, K>> {
        let namespace = namespace.unwrap_or_default();
        let of = |wanted: &str| self.0.iter().find(|(name, _)| **name == *wanted);
        of(namespace).or_else(|| of("")).map(|(_, snapshot)| &**snapshot)
    }
}

impl<K> Look for Seen<K> {
    fn stamp(&self, key: &ObjectKey) -> Option<&Stamp> {
        self.get(key).map(|entry| &entry.stamp)
    }

    fn applied(&self, namespace: Option<&str>) -> Option<&ResourceVersion> {
        self.part(namespace).map(|snapshot| snapshot.applied())
    }
}
