//! Opening a connection: TCP, TLS, and the beginning of HTTP.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls_pki_types::ServerName;
use tokio_rustls::TlsConnector;

use super::{
    Http1Link, Http2Link,
    route::{Carrier, Route},
    signals::{Driven, Signals},
    tap::{Stream, Tapped},
    term::Term,
};
use crate::{
    Error, HttpVersion,
    error::Kind,
    metrics::Meter,
    server::Server,
    tasks::{Spawner, Tasks},
    tls::{Ready, handshake_problem},
};

/// As long as Go gives a handshake (client-go `transport/cache.go`, `tlsTransportCache.get`): what answers the connection and not the
/// handshake is known sooner than what does not answer at all.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
/// What one stream may hold that nobody has read yet.
const STREAM_WINDOW: u32 = 1 << 20;
/// Room for the most streams that are opened, all of them full: a slow reader of one watch must not stop the others.
const CONNECTION_WINDOW: u32 = 128 << 20;

/// How connections are made.
#[derive(Debug)]
pub(crate) struct Dialer {
    pub(crate) server: Server,
    pub(crate) route: Route,
    pub(crate) version: HttpVersion,
    pub(crate) connect_timeout: Duration,
    /// How often an HTTP/2 connection is asked whether it is alive, and how long the answer may take.
    pub(crate) ping: Option<(Duration, Duration)>,
    /// How long an answer may be due, and nothing come, until no other request goes the same way.
    pub(crate) patience: Option<Duration>,
    /// How long the head of a response may be.
    pub(crate) max_head: u32,
    pub(crate) meter: Meter,
}

/// A connection, ready for requests.
#[derive(Debug)]
pub(crate) enum Opened {
    Single(Http1Link),
    Shared(Http2Link),
}

impl Dialer {
    /// Opens a connection in time or not at all. It lives as long as it has a `term`.
    pub(crate) async fn open(
        &self,
        tls: Option<&Ready>,
        term: Term,
        tasks: &Arc<Tasks>,
    ) -> Result<Opened, Error> {
        let begun = self.meter.begin();
        let opened = tokio::time::timeout(self.connect_timeout, self.open_unhurried(tls, term, tasks)).await;
        let opened = match opened {
            Ok(result) => result,
            Err(_) => {
                let message = format!(
                    "no connection to {} within {:?}",
                    self.server.url(),
                    self.connect_timeout
                );
                Err(Error::new(Kind::Connect, message).caused_by(io::Error::from(io::ErrorKind::TimedOut)))
            }
        };
        begun.end(|metrics, took| match &opened {
            Ok(opened) => metrics.connection_opened(matches!(opened, Opened::Shared(_)), took),
            Err(error) => metrics.connection_failed(error, took),
        });
        opened
    }

    async fn open_unhurried(
        &self,
        tls: Option<&Ready>,
        term: Term,
        tasks: &Arc<Tasks>,
    ) -> Result<Opened, Error> {
        let tcp = self.connect(tls).await?;
        let stream = match tls {
            None => Stream::Plain(tcp),
            Some(tls) => self.secure(tcp, tls).await?,
        };
        let is_http2 = match self.version {
            HttpVersion::Auto => stream.is_http2_agreed(),
            HttpVersion::Http1 => false,
            HttpVersion::Http2 => true,
        };
        tracing::debug!(server = self.server.url(), is_http2, "Connection opened");
        let signals = Signals::new(self.patience);
        let io = TokioIo::new(Tapped::new(stream, Arc::clone(&signals), is_http2));
        if is_http2 {
            self.begin_http2(io, signals, term, tasks)
                .await
                .map(Opened::Shared)
        } else {
            self.begin_http1(io, signals, term, tasks)
                .await
                .map(Opened::Single)
        }
    }

    async fn connect(&self, tls: Option<&Ready>) -> Result<Carrier, Error> {
        self.route.connect(&self.server, tls).await.map_err(|cause| {
            let (url, through) = (self.server.url(), self.route.described());
            Error::new(Kind::Connect, format!("cannot connect to {url}{through}")).caused_by(cause)
        })
    }

    async fn secure(&self, tcp: Carrier, tls: &Ready) -> Result<Stream, Error> {
        let name = tls.server_name.as_deref().unwrap_or(&self.server.host);
        let name = ServerName::try_from(name.to_owned()).map_err(|cause| {
            Error::configuration(format!(
                "{name:?} is no name that a certificate could be checked for"
            ))
            .caused_by(cause)
        })?;
        let connector = TlsConnector::from(Arc::clone(&tls.config));
        let begun = self.meter.begin();
        let connecting = connector.connect(name.clone(), tcp);
        let stream = tokio::time::timeout(HANDSHAKE_WITHIN, connecting)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        begun.end(|metrics, took| metrics.handshake(stream.is_ok(), took));
        let stream = stream.map_err(|cause| {
            Error::new(
                Kind::Tls,
                handshake_problem(&cause, self.server.url(), &name.to_str()),
            )
            .caused_by(cause)
        })?;
        let stream = Stream::Tls(Box::new(stream));
        if self.version == HttpVersion::Http2 && !stream.is_http2_agreed() {
            let message = format!(
                "{} does not speak HTTP/2, and nothing else was asked for",
                self.server.url()
            );
            return Err(Error::new(Kind::Connect, message));
        }
        Ok(stream)
    }

    async fn begin_http1(
        &self,
        io: TokioIo<Tapped>,
        signals: Arc<Signals>,
        term: Term,
        tasks: &Arc<Tasks>,
    ) -> Result<Http1Link, Error> {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(self.max_head as usize);
        let begun = builder.handshake::<_, Full<Bytes>>(io).await;
        let (sender, connection) = begun.map_err(|cause| self.no_http(cause))?;
        let driven = Driven::new(connection, Arc::clone(&signals), self.meter.life(false));
        let task = tasks.spawn(term.bound(driven, || {}));
        Ok(Http1Link::new(sender, signals, task))
    }

    async fn begin_http2(
        &self,
        io: TokioIo<Tapped>,
        signals: Arc<Signals>,
        term: Term,
        tasks: &Arc<Tasks>,
    ) -> Result<Http2Link, Error> {
        let spawner = Spawner::new(tasks);
        let mut builder = http2::Builder::new(spawner.clone());
        builder
            .timer(TokioTimer::new())
            .max_header_list_size(self.max_head)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        if let Some((every, timeout)) = self.ping {
            builder
                .keep_alive_interval(every)
                .keep_alive_timeout(timeout)
                .keep_alive_while_idle(true);
        }
        let begun = builder.handshake::<_, Full<Bytes>>(io).await;
        let (sender, connection) = begun.map_err(|cause| self.no_http(cause))?;
        let driven = Driven::new(connection, Arc::clone(&signals), self.meter.life(true));
        tasks.spawn(term.bound(driven, move || spawner.end()));
        // The server begins with its settings (RFC 9113, section 3.4), which say how many requests the connection may carry.
        if !signals.settings().await {
            let message = format!("{} does not speak HTTP/2", self.server.url());
            let error = Error::new(Kind::Connect, message);
            return Err(match signals.error() {
                Some(cause) => error.caused_by(cause),
                None => error,
            });
        }
        Ok(Http2Link::new(sender, signals))
    }

    fn no_http(&self, cause: hyper::Error) -> Error {
        Error::new(
            Kind::Connect,
            format!("cannot speak HTTP with {}", self.server.url()),
        )
        .caused_by(cause)
    }
}
