//! What a controller is for, what it owns, and what it watches.

use std::sync::Arc;

use informer_core::{Key, Meta, MetaFields, ObjectKey, Owner, Resource};

use super::{Builder, Given};
use crate::{AsyncMapFn, Event, ForObject, ForOwner, Gate, Kind, KindSource, Mapper, Request, Source, gate};

/// Makes a source once all of the builder is known.
pub(super) type Later<R> = Box<dyn FnOnce(&Given) -> Result<Box<dyn Source<R>>, String> + Send>;

impl<R: Request> Builder<R> {
    /// What the controller is for: each of these objects is a request, by its key (controller-runtime `For`). At most once. A kind whose
    /// [resource](Kind::resource) is known names the controller, if nothing else does, and is what [`owns`](Self::owns) looks for.
    #[must_use]
    pub fn for_<K>(mut self, kind: impl Into<Kind<R, K>>) -> Self
    where
        R: Key,
        K: Send + Sync + 'static,
    {
        let kind = kind.into();
        self.n_for += 1;
        self.given.owner.clone_from(&kind.resource);
        self.later(move |given| Ok(given.source(kind, ForObject)))
    }

    /// Reconciles what changes in this kind, as the mapper names it (controller-runtime `Watches`). May be called several times.
    #[must_use]
    pub fn watches<Q, K, M>(self, kind: impl Into<Kind<Q, K>>, mapper: M) -> Self
    where
        Q: Key,
        K: Send + Sync + 'static,
        M: Mapper<Q, K, R> + 'static,
    {
        let kind = kind.into();
        self.later(move |given| Ok(given.source(kind, mapper)))
    }

    /// As [`watches`](Self::watches), by a function that must wait to say which requests a change is about: for an answer of the API, for
    /// example. See [`async_map_fn`](crate::async_map_fn).
    #[must_use]
    pub fn watches_async<Q, K>(self, kind: impl Into<Kind<Q, K>>, function: AsyncMapFn<Q, K, R>) -> Self
    where
        Q: Key,
        K: Send + Sync + 'static,
    {
        let kind = kind.into();
        self.later(move |given| Ok(given.filtered(KindSource::new_async(kind, function))))
    }

    /// Reconciles what this source names (controller-runtime `WatchesRawSource`). May be called several times. The
    /// [filter](Self::with_event_filter) of the whole controller does not apply to it.
    #[must_use]
    pub fn source(self, source: impl Source<R> + 'static) -> Self {
        self.later(move |_| Ok(Box::new(source)))
    }

    /// No reconcile begins before this is in sync, too, though nothing that changes in it leads to one: for what the reconciler only
    /// reads.
    #[must_use]
    pub fn reads<Q, K>(self, kind: impl Into<Kind<Q, K>>) -> Self
    where
        Q: Key,
        K: Send + Sync + 'static,
    {
        let gate: Gate<Q, K> = gate(kind);
        self.source(gate)
    }

    /// A filter of all that [`for_`](Self::for_), [`owns`](Self::owns) and [`watches`](Self::watches) bring, before their predicates and
    /// whatever the order of the calls (controller-runtime `WithEventFilter`). Several must all let a change pass. A filter that looks at
    /// what an object is should let removals pass.
    #[must_use]
    pub fn with_event_filter(mut self, filter: impl Fn(&Event<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.given.filter = Some(match self.given.filter.take() {
            None => Arc::new(filter),
            Some(first) => Arc::new(move |event: &Event<'_>| first(event) && filter(event)),
        });
        self
    }

    fn later(
        mut self,
        make: impl FnOnce(&Given) -> Result<Box<dyn Source<R>>, String> + Send + 'static,
    ) -> Self {
        self.sources.push(Box::new(make));
        self
    }
}

impl Builder<ObjectKey> {
    /// Reconciles the owners of these objects that are of the controller's kind: the managing one, unless the kind says
    /// [`every_owner`](Kind::every_owner) (controller-runtime `Owns`). Needs [`for_`](Self::for_) with a kind whose resource is known, and
    /// a kind here whose [metadata](Kind::meta) can be read.
    #[must_use]
    pub fn owns<K: Send + Sync + 'static>(self, kind: impl Into<Kind<ObjectKey, K>>) -> Self {
        let kind = kind.into();
        self.later(move |given| {
            let name = kind.name();
            let Some(owner) = &given.owner else {
                return Err(format!("owns {name} without for_ a kind whose resource is known"));
            };
            let Some(meta) = kind.meta.clone() else {
                return Err(format!(
                    "owns {name}, whose metadata nobody reads: say it with Kind::meta"
                ));
            };
            let mapper = ForOwner::new::<K>(owner, SharedMeta(meta))
                .map_err(|error| format!("owns {name}: {error}"))?;
            let mapper = if kind.every_owner {
                mapper.every_owner()
            } else {
                mapper
            };
            Ok(given.source(kind, mapper))
        })
    }
}

impl Given {
    fn source<Q, K, R>(&self, kind: Kind<Q, K>, mapper: impl Mapper<Q, K, R> + 'static) -> Box<dyn Source<R>>
    where
        Q: Key,
        K: Send + Sync + 'static,
        R: Request,
    {
        self.filtered(KindSource::new(kind, mapper))
    }

    fn filtered<Q, K, R>(&self, mut source: KindSource<Q, K, R>) -> Box<dyn Source<R>>
    where
        Q: Key,
        K: Send + Sync + 'static,
        R: Request,
    {
        source.filter.clone_from(&self.filter);
        Box::new(source)
    }

    /// The name of a controller that was given none.
    pub(super) fn default_name(&self) -> Option<Arc<str>> {
        let kind: &Resource = self.owner.as_ref()?;
        Some(kind.kind.to_lowercase().into())
    }
}

/// The strategy of a kind, shared with its source.
struct SharedMeta<K>(Arc<dyn Meta<K>>);

impl<K> Meta<K> for SharedMeta<K> {
    fn fields(&self) -> MetaFields {
        self.0.fields()
    }

    fn label<'a>(&self, object: &'a K, name: &str) -> Option<&'a str> {
        self.0.label(object, name)
    }

    fn owners(&self, object: &K, visit: &mut dyn FnMut(Owner<'_>)) {
        self.0.owners(object, visit);
    }

    fn generation(&self, object: &K) -> Option<i64> {
        self.0.generation(object)
    }

    fn deleting(&self, object: &K) -> bool {
        self.0.deleting(object)
    }
}
