//! Work queues.

use prometheus::{GaugeVec, HistogramVec, IntCounterVec, IntGaugeVec, exponential_buckets};

use super::Making;

/// Names a queue (controller-runtime `pkg/internal/metrics`).
const QUEUE: &[&str] = &["name", "controller"];

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
