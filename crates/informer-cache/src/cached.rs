//! `Cached`: one kind of a cache, in the form that it is held in.

use std::{fmt, sync::Arc, time::Duration};

use informer_client::Form;
use informer_core::{EventHandler, IndexFunc, ObjectKey, Resource, Store};
use informer_sharedinformer::{
    AsyncHandler, HandlerOptions, Lister, Namespaces, Registration, SharedInformer, Status, Stopped,
};

use crate::{
    error::CacheError,
    slot::{Parts, Slot},
};

/// A kind of a cache: its informers, seen as one. Clones are the same; none of them keeps the kind from being removed.
pub struct Cached<K>(Arc<Slot<K>>);

impl<K: Form> Cached<K> {
    pub(crate) fn new(slot: Arc<Slot<K>>) -> Self {
        Self(slot)
    }

    /// The kind.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.0.resource
    }

    /// Its informer, where there is one; `None` where namespaces are named.
    #[must_use]
    pub fn informer(&self) -> Option<SharedInformer<ObjectKey, K>> {
        match &self.0.parts {
            Parts::All(held) => Some((**held).clone()),
            Parts::Named(_) => None,
        }
    }

    /// Its namespaces, where they are named: they can be added to and removed at any time.
    #[must_use]
    pub fn namespaces(&self) -> Option<Namespaces<K>> {
        match &self.0.parts {
            Parts::All(_) => None,
            Parts::Named(names) => Some(names.clone()),
        }
    }

    /// As [`SharedInformer::add_handler`], of all namespaces that are cached.
    ///
    /// # Errors
    /// When the kind was removed or the cache shut down.
    pub fn add_handler(
        &self,
        handler: impl EventHandler<ObjectKey, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        match &self.0.parts {
            Parts::All(held) => held.add_handler(handler, options),
            Parts::Named(names) => names.add_handler(handler, options),
        }
    }

    /// As [`add_handler`](Self::add_handler), for a handler that awaits.
    ///
    /// # Errors
    /// When the kind was removed or the cache shut down.
    pub fn add_async_handler(
        &self,
        handler: impl AsyncHandler<ObjectKey, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        match &self.0.parts {
            Parts::All(held) => held.add_async_handler(handler, options),
            Parts::Named(names) => names.add_async_handler(handler, options),
        }
    }

    /// The store, to read at any time.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store<ObjectKey, K>> {
        match &self.0.parts {
            Parts::All(held) => held.store(),
            Parts::Named(names) => names.store(),
        }
    }

    /// The store with the questions that controllers ask.
    #[must_use]
    pub fn lister(&self) -> Lister<ObjectKey, K> {
        Lister::new(self.store())
    }

    /// As [`Cache::index_field`](crate::Cache::index_field).
    ///
    /// # Errors
    /// When the field has an index, or the function fails for an object that is there.
    pub fn index_field(&self, field: &str, function: impl IndexFunc<K> + 'static) -> Result<(), CacheError> {
        self.0.index(field, Arc::new(function))
    }

    /// Whether every informer has its first list.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.0.has_synced()
    }

    /// Waits until every informer has its first list, for so long at most.
    ///
    /// # Errors
    /// When one has not, and why; or the kind was removed.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn wait_synced(&self, within: Duration) -> Result<(), CacheError> {
        self.0.all_synced(within).await
    }

    /// How its informers are.
    #[must_use]
    pub fn status(&self) -> Vec<Status> {
        self.0.status()
    }

    /// Resolves when the kind is removed from the cache, or the cache shut down: whoever depends on it can look for it anew.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn removed(&self) {
        self.0.gone().await;
    }
}

impl<K> Clone for Cached<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for Cached<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cached")
            .field(&self.0.resource.to_string())
            .finish()
    }
}
