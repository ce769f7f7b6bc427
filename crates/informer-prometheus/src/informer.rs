//! Informers as `informer_*`: queue, store, lag and handlers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::ResourceVersion;
use informer_sharedinformer::{InformerId, Metrics, MetricsProvider, MetricsRegistry, metrics::gauge_of};
use prometheus::{Histogram, IntCounter, IntGauge};

use crate::{Registry, families::InformerFamilies, reflector::ReflectorMetrics, scopes::Lease};

/// The labels of an informer.
pub(crate) fn labels_of(id: &InformerId) -> Vec<String> {
    let resource = &id.resource;
    [
        &id.name,
        &resource.group,
        &resource.version,
        &resource.plural,
        &id.part,
    ]
    .map(|label| label.to_string())
    .into()
}

impl Registry {
    /// Has informers and factories measured: for their `metrics` methods. Call it once per program: names are told apart among the informers
    /// of one [`MetricsRegistry`].
    #[must_use]
    pub fn informers(&self) -> MetricsRegistry {
        MetricsRegistry::new(self.clone())
    }

    /// Shows what the objects in the store of this informer weigh, as `informer_store_bytes`. What an object weighs only its owner knows: this goes
    /// before the estimate of an informer that was given a way to [weigh](informer_sharedinformer::Builder::weigh) them, as those of a cache are.
    /// `weigh` is asked at each render while the informer lives and is measured.
    pub fn store_bytes(&self, id: &InformerId, weigh: impl Fn() -> u64 + Send + Sync + 'static) {
        self.0.informers.weigh(labels_of(id), Arc::new(weigh));
    }
}

/// The provider is for [`MetricsRegistry::new`]; [`Registry::informers`] does that.
impl MetricsProvider for Registry {
    fn informer(&self, id: &InformerId) -> Box<dyn Metrics> {
        Box::new(InformerMetrics::new(self, id))
    }

    fn store_bytes(&self, id: &InformerId, weigh: Box<dyn Fn() -> u64 + Send + Sync>) {
        let labels = labels_of(id);
        // One that is not measured has no series.
        if self.0.scopes.has("informer", &labels) {
            self.0.informers.weigh_unless(labels, weigh.into());
        }
    }

    fn reflector(&self, id: &InformerId) -> Option<Arc<dyn informer_reflector::Metrics>> {
        Some(Arc::new(ReflectorMetrics::new(self, id)))
    }
}

/// Counts for one informer, until it has stopped.
struct InformerMetrics(Option<Inner>);

struct Inner {
    registry: Registry,
    labels: Vec<String>,
    handles: Handles,
    /// `None` once it has stopped: nothing may be made anew then.
    live: Mutex<Option<Live>>,
}

struct Handles {
    queued: IntGauge,
    latency: Histogram,
    version: IntGauge,
    objects: IntGauge,
    refused: IntGauge,
}

struct Live {
    handlers: BTreeMap<String, Option<(Handler, Lease)>>,
    _lease: Lease,
}

#[derive(Clone)]
struct Handler {
    backlog: IntGauge,
    merged: IntCounter,
    calls: Histogram,
    panics: IntCounter,
}

impl InformerMetrics {
    fn new(registry: &Registry, id: &InformerId) -> Self {
        let families = registry.0.informer.clone();
        let inner = Arc::downgrade(&registry.0);
        let labels = labels_of(id);
        let make = |labels: &[&str]| Handles {
            queued: families.queued.with_label_values(labels),
            latency: families.latency.with_label_values(labels),
            version: families.version.with_label_values(labels),
            objects: families.objects.with_label_values(labels),
            refused: families.refused.with_label_values(labels),
        };
        let remove = move |labels: &[&str]| {
            if let Some(inner) = inner.upgrade() {
                remove(&inner.informer, labels);
                inner.informers.forget(labels);
            }
        };
        let entered = registry.0.scopes.enter("informer", labels.clone(), make, remove);
        Self(entered.map(|(handles, lease)| Inner {
            registry: registry.clone(),
            labels,
            handles,
            live: Mutex::new(Some(Live {
                handlers: BTreeMap::new(),
                _lease: lease,
            })),
        }))
    }
}

