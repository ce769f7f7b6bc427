//! Reconcilers that are given the object.

use std::{fmt, future::Future, sync::Arc};

use informer_core::{Entry, Key, Store};

use crate::{Action, Attempt, BoxError, Reconciler};

/// A function of the newest state of the object as a [`Reconciler`]: see [`reconcile_objects`].
pub struct ObjectReconciler<Q, K, F> {
    store: Arc<dyn Store<Q, K>>,
    call: F,
}

/// The reconciler that reads the object from this store and calls the function with it; an object that is gone is no call, and done
/// (controller-runtime `reconcile.AsReconciler`). What is to happen when an object is gone needs a finalizer, or a reconciler of keys.
pub fn reconcile_objects<Q, K, E, F, A>(store: Arc<dyn Store<Q, K>>, call: F) -> ObjectReconciler<Q, K, F>
where
    Q: Key,
    F: Fn(Entry<Q, K>, Attempt) -> A + Send + Sync,
    A: Future<Output = Result<Action, E>> + Send,
    E: Into<BoxError>,
{
    ObjectReconciler { store, call }
}

impl<Q, K, E, F, A> Reconciler<Q> for ObjectReconciler<Q, K, F>
where
    Q: Key,
    K: Send + Sync + 'static,
    F: Fn(Entry<Q, K>, Attempt) -> A + Send + Sync,
    A: Future<Output = Result<Action, E>> + Send,
    E: Into<BoxError>,
{
    type Error = E;

    async fn reconcile(&self, request: Q, attempt: Attempt) -> Result<Action, E> {
        let entry = self.store.get(&request);
        match entry {
            Some(entry) => (self.call)(entry, attempt).await,
            None => Ok(Action::Done),
        }
    }
}

impl<Q, K, F> fmt::Debug for ObjectReconciler<Q, K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectReconciler").finish_non_exhaustive()
    }
}
