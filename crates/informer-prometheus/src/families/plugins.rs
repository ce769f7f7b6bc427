//! Exec plug-ins.

use prometheus::{Gauge, Histogram, HistogramOpts, IntCounterVec};

use super::Making;

/// The exec plug-ins' (component-base `restclient`).
#[derive(Clone)]
pub(crate) struct PluginFamilies {
    pub(crate) calls: IntCounterVec,
    pub(crate) ttl: Gauge,
    pub(crate) rotation_age: Histogram,
}

impl PluginFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        const HOUR: f64 = 3600.0;
        const DAY: f64 = 24.0 * HOUR;
        // What is too quick, what is usual, and what is too slow.
        let ages = vec![
            600.0,
            1800.0,
            HOUR,
            4.0 * HOUR,
            DAY,
            7.0 * DAY,
            30.0 * DAY,
            90.0 * DAY,
            180.0 * DAY,
            360.0 * DAY,
            1440.0 * DAY,
        ];
        let ttl = Gauge::new(
            "rest_client_exec_plugin_ttl_seconds",
            "In how long the first of the certificates that plug-ins gave expires; infinite without one.",
        );
        let rotation_age = HistogramOpts::new(
            "rest_client_exec_plugin_certificate_rotation_age",
            "How many seconds old certificates of plug-ins were when they were replaced.",
        );
        Self {
            calls: make.counter(
                "rest_client_exec_plugin_call_total",
                "Runs of exec plug-ins, by exit code and outcome.",
                &["code", "call_status"],
            ),
            ttl: make.register(ttl),
            rotation_age: make.register(Histogram::with_opts(rotation_age.buckets(ages))),
        }
    }
}
