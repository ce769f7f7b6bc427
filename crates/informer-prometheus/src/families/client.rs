//! Clients.

use prometheus::HistogramVec;

use super::Making;

/// The client's that reads its own writes.
#[derive(Clone)]
pub(crate) struct ClientFamilies {
    pub(crate) wait: HistogramVec,
}

/// Upstream: controller-runtime `consistencyClientWaitDuration`.
const WAIT_BUCKETS: [f64; 13] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0,
];

impl ClientFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        Self {
            wait: make.histogram(
                "controller_runtime_client_consistency_wait_duration_seconds",
                "How long reads waited until the cache showed the own writes before them.",
                &["operation", "result"],
                &WAIT_BUCKETS,
            ),
        }
    }
}
