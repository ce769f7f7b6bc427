//! `CachedClient`: reads from the cache, writes at the server.

use std::{collections::BTreeSet, sync::Arc};

use informer_client::{
    Error, Form, Kinds, List, ListOptions, LiveClient, ReadClient, Write, WriteClient, Written,
};
use informer_core::{BoxFuture, Entry, ObjectKey, Resource};

use crate::{Cache, CacheError, ReadYourWrites, slot::Gate};

/// A client that reads from a cache and writes at the server (controller-runtime's split client). Clones share the cache.
///
/// What it reads may be older than what it wrote: [`read_your_writes`](Self::read_your_writes) is a client for which it is not.
#[derive(Debug, Clone)]
pub struct CachedClient {
    cache: Cache,
    live: LiveClient,
    bypass: Arc<BTreeSet<Resource>>,
}

impl CachedClient {
    /// A client of this cache, which writes through the client of the cache.
    #[must_use]
    pub fn new(cache: Cache) -> Self {
        Self {
            live: cache.live().clone(),
            cache,
            bypass: Arc::default(),
        }
    }

    /// The same, that reads this kind at the server: one that is read seldom, and large or secret.
    #[must_use]
    pub fn bypass(mut self, resource: Resource) -> Self {
        Arc::make_mut(&mut self.bypass).insert(resource);
        self
    }

    /// The same, whose reads wait until they see what was written through it.
    #[must_use]
    pub fn read_your_writes(self) -> ReadYourWrites {
        ReadYourWrites::new(self)
    }

    /// The cache.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The client that asks the server for everything: for a read that must be current.
    #[must_use]
    pub fn live(&self) -> &LiveClient {
        &self.live
    }

    /// Whether reads of a kind go to the server.
    #[must_use]
    pub fn bypasses(&self, resource: &Resource) -> bool {
        self.bypass.contains(resource)
    }

    pub(crate) async fn read_gated<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        gate: Option<&dyn Gate>,
    ) -> Result<Option<Entry<ObjectKey, K>>, CacheError> {
        if self.bypasses(resource) {
            return Ok(self.live.read(resource, key).await?);
        }
        self.cache.read_gated(resource, key, gate).await
    }

    pub(crate) async fn read_all_gated<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
        gate: Option<&dyn Gate>,
    ) -> Result<List<K>, CacheError> {
        if self.bypasses(resource) {
            return Ok(self.live.read_all(resource, options).await?);
        }
        self.cache.read_all_gated(resource, options, gate).await
    }
}

impl ReadClient for CachedClient {
    type Error = CacheError;

    fn kinds(&self) -> &Kinds {
        self.cache.kinds()
    }

    async fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Entry<ObjectKey, K>>, CacheError> {
        self.read_gated(resource, key, None).await
    }

    async fn read_all<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
    ) -> Result<List<K>, CacheError> {
        self.read_all_gated(resource, options, None).await
    }

    fn is_not_found(error: &CacheError) -> bool {
        error.is_not_found()
    }
}

impl WriteClient for CachedClient {
    fn kinds(&self) -> &Kinds {
        self.cache.kinds()
    }

    fn resolve<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Resource, Error>> {
        WriteClient::resolve(&self.live, api_version, kind)
    }

    fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>> {
        self.live.write(write)
    }
}
