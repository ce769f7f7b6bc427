//! How many series there are, and that they go with whom they are about.

use std::time::Duration;

use informer_controller::{ReconcileMetrics as _, ReconcileResult};
use informer_core::Resource;
use informer_events::{Fate, Metrics as _, Verb, Written};
use informer_prometheus::{Options, Registry};
use informer_reflector::Problem;
use informer_sharedinformer::{InformerId, MetricsProvider as _};
use informer_workqueue::Metrics as _;

use crate::{scrape::Scrape, table::pods};

/// Those that are always there.
const REFUSED: &str = "informer_metrics_refused_total";
const PLUGINS: &str = "rest_client_exec_plugin_";

fn is_empty(registry: &Registry) -> bool {
    let scrape = Scrape::of(registry);
    let left: Vec<_> = scrape
        .samples
        .iter()
        .filter(|sample| sample.name != REFUSED && !sample.name.starts_with(PLUGINS))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    true
}

#[test]
fn a_queue_takes_its_series_along() {
    let registry = Registry::new();
    let queue = registry.queue("q");
    for priority in 0..100 {
        queue.depth_at(priority, 1);
    }
    queue.taken(Duration::ZERO);
    drop(queue);
    assert!(is_empty(&registry));
}

#[test]
fn series_stay_until_the_last_of_a_name_is_gone() {
    let registry = Registry::new();
    let (first, second) = (registry.queue("q"), registry.queue("q"));
    first.added();
    second.added();
    drop(first);
    assert_eq!(Scrape::of(&registry).value("workqueue_adds_total", ""), Some(2.0));
    second.depth_at(0, 3);
    assert_eq!(Scrape::of(&registry).value("workqueue_depth", ""), Some(3.0));
    drop(second);
    assert!(is_empty(&registry));
}

#[test]
fn a_controller_takes_its_series_along_when_it_says_so() {
    let registry = Registry::new();
    let controller = registry.controller("c");
    controller.reconciled(ReconcileResult::Error, Duration::ZERO);
    controller.gone();
    assert!(is_empty(&registry));
    // What is told too late goes nowhere, and disturbs no successor.
    controller.panicked();
    let successor = registry.controller("c");
    drop(controller);
    successor.panicked();
    assert_eq!(
        Scrape::of(&registry).value("controller_runtime_reconcile_panics_total", ""),
        Some(1.0)
    );
    drop(successor);
    assert!(is_empty(&registry));
}

#[test]
fn an_informer_takes_its_series_along() {
    let registry = Registry::new();
    let informer = registry.informer(&pods());
    let reflector = registry.reflector(&pods()).unwrap();
    informer.queued(1);
    informer.backlog("a", 1, 0);
    informer.called("b", Duration::ZERO, false);
    registry.store_bytes(&pods(), || 1);
    reflector.list_began();
    reflector.list_ended(Duration::ZERO, 1);
    reflector.failed(Problem::Odd);
    reflector.failed(Problem::Resync);
    reflector.list_began();
    informer.gone("a");
    assert!(
        Scrape::of(&registry)
            .find("informer_handler_backlog", "handler=a")
            .is_empty()
    );
    assert!(
        !Scrape::of(&registry)
            .find("informer_handler_duration_seconds_sum", "handler=b")
            .is_empty()
    );
    informer.stopped();
    drop(reflector);
    assert!(is_empty(&registry));
    // A call that still ran.
    informer.called("b", Duration::ZERO, false);
    assert!(is_empty(&registry));
}

#[test]
fn events_take_their_series_along() {
    let registry = Registry::new();
    let events = registry.events("e");
    events.recorded(Fate::Spam);
    events.written(Verb::Patch, Written::Done, Duration::ZERO);
    drop(events);
    assert!(is_empty(&registry));
}

/// Upstream: controller-runtime `depthWithPriorityMetric`: 25 priorities of their own. The sum of all stays right.
#[test]
fn a_queue_has_so_many_priorities() {
    let registry = Registry::new();
    let queue = registry.queue("q");
    for priority in 0..100 {
        queue.depth_at(priority, 2);
    }
    let depths = |registry: &Registry| {
        let scrape = Scrape::of(registry);
        let all = scrape.find("workqueue_depth", "");
        let sum: f64 = all.iter().map(|sample| sample.value).sum();
        let others = scrape.value("workqueue_depth", "priority=exceeded_cardinality_limit");
        (all.len(), sum, others)
    };
    assert_eq!(depths(&registry), (26, 200.0, Some(150.0)));
    for priority in 0..100 {
        queue.depth_at(priority, 0);
    }
    assert_eq!(depths(&registry), (26, 0.0, Some(0.0)));
}

#[test]
fn what_is_too_much_is_not_measured_but_counted() {
    let mut options = Options::default();
    options.max_measured = 10;
    let registry = Registry::with_options(&options);
    let queues: Vec<_> = (0..15)
        .map(|index| registry.queue(&format!("q{index}")))
        .collect();
    queues.iter().for_each(|queue| queue.added());
    let controller = registry.controller("c");
    controller.panicked();
    let id = InformerId::new("i", Resource::cluster("", "v1", "nodes", "Node"));
    let informer = registry.informer(&id);
    informer.backlog("h", 1, 1);
    registry.reflector(&id).unwrap().list_began();
    registry.events("e").recorded(Fate::Queued);
    let scrape = Scrape::of(&registry);
    assert_eq!(scrape.find("workqueue_adds_total", "").len(), 10);
    assert_eq!(scrape.value(REFUSED, ""), Some(9.0));
    assert!(scrape.find("controller_runtime_active_workers", "").is_empty());
    // A name that is measured already is one that is measured.
    let again = registry.queue("q3");
    again.added();
    assert_eq!(
        Scrape::of(&registry).value("workqueue_adds_total", "name=q3"),
        Some(2.0)
    );
    // There is room again.
    drop(queues);
    drop(again);
    let controller = registry.controller("c");
    controller.panicked();
    assert_eq!(
        Scrape::of(&registry).value("controller_runtime_reconcile_panics_total", ""),
        Some(1.0)
    );
}
