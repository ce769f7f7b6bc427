//! `HyperTransport`: a request in, a response whose body streams out.

mod attempts;
mod flight;
mod prepared;

use std::{
    fmt, io,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{
    Request, Response,
    header::{CONTENT_ENCODING, CONTENT_LENGTH},
};
use hyper::body::Incoming;
use informer_transport::{Authorize, Endpoint, Transport};
use tracing::Instrument as _;

pub(crate) use self::prepared::Headers;
use self::{
    attempts::NoAnswer,
    flight::{Flight, Turn},
    prepared::Prepared,
};
use crate::{
    Builder, Error, HttpVersion, ResponseBody,
    connection::{Dialer, Failed, Generations, Http1Link, Http2Link, Lease, Opened, SharedPool, lock, now},
    error::Kind,
    limit::Bucket,
    metrics::Meter,
    pool::{Need, Pool, Taken},
    tasks::Tasks,
    tls::{Ready, Tls},
    warning::Warnings,
};

/// A [`Transport`] to one server over hyper. Clones share their connections, which close when the last clone is dropped, under whatever runs
/// on them.
#[derive(Clone)]
pub struct HyperTransport {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    url: Arc<str>,
    pool: Arc<SharedPool>,
    flight: Flight,
    generations: Generations,
    tasks: Arc<Tasks>,
}

/// What a builder decided.
pub(crate) struct Settings {
    pub(crate) dialer: Dialer,
    pub(crate) tls: Option<Tls>,
    pub(crate) authorizer: Option<Arc<dyn Authorize>>,
    pub(crate) headers: Headers,
    pub(crate) head_timeout: Option<Duration>,
    pub(crate) max_retries: u32,
    pub(crate) limit: Option<Mutex<Bucket>>,
    pub(crate) warnings: Warnings,
    pub(crate) meter: Meter,
    pub(crate) max_body: Option<u64>,
}

impl HyperTransport {
    /// Begins a transport to the server at this URL, whose path stands before the path of each request.
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder::new(url.into())
    }

    /// Begins a transport to a server that is configured, with its credentials, certificates, proxy, compression and time: that of
    /// `informer-kubeconfig`, or any other.
    pub fn of(endpoint: &impl Endpoint) -> Builder {
        let builder = Self::builder(endpoint.server())
            .authorize(endpoint.authorizer())
            .tls(endpoint.tls())
            .proxy(endpoint.proxy())
            .accept_gzip(endpoint.accepts_compression());
        match endpoint.request_timeout() {
            Some(timeout) => builder.head_timeout(Some(timeout)),
            None => builder,
        }
    }

    pub(crate) fn new(settings: Settings) -> Self {
        let is_single = match settings.dialer.version {
            HttpVersion::Auto => settings.tls.is_none(),
            HttpVersion::Http1 => true,
            HttpVersion::Http2 => false,
        };
        Self {
            inner: Arc::new(Inner {
                url: settings.dialer.server.url().into(),
                settings,
                pool: Arc::new(SharedPool::new(Pool::new())),
                flight: Flight::new(is_single),
                generations: Generations::new(),
                tasks: Arc::default(),
            }),
        }
    }

    /// The URL of the server, with its path prefix.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.inner.url
    }
}

impl Transport for HyperTransport {
    type Body = ResponseBody;
    type Error = Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ResponseBody>, Error> {
        let inner = &*self.inner;
        // Neither headers nor bodies: they may hold what nobody else should read.
        let span = tracing::debug_span!(
            "request",
            server = &*inner.url,
            method = request.method().as_str(),
            path = request.uri().path(),
            attempts = tracing::field::Empty,
            status = tracing::field::Empty,
        );
        inner.attempts(request).instrument(span).await
    }
}

impl Inner {
    /// Sends the request on a connection, and once more on another where an old one proved to be of no use: it had been closed before
    /// anything of this request was sent, or before anything came back for a request that may be repeated, or nothing at all comes.
    async fn exchange(&self, prepared: &Prepared) -> Result<(Response<Incoming>, Lease), NoAnswer> {
        let tls = match &self.settings.tls {
            Some(tls) => Some(tls.refreshed().await?),
            None => None,
        };
        self.generations.saw(generation(tls.as_ref()));
        let lease = self.checkout(tls.as_ref(), prepared).await?;
        let (sent_at, is_reused, is_http2) = (now(), lease.is_reused(), lease.is_http2());
        let signals = lease.signals().filter(|_| is_reused && prepared.is_repeatable());
        let silence = async {
            match signals {
                Some(signals) => signals.silence().await,
                None => std::future::pending().await,
            }
        };
        let mut first = Box::pin(self.ask(lease, prepared));
        let outcome = tokio::select! {
            biased;
            outcome = &mut first => Some(outcome?),
            () = silence => None,
        };
        let (first, heard_after) = match outcome {
            Some(Ok(answered)) => return Ok(answered),
            Some(Err((failed, lease))) => {
                let may_repeat = failed.is_unsent || (failed.is_stale && prepared.is_repeatable());
                if !(is_reused && may_repeat) {
                    return Err(self.failed(failed, lease, prepared));
                }
                tracing::debug!(server = &*self.url, error = %failed.error, "Connection was closed meanwhile, trying another");
                lease.retire();
                (None, None)
            }
            None => {
                tracing::debug!(
                    server = &*self.url,
                    is_http2,
                    "Nothing comes over a connection, trying another"
                );
                self.settings
                    .meter
                    .tell(|metrics| metrics.connection_silent(is_http2));
                // Slow is not dead, so whichever answers first is taken. Of a watch there is one at a time.
                (Some(first).filter(|_| !prepared.is_long_running), Some(sent_at))
            }
        };
        let second = async {
            let lease = self.dial(tls.as_ref(), heard_after).await?;
            self.ask(lease, prepared).await
        };
        let outcome = match first {
            None => second.await,
            Some(first) => first_answer(first, second).await,
        };
        outcome?.map_err(|(failed, lease)| self.failed(failed, lease, prepared))
    }

