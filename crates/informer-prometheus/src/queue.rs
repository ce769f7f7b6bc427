//! `QueueMetrics`: a work queue as `workqueue_*`.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_workqueue::{Metrics, Probe};
use prometheus::{Histogram, IntCounter, IntGauge};

use crate::{
    Registry,
    families::{QueueFamilies, children},
    scopes::Lease,
};

/// So many priorities have a series of their own (controller-runtime `maxRecommendedUniquePriorities`).
const MAX_PRIORITIES: usize = 25;

/// The label of all others together, as controller-runtime has it.
const OTHER_PRIORITIES: &str = "exceeded_cardinality_limit";

/// Counts for one queue. Its series go when it is dropped, which the queue does at its end.
pub struct QueueMetrics(Option<Inner>);

struct Inner {
    registry: Registry,
    name: String,
    handles: Handles,
    depths: Mutex<Depths>,
    _lease: Lease,
}

struct Handles {
    adds: IntCounter,
    queue_duration: Histogram,
    work_duration: Histogram,
    retries: IntCounter,
}

/// The series of each priority, as many as there may be.
#[derive(Default)]
struct Depths {
    own: BTreeMap<i32, IntGauge>,
    /// What waits at priorities without a series of their own, those at which something does.
    others: BTreeMap<i32, i64>,
}

impl QueueMetrics {
    pub(crate) fn new(registry: &Registry, name: &str) -> Self {
        let families = registry.0.queue.clone();
        let removing = families.clone();
        let labels = vec![name.to_owned(), name.to_owned()];
        let entered = registry.0.scopes.enter(
            "queue",
            labels,
            |labels| Handles {
                adds: families.adds.with_label_values(labels),
                queue_duration: families.queue_duration.with_label_values(labels),
                work_duration: families.work_duration.with_label_values(labels),
                retries: families.retries.with_label_values(labels),
            },
            move |labels| remove(&removing, labels),
        );
        let inner = entered.map(|(handles, lease)| Inner {
            registry: registry.clone(),
            name: name.to_owned(),
            handles,
            depths: Mutex::default(),
            _lease: lease,
        });
        let metrics = Self(inner);
        // There from the start, as dashboards like it.
        metrics.depth_at(0, 0);
        metrics
    }
}

fn remove(families: &QueueFamilies, labels: &[&str]) {
    // What was never written is not there: that is no mistake.
    let _missing = families.adds.remove_label_values(labels);
    let _missing = families.queue_duration.remove_label_values(labels);
    let _missing = families.work_duration.remove_label_values(labels);
    let _missing = families.retries.remove_label_values(labels);
    for mut all in children(&families.depth, &[("name", labels[0])], &["priority"]) {
        let priority = all.remove(0);
        let _missing = families
            .depth
            .remove_label_values(&[labels[0], labels[1], &priority]);
    }
}

impl Metrics for QueueMetrics {
    fn opened(&self, probe: Probe) {
        if let Some(inner) = &self.0 {
            inner.registry.0.probes.add_queue(&inner.name, probe);
        }
    }

    fn depth_at(&self, priority: i32, depth: usize) {
        if let Some(inner) = &self.0 {
            inner.depth_at(priority, i64::try_from(depth).unwrap_or(i64::MAX));
        }
    }

    fn added(&self) {
        if let Some(inner) = &self.0 {
            inner.handles.adds.inc();
        }
    }

    fn taken(&self, waited_for: Duration) {
        if let Some(inner) = &self.0 {
            inner.handles.queue_duration.observe(waited_for.as_secs_f64());
        }
    }

    fn finished(&self, worked_for: Duration) {
        if let Some(inner) = &self.0 {
            inner.handles.work_duration.observe(worked_for.as_secs_f64());
        }
    }

    fn retried(&self) {
        if let Some(inner) = &self.0 {
            inner.handles.retries.inc();
        }
    }
}

impl Inner {
    fn depth_at(&self, priority: i32, depth: i64) {
        let mut depths = self.depths.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gauge) = depths.own.get(&priority) {
            gauge.set(depth);
            return;
        }
        if depths.own.len() < MAX_PRIORITIES {
            let gauge = self.gauge(&priority.to_string());
            gauge.set(depth);
            depths.own.insert(priority, gauge);
            return;
        }
        if depth == 0 {
            depths.others.remove(&priority);
        } else {
            depths.others.insert(priority, depth);
        }
        self.gauge(OTHER_PRIORITIES).set(depths.others.values().sum());
    }

    fn gauge(&self, priority: &str) -> IntGauge {
        let families = &self.registry.0.queue;
        families
            .depth
            .with_label_values(&[&self.name, &self.name, priority])
    }
}

impl fmt::Debug for QueueMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueMetrics").finish_non_exhaustive()
    }
}

/// What is asked at each look: the numbers of queues that grow while nothing happens.
#[derive(Default)]
pub(crate) struct Probes {
    queues: Mutex<Queues>,
}

#[derive(Default)]
struct Queues {
    next: u64,
    probes: BTreeMap<u64, (Arc<str>, Probe)>,
}

impl Probes {
    fn add_queue(&self, name: &str, probe: Probe) {
        let mut queues = self.lock();
        let id = queues.next;
        queues.next += 1;
        queues.probes.insert(id, (name.into(), probe));
    }

    /// A probe is never asked under it: a queue tells of its own while it is locked.
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks all queues. Those of one name count together; those that are gone are asked no more.
    pub(crate) fn refresh(&self, families: &QueueFamilies) {
        let probes = self.lock().probes.clone();
        let mut sums: BTreeMap<Arc<str>, (Duration, Duration, usize)> = BTreeMap::new();
        for (id, (name, probe)) in probes {
            let Some(stats) = probe.stats() else {
                self.lock().probes.remove(&id);
                continue;
            };
            let (unfinished, longest, delayed) = sums.entry(name).or_default();
            *unfinished += stats.unfinished_for;
            *longest = stats.longest_for.max(*longest);
            *delayed += stats.delayed;
        }
        families.unfinished.reset();
        families.longest.reset();
        families.delayed.reset();
        for (name, (unfinished, longest, delayed)) in sums {
            let labels = [&*name, &*name];
            let unfinished_for = families.unfinished.with_label_values(&labels);
            unfinished_for.set(unfinished.as_secs_f64());
            let longest_for = families.longest.with_label_values(&labels);
            longest_for.set(longest.as_secs_f64());
            let delayed = i64::try_from(delayed).unwrap_or(i64::MAX);
            families.delayed.with_label_values(&labels).set(delayed);
        }
    }
}
