//! `Intercepted`: a client whose every request somebody sees, changes, answers or refuses.

use std::future::ready;

use informer_core::{BoxFuture, Entry, ObjectKey, Resource};

use crate::{Error, Form, Kinds, List, ListOptions, ReadClient, Write, WriteClient, Written};

/// What is read.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ReadOf<'a> {
    /// One object.
    One(&'a ObjectKey),
    /// All objects that the options want.
    All(&'a ListOptions),
}

/// Sees what goes through a client: for tests that want failures, for audit, for limits.
pub trait Interceptor: Send + Sync {
    /// Before a read. An error is its answer.
    ///
    /// # Errors
    /// When the read is to fail like this.
    fn read<'a>(&'a self, _resource: &'a Resource, _of: ReadOf<'a>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(ready(Ok(())))
    }

    /// In place of a write. It goes on by `next`, or answers itself.
    ///
    /// # Errors
    /// When the write fails, or is to fail like this.
    fn write<'a>(&'a self, write: Write, next: &'a dyn WriteClient) -> BoxFuture<'a, Result<Written, Error>> {
        next.write(write)
    }
}

/// A client with an interceptor.
#[derive(Debug, Clone)]
pub struct Intercepted<C, I> {
    client: C,
    interceptor: I,
}

impl<C, I: Interceptor> Intercepted<C, I> {
    /// Around this client.
    pub fn new(client: C, interceptor: I) -> Self {
        Self { client, interceptor }
    }

    /// The interceptor.
    #[must_use]
    pub fn interceptor(&self) -> &I {
        &self.interceptor
    }
}

impl<C: ReadClient, I: Interceptor> ReadClient for Intercepted<C, I> {
    type Error = C::Error;

    fn kinds(&self) -> &Kinds {
        self.client.kinds()
    }

    async fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Entry<ObjectKey, K>>, C::Error> {
        self.interceptor.read(resource, ReadOf::One(key)).await?;
        self.client.read(resource, key).await
    }

    async fn read_all<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
    ) -> Result<List<K>, C::Error> {
        self.interceptor.read(resource, ReadOf::All(options)).await?;
        self.client.read_all(resource, options).await
    }

    fn is_not_found(error: &C::Error) -> bool {
        C::is_not_found(error)
    }
}

impl<C: WriteClient, I: Interceptor> WriteClient for Intercepted<C, I> {
    fn kinds(&self) -> &Kinds {
        self.client.kinds()
    }

    fn resolve<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Resource, Error>> {
        self.client.resolve(api_version, kind)
    }

    fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>> {
        self.interceptor.write(write, &self.client)
    }
}
