//! `TransportMetrics`: what connections, retries and the rate limit do, told to whoever counts.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use http::Method;

use crate::{Error, Retry, connection::now};

/// Told of what goes on below requests. Each method does nothing unless it is written, and none may block. How many requests there are
/// and how long they take, a transport around this one measures as well.
pub trait TransportMetrics: Send + Sync {
    /// A connection was opened, which took so long; TLS and the beginning of HTTP/2 are part of it.
    fn connection_opened(&self, is_http2: bool, took: Duration) {
        let _ = (is_http2, took);
    }

    /// No connection came about.
    fn connection_failed(&self, error: &Error, took: Duration) {
        let _ = (error, took);
    }

    /// A request goes over a connection that was there.
    fn connection_reused(&self, is_http2: bool) {
        let _ = is_http2;
    }

    /// Nothing came over a connection while an answer was due, so that the request went another way too.
    fn connection_silent(&self, is_http2: bool) {
        let _ = is_http2;
    }

    /// A connection that was opened so long ago has ended.
    fn connection_closed(&self, is_http2: bool, lived: Duration) {
        let _ = (is_http2, lived);
    }

    /// A TLS handshake with the server ended, well or not.
    fn handshake(&self, is_good: bool, took: Duration) {
        let _ = (is_good, took);
    }

    /// A request is sent again after a while (client-go `rest_client_request_retries_total`).
    fn retrying(&self, method: &Method, retry: &Retry) {
        let _ = (method, retry);
    }

    /// A request was held back by the rate limit (client-go `rest_client_rate_limiter_duration_seconds`). Zero for one that was not.
    fn throttled(&self, method: &Method, wait: Duration) {
        let _ = (method, wait);
    }
}

/// Metrics, or none; then nothing is measured either.
#[derive(Clone, Default)]
pub(crate) struct Meter(Option<Arc<dyn TransportMetrics>>);

impl Meter {
    pub(crate) fn new(metrics: Option<Arc<dyn TransportMetrics>>) -> Self {
        Self(metrics)
    }

    pub(crate) fn tell(&self, tell: impl FnOnce(&dyn TransportMetrics)) {
        if let Some(metrics) = &self.0 {
            tell(&**metrics);
        }
    }

    /// Begins to measure a time.
    pub(crate) fn begin(&self) -> Begun<'_> {
        Begun(self.0.as_deref().map(|metrics| (metrics, now())))
    }

    /// Begins the life of a connection.
    pub(crate) fn life(&self, is_http2: bool) -> Life {
        Life {
            is_http2,
            begun: self.0.clone().map(|metrics| (metrics, now())),
        }
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Meter").field(&self.0.is_some()).finish()
    }
}

/// A time that is being measured.
pub(crate) struct Begun<'a>(Option<(&'a dyn TransportMetrics, Instant)>);

impl Begun<'_> {
    /// It is over.
    pub(crate) fn end(self, tell: impl FnOnce(&dyn TransportMetrics, Duration)) {
        if let Some((metrics, since)) = self.0 {
            tell(metrics, now().saturating_duration_since(since));
        }
    }
}

/// Tells of the end of a connection when it is dropped.
pub(crate) struct Life {
    is_http2: bool,
    begun: Option<(Arc<dyn TransportMetrics>, Instant)>,
}

impl Drop for Life {
    fn drop(&mut self) {
        if let Some((metrics, since)) = &self.begun {
            metrics.connection_closed(self.is_http2, now().saturating_duration_since(*since));
        }
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Life").finish_non_exhaustive()
    }
}
