//! Every metric there is: name, help, labels, buckets.

use prometheus::{
    GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, core::Collector,
    exponential_buckets,
};

/// Names a queue (controller-runtime `pkg/internal/metrics`).
const QUEUE: &[&str] = &["name", "controller"];
/// Names a controller (controller-runtime `pkg/internal/controller/metrics`).
#[cfg(feature = "controller")]
const CONTROLLER: &[&str] = &["controller"];
/// Names an informer (component-base `clientgo/fifo`, which has no part).
#[cfg(feature = "informer")]
pub(crate) const INFORMER: &[&str] = &["name", "group", "version", "resource", "part"];

/// A registry under construction.
pub(crate) struct Making<'a>(pub(crate) &'a prometheus::Registry);

impl Making<'_> {
    fn register<M: Collector + Clone + 'static>(&self, metric: prometheus::Result<M>) -> M {
        let metric = metric.expect("names and labels are constants that are tested");
        self.0
            .register(Box::new(metric.clone()))
            .expect("names differ, as is tested");
        metric
    }

    fn counter(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.register(IntCounterVec::new(Opts::new(name, help), labels))
    }

    fn gauge(&self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.register(IntGaugeVec::new(Opts::new(name, help), labels))
    }

    fn seconds(&self, name: &str, help: &str, labels: &[&str]) -> GaugeVec {
        self.register(GaugeVec::new(Opts::new(name, help), labels))
    }

    fn histogram(&self, name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        self.register(HistogramVec::new(options, labels))
    }

    pub(crate) fn plain_counter(&self, name: &str, help: &str) -> IntCounter {
        self.register(IntCounter::new(name, help))
    }
}

/// The values that some labels have in a family, for those series in which other labels have these values.
pub(crate) fn children(family: &impl Collector, of: &[(&str, &str)], labels: &[&str]) -> Vec<Vec<String>> {
    let families = family.collect();
    let metrics = families.iter().flat_map(|family| family.get_metric());
    let value = |metric: &prometheus::proto::Metric, label: &str| {
        let mut pairs = metric.get_label().iter();
        pairs
            .find(|pair| pair.name() == label)
            .map(|pair| pair.value().to_owned())
    };
    metrics
        .filter(|metric| {
            of.iter()
                .all(|(label, wanted)| value(metric, label).as_deref() == Some(wanted))
        })
        .map(|metric| labels.iter().filter_map(|label| value(metric, label)).collect())
        .collect()
}

/// Ten nanoseconds to a thousand seconds and more (controller-runtime; client-go stops at ten).
fn queue_buckets() -> Vec<f64> {
    exponential_buckets(10e-9, 10.0, 12).expect("the factors are constants")
}

/// The work queue's.
#[derive(Clone)]
pub(crate) struct QueueFamilies {
    pub(crate) depth: IntGaugeVec,
    pub(crate) adds: IntCounterVec,
    pub(crate) queue_duration: HistogramVec,
    pub(crate) work_duration: HistogramVec,
    pub(crate) unfinished: GaugeVec,
    pub(crate) longest: GaugeVec,
    pub(crate) retries: IntCounterVec,
    pub(crate) delayed: IntGaugeVec,
}

impl QueueFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        let buckets = queue_buckets();
        Self {
            depth: make.gauge(
                "workqueue_depth",
                "Items that wait in the queue, by priority.",
                &["name", "controller", "priority"],
            ),
            adds: make.counter("workqueue_adds_total", "Items that were added to the queue.", QUEUE),
            queue_duration: make.histogram(
                "workqueue_queue_duration_seconds",
                "How long items waited in the queue.",
                QUEUE,
                &buckets,
            ),
            work_duration: make.histogram(
                "workqueue_work_duration_seconds",
                "How long the work on items took.",
                QUEUE,
                &buckets,
            ),
            unfinished: make.seconds(
                "workqueue_unfinished_work_seconds",
                "How long the items in work have been so, all together. It grows without end where work is stuck.",
                QUEUE,
            ),
            longest: make.seconds(
                "workqueue_longest_running_processor_seconds",
                "How long the oldest item in work has been so.",
                QUEUE,
            ),
            retries: make.counter(
                "workqueue_retries_total",
                "Items that were added with a delay or at a limited rate.",
                QUEUE,
            ),
            delayed: make.gauge(
                "workqueue_delayed_items",
                "Items that wait for their time before they enter the queue.",
                QUEUE,
            ),
        }
    }
}

/// The controller's.
#[cfg(feature = "controller")]
#[derive(Clone)]
pub(crate) struct ReconcileFamilies {
    pub(crate) total: IntCounterVec,
    pub(crate) errors: IntCounterVec,
    pub(crate) terminal_errors: IntCounterVec,
    pub(crate) panics: IntCounterVec,
    pub(crate) timeouts: IntCounterVec,
    pub(crate) time: HistogramVec,
    pub(crate) max_concurrent: IntGaugeVec,
    pub(crate) active: IntGaugeVec,
}

