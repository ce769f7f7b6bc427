//! `Builder`: a server and how to talk to it.

use std::{fmt, sync::Arc, time::Duration};

use http::HeaderValue;
use informer_transport::{Authorize, TlsMaterial, TlsSource};

use crate::{
    Error, HyperTransport,
    connection::{Dialer, Route},
    server::Server,
    tls::Tls,
    transport::{Headers, Settings},
};

/// Which HTTP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpVersion {
    /// Over TLS what the server picks of HTTP/2 and HTTP/1.1; over plain TCP HTTP/1.1.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 only; over plain TCP without asking first.
    Http2,
}

/// A server and how to talk to it.
#[derive(Clone)]
pub struct Builder {
    url: String,
    authorizer: Option<Arc<dyn Authorize>>,
    tls: Option<Arc<dyn TlsSource>>,
    proxy: Option<String>,
    asks_environment: bool,
    version: HttpVersion,
    user_agent: String,
    connect_timeout: Duration,
    head_timeout: Option<Duration>,
    ping: Option<(Duration, Duration)>,
    accepts_gzip: bool,
    allows_plain_credentials: bool,
}

impl Builder {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            authorizer: None,
            tls: None,
            proxy: None,
            asks_environment: true,
            version: HttpVersion::Auto,
            user_agent: concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned(),
            // Go's dialer as client-go sets it. Here TLS and the beginning of HTTP/2 are within it.
            connect_timeout: Duration::from_secs(30),
            // An API server answers or gives up within a minute (its `--request-timeout`).
            head_timeout: Some(Duration::from_secs(90)),
            // client-go's `HTTP2_READ_IDLE_TIMEOUT_SECONDS` and `HTTP2_PING_TIMEOUT_SECONDS`.
            ping: Some((Duration::from_secs(30), Duration::from_secs(15))),
            accepts_gzip: true,
            allows_plain_credentials: false,
        }
    }

    /// What signs requests in. Without, nothing does.
    #[must_use]
    pub fn authorize(mut self, authorizer: Arc<dyn Authorize>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }

    /// What connections are checked and signed with. Without, the platform's authorities are trusted.
    #[must_use]
    pub fn tls(mut self, source: Arc<dyn TlsSource>) -> Self {
        self.tls = Some(source);
        self
    }

    /// Through which proxy every connection goes, as a URL of the scheme `http`, `https`, `socks5` (names are looked up here) or `socks5h` (by
    /// the proxy), with a user name and password if it wants them. `None`, as it begins, is what the variables `HTTPS_PROXY`, `HTTP_PROXY`,
    /// `ALL_PROXY` and `NO_PROXY` say; see [`ignore_proxy_variables`](Self::ignore_proxy_variables).
    #[must_use]
    pub fn proxy(mut self, url: Option<&str>) -> Self {
        self.proxy = url.map(str::to_owned);
        self
    }

    /// Connects directly where no proxy is given, whatever variables say.
    #[must_use]
    pub fn ignore_proxy_variables(mut self) -> Self {
        self.asks_environment = false;
        self
    }

    /// Which HTTP is spoken.
    #[must_use]
    pub fn http_version(mut self, version: HttpVersion) -> Self {
        self.version = version;
        self
    }

    /// The `User-Agent` of requests that have none.
    #[must_use]
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = user_agent.into();
        self
    }

    /// How long it may take to open a connection, name lookup and TLS included. 30 s.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long a response's head may take after the request was sent; `None` for ever. 90 s. It is not applied to a watch, whose head some
    /// proxies hold back until the first event, and never to a body: a quiet watch is not a dead one.
    #[must_use]
    pub fn head_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.head_timeout = timeout;
        self
    }

    /// After how long without a word an HTTP/2 server is asked whether it is there, and how long its answer may take before the connection
    /// and everything on it fails; `None` never. 30 s and 15 s.
    #[must_use]
    pub fn http2_ping(mut self, ping: Option<(Duration, Duration)>) -> Self {
        self.ping = ping;
        self
    }

    /// Whether responses may be compressed, which is undone as they stream. They may.
    #[must_use]
    pub fn accept_gzip(mut self, accepts: bool) -> Self {
        self.accepts_gzip = accepts;
        self
    }

    /// Whether credentials may be sent over plain HTTP to another machine. They may not: such a request fails.
    #[must_use]
    pub fn allow_plain_credentials(mut self, allows: bool) -> Self {
        self.allows_plain_credentials = allows;
        self
    }

    /// The transport. Nothing is connected yet, but what is wrong with the URL, the certificates or a setting is said here.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn build(self) -> Result<HyperTransport, Error> {
        let server = Server::parse(&self.url)?;
        let user_agent = HeaderValue::from_str(&self.user_agent).map_err(|cause| {
            Error::configuration(format!("user agent {:?}: cannot be a header", self.user_agent))
                .caused_by(cause)
        })?;
        let tls = server.is_tls.then(|| {
            let source = self.tls.unwrap_or_else(|| Arc::new(TlsMaterial::default()));
            Tls::new(source, &server, self.version)
        });
        if let Some(tls) = &tls {
            tls.current()?;
        }
        let headers = Headers {
            user_agent,
            accepts_gzip: self.accepts_gzip,
            allows_credentials: server.is_tls || server.is_loopback() || self.allows_plain_credentials,
        };
        let route = match &self.proxy {
            Some(url) => Route::through(url, &server)?,
            None if self.asks_environment => Route::of_environment(&server)?,
            None => Route::Direct,
        };
        let dialer = Dialer {
            route,
            server,
            version: self.version,
            connect_timeout: self.connect_timeout,
            ping: self.ping,
        };
        Ok(HyperTransport::new(Settings {
            dialer,
            tls,
            authorizer: self.authorizer,
            headers,
            head_timeout: self.head_timeout,
        }))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("version", &self.version)
            .field("connect_timeout", &self.connect_timeout)
            .field("head_timeout", &self.head_timeout)
            .field("ping", &self.ping)
            .field("accepts_gzip", &self.accepts_gzip)
            .finish_non_exhaustive()
    }
}
