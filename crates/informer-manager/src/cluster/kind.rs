//! Kinds of a cluster's cache, as controllers watch them.

use std::{marker::PhantomData, sync::Arc};

use informer_cache::{Cache, CacheError};
use informer_client::Form;
use informer_controller::{Kind, KindProvider, Watchable};
use informer_core::{BoxFuture, Meta, ObjectKey, Resource};

use crate::{BoxError, Cluster};

impl Cluster {
    /// A kind, for a controller to watch, own or be for: cached from now on, and with the metadata strategy of its registry. A kind that is
    /// removed from the cache is asked for again.
    ///
    /// # Errors
    /// When the type is not registered, or the kind is cached in another form.
    pub fn kind<K: Form>(&self) -> Result<Kind<ObjectKey, K>, CacheError> {
        let cached = self.cache().kind::<K>()?;
        Ok(Kind::provided(CachedKind {
            cache: self.cache().clone(),
            resource: cached.resource().clone(),
            form: PhantomData::<fn() -> K>,
        }))
    }
}

struct CachedKind<K> {
    cache: Cache,
    resource: Resource,
    form: PhantomData<fn() -> K>,
}

impl<K: Form> KindProvider<ObjectKey, K> for CachedKind<K> {
    fn resource(&self) -> Resource {
        self.resource.clone()
    }

    fn open(&self) -> BoxFuture<'_, Result<Arc<dyn Watchable<ObjectKey, K>>, BoxError>> {
        Box::pin(async {
            let cached = self.cache.kind_of::<K>(&self.resource)?;
            let opened: Option<Arc<dyn Watchable<ObjectKey, K>>> = match cached.informer() {
                Some(informer) => Some(Arc::new(informer)),
                None => cached.namespaces().map(|names| Arc::new(names) as _),
            };
            opened.ok_or_else(|| format!("{} have no informer", self.resource).into())
        })
    }

    fn meta(&self) -> Option<Arc<dyn Meta<K>>> {
        self.cache.kinds().meta::<K>()
    }
}
