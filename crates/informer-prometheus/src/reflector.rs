//! Reflectors as `reflector_*`, and why they list again.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{FailureClass, ResourceVersion};
use informer_reflector::{Metrics, Problem, is_short};
use informer_sharedinformer::{InformerId, metrics::gauge_of};
use prometheus::{Histogram, IntCounter, IntGauge};

use crate::{
    Registry,
    asked::Lag,
    families::{INFORMER, ReflectorFamilies, children},
    informer::labels_of,
    scopes::Lease,
};

/// Counts for the reflector of one informer. Its series go when it is dropped, which the reflector does at its end.
pub(crate) struct ReflectorMetrics(Option<Inner>);

struct Inner {
    families: ReflectorFamilies,
    labels: Vec<String>,
    handles: Handles,
    lag: Arc<Mutex<Lag>>,
    story: Mutex<Story>,
    _lease: Lease,
}

struct Handles {
    lists: IntCounter,
    list_duration: Histogram,
    items_per_list: Histogram,
    watches: IntCounter,
    short_watches: IntCounter,
    watch_duration: Histogram,
    items_per_watch: Histogram,
    version: IntGauge,
}

/// What happened before a list.
#[derive(Default)]
struct Story {
    has_state: bool,
    last_failure: Option<Problem>,
}

impl ReflectorMetrics {
    pub(crate) fn new(registry: &Registry, id: &InformerId) -> Self {
        let families = registry.0.reflector.clone();
        let removing = families.clone();
        let labels = labels_of(id);
        let make = |labels: &[&str]| Handles {
            lists: families.lists.with_label_values(labels),
            list_duration: families.list_duration.with_label_values(labels),
            items_per_list: families.items_per_list.with_label_values(labels),
            watches: families.watches.with_label_values(labels),
            short_watches: families.short_watches.with_label_values(labels),
            watch_duration: families.watch_duration.with_label_values(labels),
            items_per_watch: families.items_per_watch.with_label_values(labels),
            version: families.version.with_label_values(labels),
        };
        let remove = move |labels: &[&str]| remove(&removing, labels);
        let entered = registry.0.scopes.enter("reflector", labels.clone(), make, remove);
        Self(entered.map(|(handles, lease)| {
            let lag = Arc::new(Mutex::new(Lag::default()));
            registry.0.informers.lags(labels.clone(), lag.clone());
            Inner {
                families,
                labels,
                handles,
                lag,
                story: Mutex::default(),
                _lease: lease,
            }
        }))
    }
}

fn remove(families: &ReflectorFamilies, labels: &[&str]) {
    let _missing = families.lists.remove_label_values(labels);
    let _missing = families.list_duration.remove_label_values(labels);
    let _missing = families.items_per_list.remove_label_values(labels);
    let _missing = families.watches.remove_label_values(labels);
    let _missing = families.short_watches.remove_label_values(labels);
    let _missing = families.watch_duration.remove_label_values(labels);
    let _missing = families.items_per_watch.remove_label_values(labels);
    let _missing = families.version.remove_label_values(labels);
    let of: Vec<_> = INFORMER.iter().copied().zip(labels.iter().copied()).collect();
    for family in [&families.relists, &families.failures] {
        for rest in children(family, &of, &["request", "reason"]) {
            let rest = rest.iter().map(String::as_str);
            let all: Vec<_> = labels.iter().copied().chain(rest).collect();
            let _missing = family.remove_label_values(&all);
        }
    }
}

/// What failed, and how, as label values: a few dozen pairs in all.
fn reason_of(problem: Problem) -> (&'static str, &'static str) {
    match problem {
        Problem::List(class) => ("list", class_of(class)),
        Problem::StreamingList(class) => ("streaming_list", class_of(class)),
        Problem::Watch(class) => ("watch", class_of(class)),
        Problem::Resync => ("resync", "refused"),
        Problem::Undecodable => ("object", "undecodable"),
        Problem::Odd => ("object", "odd"),
        Problem::Key => ("object", "key"),
        Problem::Transform => ("object", "transform"),
        Problem::Panic => ("object", "panic"),
        _ => ("other", "other"),
    }
}

fn class_of(class: FailureClass) -> &'static str {
    match class {
        FailureClass::VersionTooLarge => "version_too_large",
        FailureClass::NotFound => "not_found",
        class => class.as_str(),
    }
}

impl Inner {
    fn story(&self) -> MutexGuard<'_, Story> {
        self.story.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lag(&self) -> MutexGuard<'_, Lag> {
        self.lag.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn labels<'a>(&'a self, (request, reason): (&'a str, &'a str)) -> Vec<&'a str> {
        let labels = self.labels.iter().map(String::as_str);
        labels.chain([request, reason]).collect()
    }
}

impl Metrics for ReflectorMetrics {
    fn list_began(&self) {
        let Some(inner) = &self.0 else { return };
        inner.handles.lists.inc();
        let mut story = inner.story();
        if story.has_state {
            // Nothing failed: it was asked to, as after a commit that failed.
            let reason = story.last_failure.take().map_or(("none", "asked"), reason_of);
            inner
                .families
                .relists
                .with_label_values(&inner.labels(reason))
                .inc();
            inner.lag().falls_behind();
        }
    }

    fn list_ended(&self, took: Duration, objects: usize) {
        let Some(inner) = &self.0 else { return };
        inner.handles.list_duration.observe(took.as_secs_f64());
        inner.handles.items_per_list.observe(objects as f64);
        let mut story = inner.story();
        story.has_state = true;
        story.last_failure = None;
        inner.lag().has_state();
    }

    fn watch_began(&self) {
        let Some(inner) = &self.0 else { return };
        inner.handles.watches.inc();
        inner.lag().follows();
    }

    fn watch_ended(&self, took: Duration, objects: u64) {
        let Some(inner) = &self.0 else { return };
        inner.handles.watch_duration.observe(took.as_secs_f64());
        inner.handles.items_per_watch.observe(objects as f64);
        if is_short(took, objects) {
            inner.handles.short_watches.inc();
        }
        inner.lag().falls_behind();
    }

    fn received(&self, version: &ResourceVersion) {
        let Some(inner) = &self.0 else { return };
        if let Some(version) = gauge_of(version) {
            inner
                .handles
                .version
                .set(i64::try_from(version).unwrap_or(i64::MAX));
        }
    }

    fn failed(&self, problem: Problem) {
        let Some(inner) = &self.0 else { return };
        let reason = reason_of(problem);
        inner
            .families
            .failures
            .with_label_values(&inner.labels(reason))
            .inc();
        if reason.0 != "object" {
            inner.story().last_failure = Some(problem);
        }
    }
}
