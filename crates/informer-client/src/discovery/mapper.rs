//! `Mapper`: discovery that is kept, and done anew for what it does not know.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use informer_transport::Transport;

use super::{ApiResource, Discovery, ResolveError, UnknownResource};
use crate::{Client, Error};

/// Names and kinds to resources, from a discovery that is kept (client-go `restmapper.NewDeferredDiscoveryRESTMapper`).
///
/// What it knows it answers without a request. For what it does not know the server is asked once more, since kinds come with custom
/// resource definitions; a name that nobody has costs a discovery each time. Clones share what is kept.
pub struct Mapper<T> {
    client: Client<T>,
    kept: Arc<Mutex<Option<Arc<Discovery>>>>,
}

impl<T: Transport> Mapper<T> {
    /// Knows nothing yet, and asks when it is asked.
    #[must_use]
    pub fn new(client: Client<T>) -> Self {
        Self {
            client,
            kept: Arc::default(),
        }
    }

    /// Finds a kind by what people call it, as [`Discovery::resolve`].
    ///
    /// # Errors
    /// When the server does not answer, or has no such kind now.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what is kept as it was.
    pub async fn resolve(&self, name: &str) -> Result<ApiResource, ResolveError> {
        self.find(|discovery| discovery.resolve(name).cloned()).await
    }

    /// Finds a kind by what an object or owner reference says of itself: `apps/v1` and `Deployment`.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    ///
    /// # Cancel safety
    /// As [`resolve`](Self::resolve).
    pub async fn of_kind(&self, api_version: &str, kind: &str) -> Result<ApiResource, ResolveError> {
        self.find(|discovery| {
            let is_it =
                |it: &&ApiResource| *it.resource.kind == *kind && it.resource.api_version() == api_version;
            let found = discovery.kinds.iter().find(is_it).cloned();
            found.ok_or_else(|| UnknownResource {
                name: format!("{kind} of {api_version}"),
                near: Vec::new(),
                failures: discovery.failures.clone(),
            })
        })
        .await
    }

    /// Forgets what is kept: the next answer is of a new discovery.
    pub fn reset(&self) {
        *self.lock() = None;
    }

    async fn find(
        &self,
        look: impl Fn(&Discovery) -> Result<ApiResource, UnknownResource>,
    ) -> Result<ApiResource, ResolveError> {
        let kept = self.lock().clone();
        if let Some(found) = kept.and_then(|kept| look(&kept).ok()) {
            return Ok(found);
        }
        let fresh = self.fetch().await.map_err(ResolveError::Failed)?;
        look(&fresh).map_err(ResolveError::Unknown)
    }

    async fn fetch(&self) -> Result<Arc<Discovery>, Error> {
        let fresh = Arc::new(Discovery::fetch(&self.client).await?);
        *self.lock() = Some(fresh.clone());
        Ok(fresh)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Discovery>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Mapper<T> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            kept: self.kept.clone(),
        }
    }
}

impl<T> fmt::Debug for Mapper<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapper").finish_non_exhaustive()
    }
}
