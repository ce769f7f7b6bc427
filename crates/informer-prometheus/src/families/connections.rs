//! Connections of the transport over hyper.

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};

use super::{Making, REQUEST_BUCKETS};

/// The connections', the rate limit's and the retries' (the latter two of component-base `restclient`).
#[derive(Clone)]
pub(crate) struct ConnectionFamilies {
    pub(crate) throttled: HistogramVec,
    pub(crate) retries: IntCounterVec,
    pub(crate) open: IntGaugeVec,
    pub(crate) opened: IntCounterVec,
    pub(crate) reused: IntCounterVec,
    pub(crate) silent: IntCounterVec,
    pub(crate) failed: IntCounterVec,
    pub(crate) connect: HistogramVec,
    pub(crate) handshake: HistogramVec,
    pub(crate) lifetime: HistogramVec,
}

impl ConnectionFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        // A second to a day: connections live as long as their watches.
        let lifetimes = [1.0, 10.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 14_400.0, 86_400.0];
        Self {
            throttled: make.histogram(
                "rest_client_rate_limiter_duration_seconds",
                "How long requests waited for the client's own rate limit.",
                &["verb", "host"],
                &REQUEST_BUCKETS,
            ),
            retries: make.counter(
                "rest_client_request_retries_total",
                "Requests that were sent again, by status code, method and host.",
                &["code", "verb", "host"],
            ),
            open: make.gauge(
                "informer_transport_connections",
                "Open connections, by version of HTTP.",
                &["host", "http"],
            ),
            opened: make.counter(
                "informer_transport_connections_opened_total",
                "Connections that were opened.",
                &["host", "http"],
            ),
            reused: make.counter(
                "informer_transport_connections_reused_total",
                "Requests that went over a connection that was there.",
                &["host", "http"],
            ),
            silent: make.counter(
                "informer_transport_connections_silent_total",
                "Times that nothing came over a connection while an answer was due, so that the request went another way too.",
                &["host", "http"],
            ),
            failed: make.counter(
                "informer_transport_connections_failed_total",
                "Connections that did not come about.",
                &["host", "reason"],
            ),
            connect: make.histogram(
                "informer_transport_connect_duration_seconds",
                "How long it took to open a connection, TLS and the beginning of HTTP included.",
                &["host", "http"],
                &REQUEST_BUCKETS,
            ),
            handshake: make.histogram(
                "informer_transport_tls_handshake_duration_seconds",
                "How long TLS handshakes took, good ones and others.",
                &["host", "result"],
                &REQUEST_BUCKETS,
            ),
            lifetime: make.histogram(
                "informer_transport_connection_lifetime_seconds",
                "How long connections were open.",
                &["host", "http"],
                &lifetimes,
            ),
        }
    }
}
