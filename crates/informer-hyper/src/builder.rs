//! `Builder`: a server and how to talk to it.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::HeaderValue;
use informer_transport::{Authorize, TlsMaterial, TlsSource};

use crate::{
    Error, HyperTransport, TransportMetrics, WarningHandler,
    connection::{Dialer, Route},
    limit::Bucket,
    metrics::Meter,
    retry::MAX_RETRIES,
    server::Server,
    tls::Tls,
    transport::{Headers, Settings},
    variables::Variables,
    warning::Warnings,
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

/// hyper's own limit of an HTTP/2 head is 16 KiB, Go's 10 MiB. As this is also the size of the buffer that HTTP/1.1 reads into, it is not
/// larger than it is useful.
const MAX_HEAD: u32 = 256 << 10;
/// hyper reads in pieces of this size.
const MIN_HEAD: u32 = 8 << 10;

/// Well below the time that a leader has to renew its lease (10 s), and above what most answers take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server and how to talk to it.
#[derive(Clone)]
pub struct Builder {
    url: String,
    authorizer: Option<Arc<dyn Authorize>>,
    tls: Option<Arc<dyn TlsSource>>,
    proxy: Option<String>,
    asks_environment: bool,
    version: Option<HttpVersion>,
    user_agent: String,
    connect_timeout: Duration,
    head_timeout: Option<Duration>,
    ping: Option<Option<(Duration, Duration)>>,
    patience: Option<Duration>,
    accepts_gzip: bool,
    allows_plain_credentials: bool,
    max_retries: u32,
    rate: Option<(f32, u32)>,
    warnings: Warnings,
    metrics: Option<Arc<dyn TransportMetrics>>,
    max_head: u32,
    max_body: Option<u64>,
}

impl Builder {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            authorizer: None,
            tls: None,
            proxy: None,
            asks_environment: true,
            version: None,
            user_agent: concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned(),
            // Go's dialer as client-go sets it. Here TLS and the beginning of HTTP/2 are within it.
            connect_timeout: Duration::from_secs(30),
            // An API server answers or gives up within a minute (its `--request-timeout`).
            head_timeout: Some(Duration::from_secs(90)),
            ping: None,
            patience: Some(PATIENCE),
            accepts_gzip: true,
            allows_plain_credentials: false,
            max_retries: MAX_RETRIES,
            rate: None,
            warnings: Warnings::default(),
            metrics: None,
            max_head: MAX_HEAD,
            max_body: None,
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

    /// Which HTTP is spoken. Where nothing is said, [`HttpVersion::Auto`], or HTTP/1.1 where the variable `DISABLE_HTTP2` is set.
    #[must_use]
    pub fn http_version(mut self, version: HttpVersion) -> Self {
        self.version = Some(version);
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
    /// and everything on it fails; `None` never. Where nothing is said, 30 s and 15 s, or what the variables
    /// `HTTP2_READ_IDLE_TIMEOUT_SECONDS` and `HTTP2_PING_TIMEOUT_SECONDS` say.
    #[must_use]
    pub fn http2_ping(mut self, ping: Option<(Duration, Duration)>) -> Self {
        self.ping = Some(ping);
        self
    }

    /// How long nothing at all may come over a connection while an answer is due, until it is taken for dead: no new request goes onto it
    /// before something comes, and a GET that waits on it, if it had been used before, is sent over another as well; the first answer counts
    /// (of two watches only the second is kept). 5 s; `None` never, for a server that thinks for long and must not be asked twice.
    ///
    /// It ends nothing: what runs over the connection goes on until the server, a ping or the operating system ends it.
    #[must_use]
    pub fn silence(mut self, patience: Option<Duration>) -> Self {
        self.patience = patience;
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

    /// How often a request is sent again at most, where the server asks for it or an answer that may be asked for again was lost. 10; 0 for
    /// never. Watches, and requests that their sender repeats (`RepeatedBySender`), are not sent again whatever this says.
    #[must_use]
    pub fn max_retries(mut self, n: u32) -> Self {
        self.max_retries = n;
        self
    }

    /// At most so many requests a second go out on average, and so many at once; others wait their turn, and so does each retry. Watches
    /// are not counted. There is no limit unless this sets one: servers look after themselves (API priority and fairness).
    #[must_use]
    pub fn rate_limit(mut self, per_second: f32, burst: u32) -> Self {
        self.rate = Some((per_second, burst));
        self
    }

    /// Who hears of the `Warning` headers of responses, once for each text. Without, they are logged.
    #[must_use]
    pub fn warnings(mut self, handler: Arc<dyn WarningHandler>) -> Self {
        self.warnings = Warnings::new(handler);
        self
    }

    /// Who is told of connections, retries and waits. Without, nothing is measured.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn TransportMetrics>) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// How many bytes the head of a response may have; 8 KiB at least. 256 KiB. A longer one is an error.
    #[must_use]
    pub fn max_head_size(mut self, n_bytes: u32) -> Self {
        self.max_head = n_bytes.max(MIN_HEAD);
        self
    }

    /// How many bytes the body of a response may have once its compression is undone, a watch's excepted; what is beyond is an error.
    /// `None`, as it begins, for any number: a LIST is as long as it is, and read as it comes.
    #[must_use]
    pub fn max_body_size(mut self, n_bytes: Option<u64>) -> Self {
        self.max_body = n_bytes;
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
        let variables = Variables::of_process();
        let version = self.version.unwrap_or(variables.version);
        let limit = match self.rate {
            None => None,
            Some((per_second, burst)) => {
                Some(Bucket::new(per_second, burst).map(Mutex::new).ok_or_else(|| {
                    let problem = "both numbers need to be more than zero";
                    Error::configuration(format!(
                        "rate limit of {per_second} a second, {burst} at once: {problem}"
                    ))
                })?)
            }
        };
        let meter = Meter::new(self.metrics);
        let tls = server.is_tls.then(|| {
            let source = self.tls.unwrap_or_else(|| Arc::new(TlsMaterial::default()));
            Tls::new(source, &server, version)
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
            version,
            connect_timeout: self.connect_timeout,
            ping: self.ping.unwrap_or(variables.ping),
            patience: self.patience,
            max_head: self.max_head,
            meter: meter.clone(),
        };
        Ok(HyperTransport::new(Settings {
            dialer,
            tls,
            authorizer: self.authorizer,
            headers,
            head_timeout: self.head_timeout,
            max_retries: self.max_retries,
            limit,
            warnings: self.warnings,
            meter,
            max_body: self.max_body,
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
            .field("silence", &self.patience)
            .field("accepts_gzip", &self.accepts_gzip)
            .field("max_retries", &self.max_retries)
            .field("rate", &self.rate)
            .finish_non_exhaustive()
    }
}
