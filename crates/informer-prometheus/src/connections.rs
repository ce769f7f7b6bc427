//! `ConnectionMetrics`: what the transport over hyper does below requests.

use std::{fmt, time::Duration};

use http::Method;
use informer_hyper::{Error, Retry, RetryReason, TransportMetrics};

use crate::{
    Registry,
    families::{ConnectionFamilies, RequestFamilies},
    transport::{NO_ANSWER, label},
};

/// Counts connections, waits and retries of one transport. Made by [`Registry::connections`].
pub struct ConnectionMetrics {
    host: String,
    families: ConnectionFamilies,
    requests: RequestFamilies,
}

impl Registry {
    /// Metrics for `HyperTransport::builder(url).metrics(Arc::new(registry.connections("host")))`, where the host is the one that
    /// [`transport`](Self::transport) is told. It counts the answers that were not handed out but made the transport send a request again, as
    /// upstream counts each attempt; the last answer is the other one's.
    #[must_use]
    pub fn connections(&self, host: impl Into<String>) -> ConnectionMetrics {
        ConnectionMetrics {
            host: host.into(),
            families: self.0.connections.clone(),
            requests: self.0.requests.clone(),
        }
    }
}

/// The version of HTTP as a label.
fn version(is_http2: bool) -> &'static str {
    if is_http2 { "2" } else { "1.1" }
}

impl TransportMetrics for ConnectionMetrics {
    fn connection_opened(&self, is_http2: bool, took: Duration) {
        let labels = [self.host.as_str(), version(is_http2)];
        self.families.open.with_label_values(&labels).inc();
        self.families.opened.with_label_values(&labels).inc();
        let connect = self.families.connect.with_label_values(&labels);
        connect.observe(took.as_secs_f64());
    }

    fn connection_failed(&self, error: &Error, _: Duration) {
        let reason = match error {
            error if error.is_tls() => "tls",
            error if error.is_connect() => "connect",
            _ => "other",
        };
        let labels = [self.host.as_str(), reason];
        self.families.failed.with_label_values(&labels).inc();
    }

    fn connection_reused(&self, is_http2: bool) {
        let labels = [self.host.as_str(), version(is_http2)];
        self.families.reused.with_label_values(&labels).inc();
    }

    fn connection_silent(&self, is_http2: bool) {
        let labels = [self.host.as_str(), version(is_http2)];
        self.families.silent.with_label_values(&labels).inc();
    }

    fn connection_closed(&self, is_http2: bool, lived: Duration) {
        let labels = [self.host.as_str(), version(is_http2)];
        self.families.open.with_label_values(&labels).dec();
        let lifetime = self.families.lifetime.with_label_values(&labels);
        lifetime.observe(lived.as_secs_f64());
    }

    fn handshake(&self, is_good: bool, took: Duration) {
        let labels = [self.host.as_str(), if is_good { "good" } else { "failed" }];
        let handshake = self.families.handshake.with_label_values(&labels);
        handshake.observe(took.as_secs_f64());
    }

    fn retrying(&self, method: &Method, retry: &Retry) {
        let code = match &retry.reason {
            RetryReason::Status(status) => status.as_str(),
            _ => NO_ANSWER,
        };
        let labels = [code, label(method), self.host.as_str()];
        self.families.retries.with_label_values(&labels).inc();
        self.requests.total.with_label_values(&labels).inc();
    }

    fn throttled(&self, method: &Method, wait: Duration) {
        let labels = [label(method), self.host.as_str()];
        let throttled = self.families.throttled.with_label_values(&labels);
        throttled.observe(wait.as_secs_f64());
    }
}

impl fmt::Debug for ConnectionMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionMetrics")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}
