//! Informers.

use prometheus::{GaugeVec, HistogramVec, IntCounterVec, IntGaugeVec};

use super::Making;

/// Names an informer (component-base `clientgo/fifo`, which has no part).
pub(crate) const INFORMER: &[&str] = &["name", "group", "version", "resource", "part"];

/// The informer's, first those of component-base `clientgo/fifo`.
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
const LATENCY_BUCKETS: [f64; 12] = [
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

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
                "What the objects in the store weigh, as the program tells it, or estimated from a sample.",
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
