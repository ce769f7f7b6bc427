//! Controllers.

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};

use super::Making;

/// Names a controller (controller-runtime `pkg/internal/controller/metrics`).
const CONTROLLER: &[&str] = &["controller"];

/// The controller's.
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
const RECONCILE_BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0,
];

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
