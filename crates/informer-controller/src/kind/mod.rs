//! Kinds to watch: what they are, where their changes come from, and what is wanted of them.

mod provider;

use std::{fmt, sync::Arc};

use informer_core::{Key, Meta, ObjectKey, Resource};
use informer_sharedinformer::{HandlerOptions, Held, Namespaces, SharedInformer, View};

pub use self::provider::{FnProvider, KindProvider, provider_fn};
use crate::{Predicate, Watchable};

/// A kind of object that a controller watches: given to [`Builder::for_`](crate::Builder::for_), [`owns`](crate::Builder::owns) and
/// [`watches`](crate::Builder::watches). A reference to an informer, a view or several namespaces becomes one by itself; this says more.
///
/// | what | for what |
/// |---|---|
/// | [`resource`](Self::resource) | a controller's default name; finding the owner of what it owns |
/// | [`meta`](Self::meta) | the owners of what is owned; labels and generations in a filter of the whole controller |
/// | [`predicate`](Self::predicate) | dropping changes before they are mapped |
/// | [`optional`](Self::optional) | a kind that may be absent: nothing waits for it |
pub struct Kind<Q: Key, K> {
    pub(crate) origin: Origin<Q, K>,
    pub(crate) resource: Option<Resource>,
    pub(crate) meta: Option<Arc<dyn Meta<K>>>,
    pub(crate) predicate: Option<Box<dyn Predicate<Q, K>>>,
    pub(crate) options: HandlerOptions,
    pub(crate) every_owner: bool,
    pub(crate) optional: bool,
}

/// Where the changes come from.
pub(crate) enum Origin<Q: Key, K> {
    Here(Arc<dyn Watchable<Q, K>>),
    From(Arc<dyn KindProvider<Q, K>>),
}

impl<Q: Key, K: Send + Sync + 'static> Kind<Q, K> {
    /// The objects of an informer, or of something like one.
    pub fn of(watchable: impl Watchable<Q, K> + 'static) -> Self {
        Self::new(Origin::Here(Arc::new(watchable)))
    }

    /// The objects of a kind that somebody has, or will have: a cache. It is asked when the controller starts, again every ten seconds
    /// until it has the kind, and again when it takes it away; so a kind whose definition is installed later is picked up.
    pub fn provided(provider: impl KindProvider<Q, K> + 'static) -> Self {
        let (resource, meta) = (provider.resource(), provider.meta());
        let mut this = Self::new(Origin::From(Arc::new(provider)));
        (this.resource, this.meta) = (Some(resource), meta);
        this
    }

    fn new(origin: Origin<Q, K>) -> Self {
        Self {
            origin,
            resource: None,
            meta: None,
            predicate: None,
            options: HandlerOptions::default(),
            every_owner: false,
            optional: false,
        }
    }

    /// What it is.
    #[must_use]
    pub fn resource(mut self, resource: &Resource) -> Self {
        self.resource = Some(resource.clone());
        self
    }

    /// How its metadata is read.
    #[must_use]
    pub fn meta(mut self, meta: impl Meta<K> + 'static) -> Self {
        self.meta = Some(Arc::new(meta));
        self
    }

    /// Only the changes that pass this predicate, instead of the one before.
    #[must_use]
    pub fn predicate(mut self, predicate: impl Predicate<Q, K> + 'static) -> Self {
        self.predicate = Some(Box::new(predicate));
        self
    }

    /// With these options for the handler: name, resync, backlog.
    #[must_use]
    pub fn options(mut self, options: HandlerOptions) -> Self {
        self.options = options;
        self
    }

    /// Of what is owned: reconciles every owner of the controller's kind, not only the managing one (controller-runtime
    /// `MatchEveryOwner`).
    #[must_use]
    pub fn every_owner(mut self) -> Self {
        self.every_owner = true;
        self
    }

    /// No reconcile waits for it, and the controller runs on without it; its status says so.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    pub(crate) fn name(&self) -> Arc<str> {
        match &self.origin {
            Origin::Here(watchable) => watchable.name(),
            Origin::From(provider) => provider.resource().to_string().into(),
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static> From<&SharedInformer<Q, K>> for Kind<Q, K> {
    fn from(informer: &SharedInformer<Q, K>) -> Self {
        Self::of(informer.clone())
    }
}

impl<Q: Key, K: Send + Sync + 'static> From<&View<Q, K>> for Kind<Q, K> {
    fn from(view: &View<Q, K>) -> Self {
        Self::of(view.clone())
    }
}

impl<K: Send + Sync + 'static> From<&Namespaces<K>> for Kind<ObjectKey, K> {
    fn from(namespaces: &Namespaces<K>) -> Self {
        Self::of(namespaces.clone())
    }
}

impl<K: Send + Sync + 'static> From<&Held<K>> for Kind<ObjectKey, K> {
    fn from(held: &Held<K>) -> Self {
        Self::of(held.clone())
    }
}

impl<Q: Key, K> fmt::Debug for Kind<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind")
            .field("resource", &self.resource)
            .field("optional", &self.optional)
            .finish_non_exhaustive()
    }
}
