//! Requests.

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};

use super::{Making, REQUEST_BUCKETS};

/// The client's (component-base `restclient`).
#[derive(Clone)]
pub(crate) struct RequestFamilies {
    pub(crate) total: IntCounterVec,
    pub(crate) duration: HistogramVec,
    pub(crate) request_size: HistogramVec,
    pub(crate) response_size: HistogramVec,
    pub(crate) streams: IntGaugeVec,
}

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
            response_size: make.histogram(
                "rest_client_response_size_bytes",
                "How large the bodies of responses were, watches excepted.",
                &["verb", "host"],
                &sizes,
            ),
            streams: make.gauge(
                "informer_transport_open_streams",
                "Responses that are being read, watches among them.",
                &["host"],
            ),
        }
    }
}
