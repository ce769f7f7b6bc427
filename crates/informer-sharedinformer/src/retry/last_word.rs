//! Whether what the store refused is still the last word about its object.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer_core::{Delta, Key};

/// The keys of refused deltas that no delete, no unreadable state and no list has come after. Clones share them.
///
/// Each of these makes a refused delta moot as soon as the source says it, not only when it comes out of the queue: a coalescing queue
/// drops what is said of the end of an object that is not in the store, and a refused one is not.
#[derive(Debug)]
pub(crate) struct LastWord<Q>(Arc<Mutex<BTreeSet<Q>>>);

impl<Q: Key> LastWord<Q> {
    /// The source says this.
    pub(crate) fn hear<K>(&self, delta: &Delta<Q, K>) {
        match delta {
            Delta::Delete { key, .. } | Delta::Unreadable { key, .. } => drop(self.lock().remove(key)),
            Delta::Replace { .. } => self.lock().clear(),
            _ => {}
        }
    }

    /// What was refused about this key is the last word, for now.
    pub(super) fn keep(&self, key: &Q) {
        self.lock().insert(key.clone());
    }

    pub(super) fn holds(&self, key: &Q) -> bool {
        self.lock().contains(key)
    }

    pub(super) fn forget(&self, key: &Q) {
        self.lock().remove(key);
    }

    pub(super) fn forget_all(&self) {
        self.lock().clear();
    }

    /// The set is whole between any two calls, and no foreign code but the keys' order runs under the lock.
    fn lock(&self) -> MutexGuard<'_, BTreeSet<Q>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q> Default for LastWord<Q> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<Q> Clone for LastWord<Q> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
