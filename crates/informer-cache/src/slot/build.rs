//! How a slot is put together.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_client::{DynamicMeta, Form, PartialMeta, Query, Selectors};
use informer_core::{Identity, Meta, Resource};
use informer_sharedinformer::{Factory, Selection, Transform, TransformError};
use informer_transport::{DynamicObject, PartialMetadata};
use tokio::sync::watch;

use super::{Parts, Slot, Sources};
use crate::{
    cache::Settings,
    error::CacheError,
    options::KindOptions,
    scope::{self, Covered},
    transform::AnyTransform,
};

impl<K: Form> Slot<K> {
    pub(crate) fn new(
        settings: &Settings,
        resource: Resource,
        options: KindOptions<K>,
    ) -> Result<Self, CacheError> {
        let mut selecting = options.selecting;
        // What is said of the kind itself goes before what is said of all its namespaces.
        selecting.all.sync_period = options.sync_period.or(selecting.all.sync_period);
        if let Some(transform) = options.transform {
            selecting.all.transform = Some(AnyTransform::of::<K>(Shared(transform)));
        }
        let covered = scope::settle(&resource, &selecting, &settings.defaults)?;
        let codec = options
            .codec
            .unwrap_or_else(|| settings.live.codec::<K>(&resource));
        let api = settings.live.client().with_codec(resource.clone(), codec);
        let by_namespace = covered.clone();
        let sources: Sources<K> = Box::new(move |selection: &Selection| {
            let part = by_namespace.part(selection.namespace.as_deref());
            let selectors = Selectors::all().labels(&*part.labels).fields(&*part.fields);
            let source = match &selection.namespace {
                Some(namespace) => api.clone().in_namespace(namespace).source(selectors),
                None => api.source(selectors),
            };
            if part.bookmarks == Some(false) {
                source.tweak(without_bookmarks)
            } else {
                source
            }
        });
        let periods: BTreeMap<Option<String>, Duration> = covered
            .names()
            .map(|name| {
                (
                    name.map(str::to_owned),
                    settings.sync_period(&resource, name, covered.part(name).sync_period),
                )
            })
            .collect();
        let later = settings.sync_period(&resource, None, covered.part(None).sync_period);
        let periods = move |selection: &Selection| {
            let namespace = selection.namespace.as_deref().map(str::to_owned);
            periods.get(&namespace).copied().unwrap_or(later)
        };
        let mut factory = Factory::builder(sources)
            .clock(settings.clock.clone())
            .resync_of(periods)
            .reflector_options(settings.reflector.clone());
        if let Some((registry, name)) = &settings.metrics {
            factory = factory.metrics(registry, name.clone()).weigh::<K>(json_length);
        }
        if let Some(hook) = settings.hook.clone() {
            let resource = resource.clone();
            factory = factory.on_error(move |trouble| hook(&resource, trouble));
        }
        let factory = factory.build();
        let selection = Selection::all(resource.clone());
        let transform = covered
            .has_transform()
            .then(|| Arc::new(ByNamespace(covered.clone())));
        let parts = match (&covered, &transform) {
            (Covered::All(_), None) => factory.informer(&selection).map(Parts::All),
            (Covered::All(_), Some(transform)) => factory.transformed(&selection, transform).map(Parts::All),
            (Covered::Named { named, .. }, None) => factory
                .namespaces(&selection, named.keys().map(|name| &**name))
                .map(Parts::Named),
            (Covered::Named { named, .. }, Some(transform)) => factory
                .transformed_namespaces(&selection, named.keys().map(|name| &**name), transform)
                .map(Parts::Named),
        };
        Ok(Self {
            parts: parts.map_err(CacheError::build)?,
            covered,
            factory,
            meta: options
                .meta
                .or_else(|| settings.live_kinds().meta::<K>())
                .or_else(known_meta),
            whole: options.whole
                || TypeId::of::<K>() == TypeId::of::<DynamicObject>()
                || settings.live_kinds().is_whole::<K>(),
            clock: settings.clock.clone(),
            fields: Mutex::default(),
            removed: watch::Sender::new(false),
            resource,
        })
    }
}

/// What an object weighs, as JSON: near to what is sent of it, and to what a form that holds all of it takes.
fn json_length<K: Form>(object: &K) -> u64 {
    let mut length = Length(0);
    // What is no JSON weighs what could be written of it.
    let _unfit = serde_json::to_writer(&mut length, object);
    length.0
}

struct Length(u64);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How the forms that stand for any kind are read.
fn known_meta<K: Form>() -> Option<Arc<dyn Meta<K>>> {
    let dynamic: Arc<dyn Meta<DynamicObject>> = Arc::new(DynamicMeta);
    let partial: Arc<dyn Meta<PartialMetadata>> = Arc::new(PartialMeta);
    let either = [&dynamic as &dyn Any, &partial];
    either
        .into_iter()
        .find_map(|meta| meta.downcast_ref::<Arc<dyn Meta<K>>>().cloned())
}

/// Each object by the transform of its namespace.
struct ByNamespace(Covered);

impl<K: 'static> Transform<K> for ByNamespace {
    fn transform(&self, identity: &Identity, object: &mut K) -> Result<(), TransformError> {
        match &self.0.part(identity.namespace.as_deref()).transform {
            Some(transform) => transform.apply(identity, object),
            None => Ok(()),
        }
    }
}

/// A list that is streamed ends by a bookmark.
fn without_bookmarks(query: &mut Query) {
    if query.get("sendInitialEvents").is_none() {
        query.remove("allowWatchBookmarks");
    }
}

/// A transform behind one type.
struct Shared<K>(Arc<dyn Transform<K>>);

impl<K> Transform<K> for Shared<K> {
    fn transform(&self, identity: &Identity, object: &mut K) -> Result<(), TransformError> {
        self.0.transform(identity, object)
    }
}