fn remove(families: &InformerFamilies, labels: &[&str]) {
    let _missing = families.queued.remove_label_values(labels);
    let _missing = families.latency.remove_label_values(labels);
    let _missing = families.version.remove_label_values(labels);
    let _missing = families.objects.remove_label_values(labels);
    let _missing = families.refused.remove_label_values(labels);
}

impl Inner {
    fn live(&self) -> MutexGuard<'_, Option<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The series of a handler, made at its first sign. `None` where there are too many, or none any more.
    fn handler(&self, name: &str) -> Option<Handler> {
        let mut live = self.live();
        let handlers = &mut live.as_mut()?.handlers;
        if !handlers.contains_key(name) {
            handlers.insert(name.to_owned(), self.enter_handler(name));
        }
        handlers.get(name)?.as_ref().map(|(handler, _)| handler.clone())
    }

    fn enter_handler(&self, name: &str) -> Option<(Handler, Lease)> {
        let families = self.registry.0.informer.clone();
        let removing = families.clone();
        let labels = [self.labels.clone(), vec![name.to_owned()]].concat();
        let make = |labels: &[&str]| Handler {
            backlog: families.backlog.with_label_values(labels),
            merged: families.merged.with_label_values(labels),
            calls: families.calls.with_label_values(labels),
            panics: families.panics.with_label_values(labels),
        };
        let remove = move |labels: &[&str]| {
            let _missing = removing.backlog.remove_label_values(labels);
            let _missing = removing.merged.remove_label_values(labels);
            let _missing = removing.calls.remove_label_values(labels);
            let _missing = removing.panics.remove_label_values(labels);
        };
        self.registry.0.scopes.enter("handler", labels, make, remove)
    }
}

impl Metrics for InformerMetrics {
    fn queued(&self, deltas: usize) {
        if let Some(inner) = &self.0 {
            inner.handles.queued.set(number(deltas));
        }
    }

    fn processed(&self, _deltas: usize, took: Duration) {
        if let Some(inner) = &self.0 {
            inner.handles.latency.observe(took.as_secs_f64());
        }
    }

    fn stored(&self, objects: usize, applied: &ResourceVersion) {
        let Some(inner) = &self.0 else { return };
        inner.handles.objects.set(number(objects));
        if let Some(version) = gauge_of(applied) {
            inner
                .handles
                .version
                .set(i64::try_from(version).unwrap_or(i64::MAX));
        }
    }

    fn refused(&self, objects: usize) {
        if let Some(inner) = &self.0 {
            inner.handles.refused.set(number(objects));
        }
    }

    fn backlog(&self, handler: &str, waiting: usize, merged: u64) {
        if let Some(handler) = self.0.as_ref().and_then(|inner| inner.handler(handler)) {
            handler.backlog.set(number(waiting));
            // Told as a sum, counted as what is new.
            let before = handler.merged.get();
            handler.merged.inc_by(merged.saturating_sub(before));
        }
    }

    fn called(&self, handler: &str, took: Duration, panicked: bool) {
        if let Some(handler) = self.0.as_ref().and_then(|inner| inner.handler(handler)) {
            handler.calls.observe(took.as_secs_f64());
            handler.panics.inc_by(u64::from(panicked));
        }
    }

    fn gone(&self, handler: &str) {
        let Some(inner) = &self.0 else { return };
        let removed = inner
            .live()
            .as_mut()
            .and_then(|live| live.handlers.remove(handler));
        drop(removed);
    }

    fn stopped(&self) {
        if let Some(inner) = &self.0 {
            let live = inner.live().take();
            drop(live);
        }
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
