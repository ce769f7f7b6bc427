//! What handlers can be added to: informers, and what looks like one.

use std::{error::Error, sync::Arc, time::Duration};

use informer_core::{BoxFuture, EventHandler, Key, ObjectKey, Store};
use informer_sharedinformer::{
    HandlerOptions, Held, Namespaces, Registration, SharedInformer, Status, Stopped, View,
};

/// An error of somebody else's code.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Objects that can be followed: a shared informer, some of its objects ([`View`]), several namespaces seen as one ([`Namespaces`]), or
/// something of yours. A controller keeps what it watches alive as long as it watches it.
pub trait Watchable<Q: Key, K>: Send + Sync {
    /// What it is called in status and errors.
    fn name(&self) -> Arc<str>;

    /// Adds a handler, which is told of what is there and of each change from then on.
    ///
    /// # Errors
    /// When it has stopped.
    fn attach(
        &self,
        handler: Box<dyn EventHandler<Q, K>>,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped>;

    /// Resolves when the first list is in the store, or with an error when it never will be.
    fn synced(&self) -> BoxFuture<'static, Result<(), BoxError>>;

    /// The objects.
    fn store(&self) -> Arc<dyn Store<Q, K>>;

    /// Why it is not in sync or does not follow, where it knows: for the message that names it.
    fn trouble(&self) -> Option<String> {
        None
    }
}

impl<Q: Key, K: Send + Sync + 'static> Watchable<Q, K> for SharedInformer<Q, K> {
    fn name(&self) -> Arc<str> {
        Self::name(self).into()
    }

    fn attach(
        &self,
        mut handler: Box<dyn EventHandler<Q, K>>,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        self.add_handler(move |change: &_| handler.on_change(change), options)
    }

    fn synced(&self) -> BoxFuture<'static, Result<(), BoxError>> {
        let informer = self.clone();
        Box::pin(async move { Ok(Self::synced(&informer).await?) })
    }

    fn store(&self) -> Arc<dyn Store<Q, K>> {
        Self::store(self)
    }

    fn trouble(&self) -> Option<String> {
        trouble_of(&self.status())
    }
}

impl<Q: Key, K: Send + Sync + 'static> Watchable<Q, K> for View<Q, K> {
    fn name(&self) -> Arc<str> {
        self.informer().name().into()
    }

    fn attach(
        &self,
        mut handler: Box<dyn EventHandler<Q, K>>,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        self.add_handler(move |change: &_| handler.on_change(change), options)
    }

    fn synced(&self) -> BoxFuture<'static, Result<(), BoxError>> {
        Watchable::synced(self.informer())
    }

    fn store(&self) -> Arc<dyn Store<Q, K>> {
        Self::store(self)
    }

    fn trouble(&self) -> Option<String> {
        self.informer().trouble()
    }
}

impl<K: Send + Sync + 'static> Watchable<ObjectKey, K> for Held<K> {
    fn name(&self) -> Arc<str> {
        SharedInformer::name(self).into()
    }

    fn attach(
        &self,
        handler: Box<dyn EventHandler<ObjectKey, K>>,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        (**self).attach(handler, options)
    }

    fn synced(&self) -> BoxFuture<'static, Result<(), BoxError>> {
        Watchable::synced(&**self)
    }

    fn store(&self) -> Arc<dyn Store<ObjectKey, K>> {
        SharedInformer::store(self)
    }

    fn trouble(&self) -> Option<String> {
        (**self).trouble()
    }
}

impl<K: Send + Sync + 'static> Watchable<ObjectKey, K> for Namespaces<K> {
    fn name(&self) -> Arc<str> {
        Self::name(self).into()
    }

    fn attach(
        &self,
        mut handler: Box<dyn EventHandler<ObjectKey, K>>,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        self.add_handler(move |change: &_| handler.on_change(change), options)
    }

    fn synced(&self) -> BoxFuture<'static, Result<(), BoxError>> {
        const HOUR: Duration = Duration::from_secs(3600);
        let namespaces = self.clone();
        Box::pin(async move {
            // However long it takes: who asks has a limit of its own.
            while let Err(error) = namespaces.wait_synced(HOUR).await {
                if namespaces.status().iter().any(is_stopped) {
                    return Err(error.into());
                }
            }
            Ok(())
        })
    }

    fn store(&self) -> Arc<dyn Store<ObjectKey, K>> {
        Self::store(self)
    }

    fn trouble(&self) -> Option<String> {
        self.status().iter().find_map(trouble_of)
    }
}

fn is_stopped(status: &Status) -> bool {
    status.phase == informer_sharedinformer::Phase::Stopped
}

/// What keeps an informer from following its source.
fn trouble_of(status: &Status) -> Option<String> {
    if is_stopped(status) {
        return Some("the informer has stopped".to_owned());
    }
    status.source.error.as_ref().map(ToString::to_string)
}
