//! Who has the informers of kinds.

use std::{fmt, future::Future, sync::Arc};

use informer_core::{BoxFuture, Key, Meta, Resource};

use crate::{BoxError, Watchable};

/// Has the objects of a kind, or will have them: a cache by kind, which starts an informer when it is first asked.
///
/// This is the seam between controllers and caches: neither knows the other.
pub trait KindProvider<Q: Key, K>: Send + Sync {
    /// What the kind is.
    fn resource(&self) -> Resource;

    /// What can be followed now: running, in sync or not. Asked again ten seconds after an error, and when what it gave has stopped.
    ///
    /// # Errors
    /// When there is nothing yet: the server does not serve the kind, say. The text is what the controller's status and the error of its
    /// start say.
    ///
    /// # Cancel safety
    /// The future is dropped when the controller ends.
    fn open(&self) -> BoxFuture<'_, Result<Arc<dyn Watchable<Q, K>>, BoxError>>;

    /// How the metadata of its objects is read.
    fn meta(&self) -> Option<Arc<dyn Meta<K>>> {
        None
    }
}

/// A closure as a [`KindProvider`]: see [`provider_fn`].
pub struct FnProvider<F> {
    resource: Resource,
    open: F,
}

/// The provider that asks this closure.
pub fn provider_fn<Q, K, W, E, F, A>(resource: &Resource, open: F) -> FnProvider<F>
where
    Q: Key,
    W: Watchable<Q, K> + 'static,
    E: Into<BoxError>,
    F: Fn() -> A + Send + Sync,
    A: Future<Output = Result<W, E>> + Send,
{
    FnProvider {
        resource: resource.clone(),
        open,
    }
}

impl<Q, K, W, E, F, A> KindProvider<Q, K> for FnProvider<F>
where
    Q: Key,
    W: Watchable<Q, K> + 'static,
    E: Into<BoxError>,
    F: Fn() -> A + Send + Sync,
    A: Future<Output = Result<W, E>> + Send,
{
    fn resource(&self) -> Resource {
        self.resource.clone()
    }

    fn open(&self) -> BoxFuture<'_, Result<Arc<dyn Watchable<Q, K>>, BoxError>> {
        Box::pin(async move {
            let watchable = (self.open)().await.map_err(Into::into)?;
            let watchable: Arc<dyn Watchable<Q, K>> = Arc::new(watchable);
            Ok(watchable)
        })
    }
}

impl<F> fmt::Debug for FnProvider<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnProvider")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}
