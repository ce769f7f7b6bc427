//! Options of a cache and of its kinds.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use informer_core::{Meta, Resource};
use informer_sharedinformer::Transform;
use informer_transport::Codec;

use crate::transform::AnyTransform;

/// What a read does that is about a kind nobody asked for before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Missing {
    /// It starts the kind's informer and waits until that is in sync. A single `get` of a kind then lists and watches all of it, which
    /// needs the right to do so, and memory.
    #[default]
    Start,
    /// It fails. Kinds are cached only if they were asked for by options, an index or a handler.
    Fail,
}

/// Which objects of a namespace, or of all, are cached, and how. `None` inherits; an empty selector wants everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PartOptions {
    /// A label selector.
    pub labels: Option<String>,
    /// A field selector.
    pub fields: Option<String>,
    /// Changes each object before it is kept.
    pub transform: Option<AnyTransform>,
    /// How often handlers are told the cached state again; zero is never.
    pub sync_period: Option<Duration>,
    /// Whether watches ask for bookmarks, by which they go on without a new list after a time without events; by default they do. A list that is
    /// streamed ends by one, whatever is said here.
    pub bookmarks: Option<bool>,
}

impl PartOptions {
    /// All that is inherited.
    #[must_use]
    pub fn inherit() -> Self {
        Self::default()
    }

    /// The same, of those with matching labels.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// The same, of those with matching fields.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    /// The same, whose objects are changed like this before they are kept.
    #[must_use]
    pub fn transform(mut self, transform: AnyTransform) -> Self {
        self.transform = Some(transform);
        self
    }

    /// The same, whose handlers are told the cached state this often; zero is never.
    #[must_use]
    pub fn sync_period(mut self, period: Duration) -> Self {
        self.sync_period = Some(period);
        self
    }

    /// The same, whose watches ask for bookmarks, or do not.
    #[must_use]
    pub fn bookmarks(mut self, wanted: bool) -> Self {
        self.bookmarks = Some(wanted);
        self
    }
}

/// Which objects are cached: namespaces, and selectors for all of them and for each; and how: transforms, sync periods, bookmarks.
///
/// For each of these by itself, what is said for a namespace of a kind goes before what is said for the kind, that before what is said for the namespace by default, and
/// that before what is said for all by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Selecting {
    /// The namespaces. `None` inherits, none at all is every namespace.
    pub namespaces: Option<BTreeMap<String, PartOptions>>,
    /// What all namespaces have.
    pub all: PartOptions,
}

impl Selecting {
    /// All that is inherited.
    #[must_use]
    pub fn inherit() -> Self {
        Self::default()
    }

    /// The same, of these namespaces. The empty name beside others stands for all the others, which are one list and watch more: for other
    /// selectors in a few namespaces than everywhere else.
    #[must_use]
    pub fn namespaces<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let all = self.namespaces.get_or_insert_default();
        all.extend(
            names
                .into_iter()
                .map(|name| (name.into(), PartOptions::default())),
        );
        self
    }

    /// The same, with a namespace of which these objects are wanted.
    #[must_use]
    pub fn namespace(mut self, name: impl Into<String>, of_it: PartOptions) -> Self {
        self.namespaces.get_or_insert_default().insert(name.into(), of_it);
        self
    }

    /// The same, of every namespace, whatever would be inherited.
    #[must_use]
    pub fn every_namespace(mut self) -> Self {
        self.namespaces = Some(BTreeMap::new());
        self
    }

    /// The same, of those with matching labels.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.all.labels = Some(selector.into());
        self
    }

    /// The same, of those with matching fields.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.all.fields = Some(selector.into());
        self
    }

    /// The same, with this for all namespaces.
    #[must_use]
    pub fn everywhere(mut self, all: PartOptions) -> Self {
        self.all = all;
        self
    }
}

/// How a kind is cached: in the form `K`, from the start of the cache.
#[must_use]
pub struct KindOptions<K> {
    pub(crate) resource: Option<Resource>,
    pub(crate) selecting: Selecting,
    pub(crate) sync_period: Option<Duration>,
    pub(crate) transform: Option<Arc<dyn Transform<K>>>,
    pub(crate) codec: Option<Arc<dyn Codec<K>>>,
    pub(crate) meta: Option<Arc<dyn Meta<K>>>,
    pub(crate) whole: bool,
}

impl<K> Default for KindOptions<K> {
    fn default() -> Self {
        Self {
            resource: None,
            selecting: Selecting::default(),
            sync_period: None,
            transform: None,
            codec: None,
            meta: None,
            whole: false,
        }
    }
}

impl<K> KindOptions<K> {
    /// The kind that the type stands for.
    pub fn typed() -> Self {
        Self::default()
    }

    /// This kind, for forms that stand for any: dynamic objects, metadata, a type that is not registered.
    pub fn of(resource: Resource) -> Self {
        Self {
            resource: Some(resource),
            ..Self::default()
        }
    }

    /// Only these objects of it.
    pub fn selecting(mut self, selecting: Selecting) -> Self {
        self.selecting = selecting;
        self
    }

    /// How often handlers are told the cached state again, instead of the cache's period. Spread by a tenth each way; zero is never.
    pub fn sync_period(mut self, period: Duration) -> Self {
        self.sync_period = Some(period);
        self
    }

    /// Changes each object before it is kept, for instance to drop what nobody reads. Versions and uids are read before that. Managed fields
    /// are dropped anyway.
    pub fn transform(mut self, transform: impl Transform<K> + 'static) -> Self {
        self.transform = Some(Arc::new(transform));
        self
    }

    /// Decodes by this codec, instead of that of the client ([`LiveClient::codec`](informer_client::LiveClient::codec)).
    pub fn codec(mut self, codec: impl Codec<K> + 'static) -> Self {
        self.codec = Some(Arc::new(codec));
        self
    }

    /// Reads labels by this strategy. Without one, and without one in the registry of kinds, they are read through the object's JSON.
    pub fn meta(mut self, meta: impl Meta<K> + 'static) -> Self {
        self.meta = Some(Arc::new(meta));
        self
    }

    /// The type holds all of an object, so that other forms can be made of it. Dynamic objects and types of k8s-openapi do, which is known
    /// without this; one that holds a few fields does not.
    pub fn whole(mut self) -> Self {
        self.whole = true;
        self
    }
}

impl<K> fmt::Debug for KindOptions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindOptions")
            .field("resource", &self.resource)
            .field("selecting", &self.selecting)
            .field("sync_period", &self.sync_period)
            .finish_non_exhaustive()
    }
}
