//! Reflectors.

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};

use super::{INFORMER, Making};

/// The reflector's: those that client-go defines and does not feed, and why it lists again.
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