    /// The head of the response, in time.
    async fn ask(&self, mut lease: Lease, prepared: &Prepared) -> Asked {
        let request = prepared.request(&self.settings.dialer.server, lease.is_http2());
        let sent = lease.send(request);
        let sent = match self.settings.head_timeout.filter(|_| !prepared.is_long_running) {
            None => sent.await,
            Some(timeout) => tokio::time::timeout(timeout, sent).await.map_err(|_| {
                let message = format!("no response from {} within {timeout:?}", self.url);
                Error::new(Kind::Timeout, message).caused_by(io::Error::from(io::ErrorKind::TimedOut))
            })?,
        };
        Ok(match sent {
            Ok(response) => Ok((response, lease)),
            Err(failed) => Err((failed, lease)),
        })
    }

    fn failed(&self, failed: Failed, lease: Lease, prepared: &Prepared) -> NoAnswer {
        let may_repeat = failed.is_unsent || (failed.has_ended && prepared.is_repeatable());
        if failed.is_unsent || failed.has_ended {
            lease.retire();
        }
        let message = format!("no response from {}", self.url);
        NoAnswer {
            error: Error::new(Kind::Request, message).caused_by(failed.error),
            may_repeat,
        }
    }

    /// An open connection, else a new one.
    async fn checkout(&self, tls: Option<&Ready>, prepared: &Prepared) -> Result<Lease, Error> {
        let need = match prepared.is_repeatable() {
            true => Need::Any,
            false => Need::Lively,
        };
        let generation = generation(tls);
        loop {
            // Not in the condition of a `while let`, where the lock would be held to the end of the body.
            let taken = lock(&self.pool).take(generation, need, now());
            match taken {
                None => return self.dial(tls, None).await,
                Some(Taken::Single(mut link)) => {
                    if link.is_ready().await {
                        return Ok(self.reused(Taken::Single(link), generation));
                    }
                }
                Some(shared) => return Ok(self.reused(shared, generation)),
            }
        }
    }

    fn reused(&self, taken: Taken<Http1Link, Http2Link>, generation: u64) -> Lease {
        let lease = Lease::reused(taken, generation, &self.pool);
        let is_http2 = lease.is_http2();
        self.settings
            .meter
            .tell(|metrics| metrics.connection_reused(is_http2));
        lease
    }

    /// A new connection, or one that somebody else opened while this waited for its turn, and that spoke after this moment.
    async fn dial(&self, tls: Option<&Ready>, heard_after: Option<Instant>) -> Result<Lease, Error> {
        let generation = generation(tls);
        let ticket = match self.flight.turn().await {
            Turn::Failed(error) => return Err(error),
            Turn::Alone => None,
            Turn::First(ticket) => {
                let taken = lock(&self.pool).take_shared(generation, heard_after, now());
                if let Some((slot, link)) = taken {
                    return Ok(self.reused(Taken::Shared(slot, link), generation));
                }
                Some(ticket)
            }
        };
        let opened = self
            .settings
            .dialer
            .open(tls, self.generations.term(generation), &self.tasks)
            .await;
        let leased = opened.map(|opened| {
            self.flight.learned(matches!(opened, Opened::Single(_)));
            Lease::fresh(opened, generation, &self.pool)
        });
        if let Some(ticket) = ticket {
            ticket.landed(leased.as_ref().err());
        }
        leased
    }

    /// The response with its compression undone, if that was asked for here.
    fn decoded(
        &self,
        response: Response<Incoming>,
        lease: Lease,
        prepared: &Prepared,
    ) -> Response<ResponseBody> {
        let (mut head, incoming) = response.into_parts();
        let is_gzip = prepared.asked_for_gzip
            && head
                .headers
                .get(CONTENT_ENCODING)
                .is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"gzip"));
        if is_gzip {
            head.headers.remove(CONTENT_ENCODING);
            head.headers.remove(CONTENT_LENGTH);
        }
        let limit = self.settings.max_body.filter(|_| !prepared.is_long_running);
        Response::from_parts(
            head,
            ResponseBody::new(incoming, is_gzip, lease, Arc::clone(&self.url), limit),
        )
    }
}

fn generation(tls: Option<&Ready>) -> u64 {
    tls.map_or(0, |tls| tls.generation)
}

/// What came of a request on one connection.
type Asked = Result<Result<(Response<Incoming>, Lease), (Failed, Lease)>, Error>;

/// The first answer of two; without one, the outcome of the second.
async fn first_answer(
    first: impl Future<Output = Asked> + Unpin,
    second: impl Future<Output = Asked>,
) -> Asked {
    let mut second = std::pin::pin!(second);
    tokio::select! {
        biased;
        outcome = first => match outcome {
            Ok(Ok(answered)) => Ok(Ok(answered)),
            _ => second.await,
        },
        outcome = &mut second => outcome,
    }
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransport")
            .field("url", &self.inner.url)
            .finish_non_exhaustive()
    }
}
