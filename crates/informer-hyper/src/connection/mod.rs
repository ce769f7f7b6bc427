//! Open connections: sending on them, and giving them back.

mod frames;
mod liveness;
mod open;
mod route;
mod signals;
mod tap;
mod term;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use tokio::task::AbortHandle;

use self::signals::Due;
pub(crate) use self::{
    open::{Dialer, Opened},
    route::Route,
    signals::Signals,
    term::Generations,
};
use crate::pool::{Link, Pool, SharedLink, Slot, Taken};

/// The pool, shared by the transport and the bodies that bring connections back.
pub(crate) type SharedPool = Mutex<Pool<Http1Link, Http2Link>>;

pub(crate) fn lock(pool: &SharedPool) -> MutexGuard<'_, Pool<Http1Link, Http2Link>> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "this is the edge where time enters")]
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Opening a new connection is hardly slower than waiting longer for an old one.
const READY_WITHIN: Duration = Duration::from_millis(100);

/// An HTTP/1.1 connection. Dropping it closes it, whatever it is doing.
#[derive(Debug)]
pub(crate) struct Http1Link {
    sender: http1::SendRequest<Full<Bytes>>,
    signals: Arc<Signals>,
    task: AbortHandle,
}

impl Http1Link {
    fn new(sender: http1::SendRequest<Full<Bytes>>, signals: Arc<Signals>, task: AbortHandle) -> Self {
        Self {
            sender,
            signals,
            task,
        }
    }

    /// Waits for the moment between the end of the last response and the readiness for another request; `false` when that does not come,
    /// because the connection is closed or still busy with a request that was answered before it was read.
    pub(crate) async fn is_ready(&mut self) -> bool {
        matches!(
            tokio::time::timeout(READY_WITHIN, self.sender.ready()).await,
            Ok(Ok(()))
        )
    }
}

impl Drop for Http1Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Link for Http1Link {
    fn is_usable(&self) -> bool {
        !self.sender.is_closed() && !self.signals.is_closing()
    }
}

/// An HTTP/2 connection. It closes when all of these are gone and its streams have ended.
#[derive(Debug, Clone)]
pub(crate) struct Http2Link {
    sender: http2::SendRequest<Full<Bytes>>,
    signals: Arc<Signals>,
}

impl Http2Link {
    fn new(sender: http2::SendRequest<Full<Bytes>>, signals: Arc<Signals>) -> Self {
        Self { sender, signals }
    }
}

impl Link for Http2Link {
    fn is_usable(&self) -> bool {
        !self.sender.is_closed() && !self.signals.is_closing()
    }
}

impl SharedLink for Http2Link {
    fn max_streams(&self) -> usize {
        self.signals.max_streams()
    }

    fn is_silent(&self, now: Instant) -> bool {
        self.signals.is_silent(now)
    }

    fn last_heard(&self) -> Instant {
        self.signals.last_heard()
    }
}

/// The right to one exchange on a connection. Dropping it before `finish` ends the exchange: an HTTP/1.1 connection is closed, and a
/// stream of HTTP/2 is reset by hyper, which drops its body with this.
#[derive(Debug)]
pub(crate) struct Lease {
    link: Option<Leased>,
    generation: u64,
    pool: Weak<SharedPool>,
    /// Whether the connection carried requests before.
    is_reused: bool,
}

#[derive(Debug)]
enum Leased {
    Single(Http1Link),
    Shared(Slot, Http2Link),
}

/// Why an exchange did not get as far as a response head.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: hyper::Error,
    /// None of the request was sent.
    pub(crate) is_unsent: bool,
    /// The connection has ended.
    pub(crate) has_ended: bool,
    /// It had ended, and nothing came on it in answer.
    pub(crate) is_stale: bool,
}

impl Lease {
    pub(crate) fn reused(
        taken: Taken<Http1Link, Http2Link>,
        generation: u64,
        pool: &Arc<SharedPool>,
    ) -> Self {
        let link = match taken {
            Taken::Single(link) => Leased::Single(link),
            Taken::Shared(slot, link) => Leased::Shared(slot, link),
        };
        Self {
            link: Some(link),
            generation,
            pool: Arc::downgrade(pool),
            is_reused: true,
        }
    }

