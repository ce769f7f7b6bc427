//! `Api`: one kind, in one namespace or all, in one form of object.

mod subresource;
mod verbs;

use std::{fmt, marker::PhantomData, sync::Arc};

use informer_core::Resource;
use informer_transport::{Codec, RequestBuilder, Selectors, Transport};

use crate::{ApiSource, Client, Pager, Tables};

pub use subresource::{Scale, Token, TokenOptions};
pub use verbs::ObjectList;
pub(crate) use verbs::collect;

/// One kind of objects: its verbs, and its [`ListerWatcher`](informer_core::ListerWatcher). Cloning copies pointers.
///
/// `K` is the form of object, `C` the codec that makes it.
pub struct Api<T, K, C> {
    client: Client<T>,
    resource: Resource,
    namespace: Option<Arc<str>>,
    codec: Arc<C>,
    _object: PhantomData<fn() -> K>,
}

impl<T, K, C> Clone for Api<T, K, C> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            resource: self.resource.clone(),
            namespace: self.namespace.clone(),
            codec: self.codec.clone(),
            _object: PhantomData,
        }
    }
}

impl<T, K, C> fmt::Debug for Api<T, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("resource", &self.resource)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl<T, K, C> Api<T, K, C> {
    /// The same, in one namespace. A cluster-wide kind has none and ignores it.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// The same, in all namespaces, as it begins.
    #[must_use]
    pub fn in_all_namespaces(mut self) -> Self {
        self.namespace = None;
        self
    }

    /// The kind.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// The namespace; `None` for all.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> &Client<T> {
        &self.client
    }
}

impl<T: Transport, K, C: Codec<K>> Api<T, K, C> {
    pub(crate) fn new(client: Client<T>, resource: Resource, codec: C) -> Self {
        Self {
            client,
            resource,
            namespace: None,
            codec: Arc::new(codec),
            _object: PhantomData,
        }
    }

    /// Lists and watches those that the selectors match: what a reflector reads from.
    #[must_use]
    pub fn source(&self, selectors: Selectors) -> ApiSource<T, K, C> {
        ApiSource::new(self.clone(), selectors)
    }

    /// Lists and watches the one object of this name, in the namespace of this `Api`: what waits for or follows a single object reads from.
    #[must_use]
    pub fn source_of(&self, name: &str) -> ApiSource<T, K, C> {
        self.source(Selectors::all().fields(format!("metadata.name={}", escaped(name))))
    }

    /// Those that the selectors match, page by page with the next ones fetched ahead: for lists that are worked through and not kept.
    #[must_use]
    pub fn pager(&self, selectors: Selectors) -> Pager<ApiSource<T, K, C>>
    where
        T: 'static,
        K: Send + Sync + 'static,
        C: 'static,
    {
        Pager::new(self.source(selectors).unrepeated())
    }

    /// The same as tables in the server's columns, as people are shown them. Each row brings its object in this form.
    #[must_use]
    pub fn tables(&self) -> Tables<T, K, C> {
        Tables::new(self.clone())
    }

    /// The codec.
    pub(crate) fn codec(&self) -> &Arc<C> {
        &self.codec
    }

    pub(crate) fn requests(&self) -> RequestBuilder {
        RequestBuilder::new(self.resource.clone())
            .namespace(self.namespace())
            .accept(self.codec.media_type(), self.codec.list_media_type())
    }
}

/// A value of a field selector (apimachinery `fields.EscapeValue`).
pub(crate) fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace(',', "\\,")
        .replace('=', "\\=")
}
