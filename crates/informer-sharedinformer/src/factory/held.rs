//! A share in an informer of a factory.

use std::{fmt, ops::Deref, sync::Arc};

use informer_core::ObjectKey;

use super::shelf::{AnyInformer, Shelf};
use crate::informer::SharedInformer;

/// A share in an informer of a [`Factory`](crate::Factory). The informer stops when the last share is dropped.
pub struct Held<K> {
    informer: SharedInformer<ObjectKey, K>,
    id: u64,
    shelf: Arc<Shelf>,
}

impl<K> Held<K> {
    pub(super) fn new(informer: SharedInformer<ObjectKey, K>, id: u64, shelf: Arc<Shelf>) -> Self {
        Self { informer, id, shelf }
    }

    /// Starts it, if it does not run yet. [`Factory::start`](crate::Factory::start) starts all.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&self) {
        self.shelf.start(self.id, false);
    }

    /// Starts it if the factory was started.
    pub(crate) fn start_with_factory(&self) {
        self.shelf.start(self.id, true);
    }
}

impl<K: Send + Sync + 'static> Held<K> {
    pub(crate) fn any(&self) -> Arc<dyn AnyInformer> {
        Arc::new(self.informer.clone())
    }
}

impl<K> Deref for Held<K> {
    type Target = SharedInformer<ObjectKey, K>;

    fn deref(&self) -> &Self::Target {
        &self.informer
    }
}

impl<K> Clone for Held<K> {
    fn clone(&self) -> Self {
        self.shelf.hold(self.id);
        Self::new(self.informer.clone(), self.id, self.shelf.clone())
    }
}

impl<K> Drop for Held<K> {
    fn drop(&mut self) {
        self.shelf.release(self.id);
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for Held<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held").field(&self.informer).finish()
    }
}
