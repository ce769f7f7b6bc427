//! Recorded events.

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};

use super::{Making, REQUEST_BUCKETS};

/// The event recorder's.
#[derive(Clone)]
pub(crate) struct EventFamilies {
    pub(crate) recorded: IntCounterVec,
    pub(crate) writes: IntCounterVec,
    pub(crate) duration: HistogramVec,
    pub(crate) waiting: IntGaugeVec,
}

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