/// Upstream: controller-runtime `ReconcileTime`.
#[cfg(feature = "controller")]
const RECONCILE_BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0,
];

#[cfg(feature = "controller")]
impl ReconcileFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        let counter = |name: &str, help: &str| make.counter(name, help, CONTROLLER);
        Self {
            total: make.counter(
                "controller_runtime_reconcile_total",
                "Reconciles that ended, by result.",
                &["controller", "result"],
            ),
            errors: counter(
                "controller_runtime_reconcile_errors_total",
                "Reconciles that failed.",
            ),
            terminal_errors: counter(
                "controller_runtime_terminal_reconcile_errors_total",
                "Reconciles that failed for good.",
            ),
            panics: counter(
                "controller_runtime_reconcile_panics_total",
                "Reconciles that panicked.",
            ),
            timeouts: counter(
                "controller_runtime_reconcile_timeouts_total",
                "Reconciles that took longer than the controller allows.",
            ),
            time: make.histogram(
                "controller_runtime_reconcile_time_seconds",
                "How long reconciles took.",
                CONTROLLER,
                &RECONCILE_BUCKETS,
            ),
            max_concurrent: make.gauge(
                "controller_runtime_max_concurrent_reconciles",
                "Reconciles that may run at once.",
                CONTROLLER,
            ),
            active: make.gauge(
                "controller_runtime_active_workers",
                "Reconciles that run now.",
                CONTROLLER,
            ),
        }
    }
}

/// The election's (component-base `clientgo/leaderelection`).
#[cfg(feature = "leaderelection")]
#[derive(Clone)]
pub(crate) struct ElectionFamilies {
    pub(crate) leading: IntGaugeVec,
    pub(crate) slow_path: IntCounterVec,
}

#[cfg(feature = "leaderelection")]
impl ElectionFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        Self {
            leading: make.gauge(
                "leader_election_master_status",
                "Whether this process leads the lease of this name: 1, or 0 while it stands by.",
                &["name"],
            ),
            slow_path: make.counter(
                "leader_election_slowpath_total",
                "Renewals that had to read the lease of this name first.",
                &["name"],
            ),
        }
    }
}

/// The informer's, first those of component-base `clientgo/fifo`.
#[cfg(feature = "informer")]
#[derive(Clone)]
pub(crate) struct InformerFamilies {
    pub(crate) queued: IntGaugeVec,
    pub(crate) latency: HistogramVec,
    pub(crate) version: IntGaugeVec,
    pub(crate) objects: IntGaugeVec,
    pub(crate) refused: IntGaugeVec,
    pub(crate) bytes: IntGaugeVec,
    pub(crate) lag: GaugeVec,
    pub(crate) backlog: IntGaugeVec,
    pub(crate) merged: IntCounterVec,
    pub(crate) calls: HistogramVec,
    pub(crate) panics: IntCounterVec,
}

/// Upstream: component-base `fifoProcessingLatency`.
#[cfg(feature = "informer")]
const LATENCY_BUCKETS: [f64; 12] = [
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

#[cfg(feature = "informer")]
impl InformerFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        let with_handler = [INFORMER, &["handler"]].concat();
        let gauge = |name: &str, help: &str| make.gauge(name, help, INFORMER);
        Self {
            queued: gauge("informer_queued_items", "Deltas that wait for the store."),
            latency: make.histogram(
                "informer_processing_latency_seconds",
                "How long it took to apply a batch of deltas.",
                INFORMER,
                &LATENCY_BUCKETS,
            ),
            version: gauge(
                "informer_store_resource_version",
                "The last 15 digits of the version that the store follows the source up to.",
            ),
            objects: gauge("informer_store_objects", "Objects in the store."),
            refused: gauge(
                "informer_store_refused_objects",
                "Objects whose latest state the store refuses.",
            ),
            bytes: gauge(
                "informer_store_bytes",
                "What the objects in the store weigh, where the program tells it.",
            ),
            lag: make.seconds(
                "informer_lag_seconds",
                "For how long the source has not been followed; zero while a watch is open.",
                INFORMER,
            ),
            backlog: make.gauge(
                "informer_handler_backlog",
                "Changes that wait for a handler.",
                &with_handler,
            ),
            merged: make.counter(
                "informer_handler_merged_total",
                "Changes that a handler was not told since they merged with later ones.",
                &with_handler,
            ),
            calls: make.histogram(
                "informer_handler_duration_seconds",
                "How long calls of a handler took.",
                &with_handler,
                &LATENCY_BUCKETS,
            ),
            panics: make.counter(
                "informer_handler_panics_total",
                "Calls of a handler that panicked.",
                &with_handler,
            ),
        }
    }
}

