//! `EventMetrics`: what becomes of recorded events, as `informer_events_*`.

use std::{fmt, time::Duration};

use informer_events::{Fate, Metrics, Verb, Written};

use crate::{
    Registry,
    families::{EventFamilies, children},
    scopes::Lease,
};

/// Counts for one broadcaster. Its series go when it is dropped.
pub struct EventMetrics(Option<Inner>);

struct Inner {
    families: EventFamilies,
    name: String,
    _lease: Lease,
}

impl Registry {
    /// Metrics for the event broadcaster of this name, as a rule that of the program.
    #[must_use]
    pub fn events(&self, name: &str) -> EventMetrics {
        let families = self.0.events.clone();
        let removing = families.clone();
        let make = |labels: &[&str]| {
            families.waiting.with_label_values(labels);
        };
        let remove = move |labels: &[&str]| remove(&removing, labels[0]);
        let entered = self.0.scopes.enter("events", vec![name.to_owned()], make, remove);
        EventMetrics(entered.map(|((), lease)| Inner {
            families,
            name: name.to_owned(),
            _lease: lease,
        }))
    }
}

fn remove(families: &EventFamilies, name: &str) {
    let of = [("name", name)];
    let _missing = families.waiting.remove_label_values(&[name]);
    for fate in children(&families.recorded, &of, &["fate"]) {
        let _missing = families.recorded.remove_label_values(&[name, &fate[0]]);
    }
    for rest in children(&families.writes, &of, &["verb", "result"]) {
        let _missing = families.writes.remove_label_values(&[name, &rest[0], &rest[1]]);
    }
    for verb in children(&families.duration, &of, &["verb"]) {
        let _missing = families.duration.remove_label_values(&[name, &verb[0]]);
    }
}

impl Metrics for EventMetrics {
    fn recorded(&self, fate: Fate) {
        let Some(inner) = &self.0 else { return };
        let fate = match fate {
            Fate::Queued => "queued",
            Fate::Counted => "counted",
            Fate::Spam => "spam",
            Fate::QueueFull => "queue_full",
            Fate::Stopped => "stopped",
            Fate::Invalid => "invalid",
            _ => "other",
        };
        inner
            .families
            .recorded
            .with_label_values(&[&inner.name, fate])
            .inc();
    }

    fn written(&self, verb: Verb, result: Written, took: Duration) {
        let Some(inner) = &self.0 else { return };
        let verb = match verb {
            Verb::Create => "create",
            Verb::Patch => "patch",
        };
        let result = match result {
            Written::Done => "done",
            Written::Again => "again",
            Written::Rejected => "rejected",
            Written::Exhausted => "exhausted",
        };
        let labels = [inner.name.as_str(), verb, result];
        inner.families.writes.with_label_values(&labels).inc();
        let duration = inner.families.duration.with_label_values(&labels[..2]);
        duration.observe(took.as_secs_f64());
    }

    fn waiting(&self, writes: usize) {
        let Some(inner) = &self.0 else { return };
        let waiting = inner.families.waiting.with_label_values(&[&inner.name]);
        waiting.set(i64::try_from(writes).unwrap_or(i64::MAX));
    }
}

impl fmt::Debug for EventMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventMetrics").finish_non_exhaustive()
    }
}