    pub(crate) fn fresh(opened: Opened, generation: u64, pool: &Arc<SharedPool>) -> Self {
        let link = match opened {
            Opened::Single(link) => Leased::Single(link),
            Opened::Shared(link) => {
                let slot = lock(pool).add_shared(generation, link.clone(), now());
                Leased::Shared(slot, link)
            }
        };
        Self {
            link: Some(link),
            generation,
            pool: Arc::downgrade(pool),
            is_reused: false,
        }
    }

    pub(crate) fn is_reused(&self) -> bool {
        self.is_reused
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.link, Some(Leased::Shared(..)))
    }

    /// What is known of its connection.
    pub(crate) fn signals(&self) -> Option<Arc<Signals>> {
        Some(match self.link.as_ref()? {
            Leased::Single(link) => Arc::clone(&link.signals),
            Leased::Shared(_, link) => Arc::clone(&link.signals),
        })
    }

    /// Whether the connection was ended from this side, so that the end of a body proves nothing.
    pub(crate) fn was_cut(&self) -> bool {
        self.signals().is_some_and(|signals| signals.was_cut())
    }

    /// Sends a request, whose URI and headers suit the version.
    pub(crate) async fn send(
        &mut self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Failed> {
        match self.link.as_mut().expect("a lease is used until it is finished") {
            Leased::Single(link) => {
                *request.version_mut() = Version::HTTP_11;
                let n_read = link.signals.n_read();
                let due = link.signals.due();
                let sent = link.sender.try_send_request(request).await;
                came(due, &sent);
                sent.map_err(|mut failed| {
                    let has_ended = has_ended(failed.error());
                    Failed {
                        is_unsent: failed.take_message().is_some(),
                        has_ended,
                        is_stale: has_ended && link.signals.n_read() == n_read,
                        error: failed.into_error(),
                    }
                })
            }
            Leased::Shared(_, link) => {
                *request.version_mut() = Version::HTTP_2;
                let due = link.signals.due();
                let sent = link.sender.try_send_request(request).await;
                came(due, &sent);
                sent.map_err(|mut failed| {
                    let has_ended = link.signals.is_closing() || has_ended(failed.error());
                    Failed {
                        // The server says of a stream that it refuses that it did nothing with it (RFC 9113, section 8.7).
                        is_unsent: failed.take_message().is_some() || is_refused_stream(failed.error()),
                        has_ended,
                        is_stale: has_ended,
                        error: failed.into_error(),
                    }
                })
            }
        }
    }

    /// The response has been read to its end: the connection can be used again.
    pub(crate) fn finish(mut self) {
        if let (Some(Leased::Single(_)), Some(pool)) = (&self.link, self.pool.upgrade())
            && let Some(Leased::Single(link)) = self.link.take()
        {
            lock(&pool).put_back(self.generation, link, now());
        }
    }

    /// No other request goes where this one failed.
    pub(crate) fn retire(self) {
        if let (Some(Leased::Shared(slot, _)), Some(pool)) = (&self.link, self.pool.upgrade()) {
            lock(&pool).retire(*slot);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let (Some(Leased::Shared(slot, _)), Some(pool)) = (&self.link, self.pool.upgrade()) {
            lock(&pool).release(*slot, now());
        }
    }
}

fn came<T, E>(due: Due, sent: &Result<T, E>) {
    if sent.is_ok() {
        due.came();
    }
}

fn is_refused_stream(error: &hyper::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if let Some(inner) = inner.downcast_ref::<h2::Error>() {
            return inner.reason() == Some(h2::Reason::REFUSED_STREAM);
        }
        cause = inner.source();
    }
    false
}

/// Whether the error means that the connection as a whole is over, rather than this exchange.
fn has_ended(error: &hyper::Error) -> bool {
    let is_io = || {
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            if inner.is::<std::io::Error>() {
                return true;
            }
            cause = inner.source();
        }
        false
    };
    // A ping that nobody answered is the only timeout that hyper knows here.
    let is_ping = error.is_timeout();
    error.is_incomplete_message() || error.is_closed() || error.is_canceled() || is_ping || is_io()
}