/// The reflector's: those that client-go defines and does not feed, and why it lists again.
#[cfg(feature = "informer")]
#[derive(Clone)]
pub(crate) struct ReflectorFamilies {
    pub(crate) lists: IntCounterVec,
    pub(crate) list_duration: HistogramVec,
    pub(crate) items_per_list: HistogramVec,
    pub(crate) watches: IntCounterVec,
    pub(crate) short_watches: IntCounterVec,
    pub(crate) watch_duration: HistogramVec,
    pub(crate) items_per_watch: HistogramVec,
    pub(crate) version: IntGaugeVec,
    pub(crate) relists: IntCounterVec,
    pub(crate) failures: IntCounterVec,
}

#[cfg(feature = "informer")]
impl ReflectorFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        let with_reason = [INFORMER, &["request", "reason"]].concat();
        let counter = |name: &str, help: &str| make.counter(name, help, INFORMER);
        let histogram =
            |name: &str, help: &str, buckets: &[f64]| make.histogram(name, help, INFORMER, buckets);
        let list_buckets = [
            0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
        ];
        // A watch lives five to ten minutes as a rule.
        let watch_buckets = [
            1.0, 5.0, 15.0, 60.0, 120.0, 300.0, 360.0, 420.0, 480.0, 540.0, 600.0, 900.0,
        ];
        let item_buckets = [0.0, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6];
        Self {
            lists: counter("reflector_lists_total", "Whole states that were asked for."),
            list_duration: histogram(
                "reflector_list_duration_seconds",
                "How long whole states took to come.",
                &list_buckets,
            ),
            items_per_list: histogram(
                "reflector_items_per_list",
                "Objects of a whole state.",
                &item_buckets,
            ),
            watches: counter("reflector_watches_total", "Watches that were opened."),
            short_watches: counter(
                "reflector_short_watches_total",
                "Watches that ended within a second and brought nothing.",
            ),
            watch_duration: histogram(
                "reflector_watch_duration_seconds",
                "How long watches lasted.",
                &watch_buckets,
            ),
            items_per_watch: histogram(
                "reflector_items_per_watch",
                "Objects that a watch brought.",
                &item_buckets,
            ),
            version: make.gauge(
                "reflector_last_resource_version",
                "The last 15 digits of the version last received.",
                INFORMER,
            ),
            relists: make.counter(
                "reflector_relists_total",
                "Whole states that were asked for after the first, by what failed before.",
                &with_reason,
            ),
            failures: make.counter(
                "reflector_failures_total",
                "Requests that failed, and objects that could not be used.",
                &with_reason,
            ),
        }
    }
}

/// The event recorder's.
#[cfg(feature = "events")]
#[derive(Clone)]
pub(crate) struct EventFamilies {
    pub(crate) recorded: IntCounterVec,
    pub(crate) writes: IntCounterVec,
    pub(crate) duration: HistogramVec,
    pub(crate) waiting: IntGaugeVec,
}

#[cfg(feature = "events")]
impl EventFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        Self {
            recorded: make.counter(
                "informer_events_recorded_total",
                "Events that were recorded, by what became of them.",
                &["name", "fate"],
            ),
            writes: make.counter(
                "informer_events_writes_total",
                "Requests to write events, by how they ended.",
                &["name", "verb", "result"],
            ),
            duration: make.histogram(
                "informer_events_write_duration_seconds",
                "How long requests to write events took.",
                &["name", "verb"],
                &REQUEST_BUCKETS,
            ),
            waiting: make.gauge(
                "informer_events_pending_writes",
                "Writes of events that wait or are under way.",
                &["name"],
            ),
        }
    }
}

/// Upstream: component-base `requestLatency`.
#[cfg(any(feature = "events", feature = "transport"))]
const REQUEST_BUCKETS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// The client's (component-base `restclient`).
#[cfg(feature = "transport")]
#[derive(Clone)]
pub(crate) struct RequestFamilies {
    pub(crate) total: IntCounterVec,
    pub(crate) duration: HistogramVec,
    pub(crate) request_size: HistogramVec,
}

#[cfg(feature = "transport")]
impl RequestFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        // 64 bytes to 16 MB.
        let sizes = [
            64.0,
            256.0,
            512.0,
            1024.0,
            4096.0,
            16384.0,
            65536.0,
            262_144.0,
            1_048_576.0,
            4_194_304.0,
            16_777_216.0,
        ];
        Self {
            total: make.counter(
                "rest_client_requests_total",
                "Requests that were answered or failed, by status code, method and host.",
                &["code", "method", "host"],
            ),
            duration: make.histogram(
                "rest_client_request_duration_seconds",
                "How long it took until the head of the answer came.",
                &["verb", "host"],
                &REQUEST_BUCKETS,
            ),
            request_size: make.histogram(
                "rest_client_request_size_bytes",
                "How large the bodies of requests were.",
                &["verb", "host"],
                &sizes,
            ),
        }
    }
}
