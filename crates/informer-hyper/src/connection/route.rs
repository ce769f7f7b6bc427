//! The way to the server: TCP, directly or through a proxy.

use std::{
    fmt, io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderValue, Uri};
use hyper_util::{
    client::{
        legacy::connect::{
            HttpConnector,
            proxy::{SocksV5, Tunnel},
        },
        proxy::matcher::{Intercept, Matcher},
    },
    rt::TokioIo,
};
use informer_transport::BoxError;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::{
    Error,
    server::Server,
    tls::{self, Ready},
};

/// After so long without a word the other side is asked whether it is there (as Go's dialer does), so often and so many times until the
/// connection ends: within 45 s, as with the pings of HTTP/2. Go would ask nine times, every 30 s.
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);
const TCP_KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const TCP_KEEPALIVE_RETRIES: u32 = 3;
/// A request that was sent to nobody is found out as soon; keep-alive is silent while something is on its way.
#[cfg(target_os = "linux")]
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(45);
/// Without a port of its own a SOCKS proxy has this one.
const SOCKS_PORT: u16 = 1080;

/// Bytes both ways, however they go.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin + fmt::Debug {}

impl<W: AsyncRead + AsyncWrite + Send + Unpin + fmt::Debug> Wire for W {}

/// A wire to the server.
pub(crate) type Carrier = Box<dyn Wire>;

/// The way to the server.
#[derive(Debug, Clone)]
pub(crate) enum Route {
    Direct,
    Proxy(Arc<Proxy>),
}

/// A proxy, without its password.
#[derive(Debug)]
pub(crate) struct Proxy {
    uri: Uri,
    kind: Kind,
    auth: Auth,
}

#[derive(Debug)]
enum Kind {
    /// CONNECT over plain TCP.
    Http,
    /// CONNECT over TLS to the proxy, which is checked as the server is (as Go's `http.Transport` does).
    Https(ServerName<'static>),
    Socks5 {
        resolves_here: bool,
    },
}

enum Auth {
    None,
    Header(HeaderValue),
    Pair(String, String),
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Header(_) | Self::Pair(..) => "Some",
        })
    }
}

impl Route {
    /// Through the proxy that is given by its URL, whatever `NO_PROXY` says (client-go `rest.Config.Proxy`).
    pub(crate) fn through(url: &str, server: &Server) -> Result<Self, Error> {
        // The URL may hold a password, so no error quotes it.
        let refuse = |problem: &str| Error::configuration(format!("proxy URL: {problem}"));
        let uri: Uri = url.parse().map_err(|_| refuse("malformed"))?;
        match uri.scheme_str() {
            Some("http" | "https" | "socks5" | "socks5h") => {}
            Some(other) => {
                return Err(refuse(&format!(
                    "the scheme {other:?} is not supported; http, https, socks5 and socks5h are"
                )));
            }
            None => {
                return Err(refuse(
                    "needs to begin with http://, https://, socks5:// or socks5h://",
                ));
            }
        }
        let intercept = Matcher::builder().all(url).build().intercept(&target(server));
        let intercept = intercept.ok_or_else(|| refuse("malformed"))?;
        Proxy::new(&intercept).map(|proxy| Self::Proxy(Arc::new(proxy)))
    }

    /// As the variables `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say. This machine itself is never asked for through a proxy
    /// (Go's `http.ProxyFromEnvironment`).
    pub(crate) fn of_environment(server: &Server) -> Result<Self, Error> {
        Self::matched(&Matcher::from_env(), server)
    }

    fn matched(matcher: &Matcher, server: &Server) -> Result<Self, Error> {
        if server.is_loopback() {
            return Ok(Self::Direct);
        }
        match matcher.intercept(&target(server)) {
            None => Ok(Self::Direct),
            Some(intercept) => Proxy::new(&intercept).map(|proxy| Self::Proxy(Arc::new(proxy))),
        }
    }

    /// Words for an error: through whom.
    pub(crate) fn described(&self) -> String {
        match self {
            Self::Direct => String::new(),
            Self::Proxy(proxy) => format!(" through the proxy {}", proxy.uri),
        }
    }

    /// A wire to the server.
    pub(crate) async fn connect(&self, server: &Server, tls: Option<&Ready>) -> Result<Carrier, BoxError> {
        let target = target(server);
        let proxy = match self {
            Self::Direct => {
                let stream = tcp().call(target).await?.into_inner();
                return Ok(Box::new(stream));
            }
            Self::Proxy(proxy) => proxy,
        };
        let hop = Hop::to(proxy, tls)?;
        let carrier = match (&proxy.kind, &proxy.auth) {
            (Kind::Socks5 { resolves_here }, auth) => {
                let mut socks = SocksV5::new(proxy.uri.clone(), hop).local_dns(*resolves_here);
                if let Auth::Pair(user, password) = auth {
                    socks = socks.with_auth(user.clone(), password.clone());
                }
                socks.call(target).await?
            }
            (Kind::Http | Kind::Https(_), auth) => {
                let mut tunnel = Tunnel::new(proxy.uri.clone(), hop);
                if let Auth::Header(header) = auth {
                    tunnel = tunnel.with_auth(header.clone());
                }
                tunnel.call(target).await?
            }
        };
        Ok(carrier.into_inner())
    }
}

impl Proxy {
    fn new(intercept: &Intercept) -> Result<Self, Error> {
        let uri = intercept.uri();
        let refuse = || Error::configuration("proxy URL: has no host");
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(refuse)?;
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let (kind, port) = match uri.scheme_str() {
            Some("https") => {
                let name = ServerName::try_from(name.to_owned()).map_err(|cause| {
                    Error::configuration(format!("proxy URL: {name:?} is no name of a server"))
                        .caused_by(cause)
                })?;
                (Kind::Https(name), 443)
            }
            Some("socks5") => (Kind::Socks5 { resolves_here: true }, SOCKS_PORT),
            Some("socks5h") => (Kind::Socks5 { resolves_here: false }, SOCKS_PORT),
            _ => (Kind::Http, 80),
        };
        let port = uri.port_u16().unwrap_or(port);
        let scheme = uri.scheme_str().unwrap_or("http");
        let auth = match (intercept.basic_auth(), intercept.raw_auth()) {
            (Some(header), _) => Auth::Header(header.clone()),
            (None, Some((user, password))) => Auth::Pair(user.to_owned(), password.to_owned()),
            (None, None) => Auth::None,
        };
        let uri = format!("{scheme}://{host}:{port}/");
        Ok(Self {
            uri: uri.parse().map_err(|cause: http::uri::InvalidUri| {
                Error::configuration("proxy URL: malformed").caused_by(cause)
            })?,
            kind,
            auth,
        })
    }
}

/// Where a connection is to end, with its port written out.
fn target(server: &Server) -> Uri {
    let scheme = if server.is_tls { "https" } else { "http" };
    let host = if server.host.contains(':') {
        format!("[{}]", server.host)
    } else {
        server.host.to_string()
    };
    format!("{scheme}://{host}:{}/", server.port)
        .parse()
        .expect("it was parsed from a URL")
}

/// Connects to names with several addresses as RFC 8305 says: an address that does not answer holds the others up for 300 ms only.
fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(TCP_KEEPALIVE));
    tcp.set_keepalive_interval(Some(TCP_KEEPALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(TCP_KEEPALIVE_RETRIES));
    #[cfg(target_os = "linux")]
    tcp.set_tcp_user_timeout(Some(TCP_USER_TIMEOUT));
    tcp
}

/// The hop to the proxy.
struct Hop {
    tcp: HttpConnector,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Hop {
    fn to(proxy: &Proxy, tls: Option<&Ready>) -> Result<Self, Error> {
        let tls = match &proxy.kind {
            Kind::Https(name) => {
                let config = tls::for_proxy(tls, &proxy.uri)?;
                Some((TlsConnector::from(config), name.clone()))
            }
            Kind::Http | Kind::Socks5 { .. } => None,
        };
        Ok(Self { tcp: tcp(), tls })
    }
}

impl Service<Uri> for Hop {
    type Response = TokioIo<Carrier>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Carrier>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, proxy: Uri) -> Self::Future {
        let (connecting, tls) = (self.tcp.call(proxy), self.tls.clone());
        Box::pin(async move {
            let stream = connecting.await?.into_inner();
            let carrier: Carrier = match tls {
                None => Box::new(stream),
                Some((tls, name)) => {
                    Box::new(tls.connect(name, stream).await.map_err(|cause: io::Error| {
                        format!("the TLS handshake with the proxy failed: {cause}")
                    })?)
                }
            };
            Ok(TokioIo::new(carrier))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> Server {
        Server::parse(url).expect("a URL")
    }

    #[test]
    fn variables_say_which_servers_are_behind_a_proxy() {
        let table = [
            ("https://10.0.0.1:6443", "", true),
            ("https://10.0.0.1:6443", "10.0.0.0/8", false),
            ("https://10.0.0.1:6443", "192.168.0.0/16, 10.0.0.1", false),
            ("https://[fd00::1]:6443", "fd00::/8", false),
            ("https://api.example.com", "example.com", false),
            ("https://api.example.com", ".example.com", false),
            ("https://notexample.com", "example.com", true),
            ("https://api.example.com", "*", false),
            ("https://localhost:6443", "", false),
            ("https://127.0.0.1:6443", "", false),
        ];
        for (url, no, expected) in table {
            let matcher = Matcher::builder().all("http://proxy:3128").no(no).build();
            let route = Route::matched(&matcher, &server(url)).expect(url);
            assert_eq!(matches!(route, Route::Proxy(_)), expected, "{url} without {no:?}");
        }
    }

    #[test]
    fn a_proxy_that_is_given_is_used_or_refused_and_its_password_is_in_no_text() {
        let server = server("https://127.0.0.1:6443");
        for (url, shown) in [
            ("http://ada:s3cret@proxy:3128", "http://proxy:3128/"),
            ("http://proxy", "http://proxy:80/"),
            ("https://ada:s3cret@proxy", "https://proxy:443/"),
            ("socks5://ada:s3cret@[fd00::2]", "socks5://[fd00::2]:1080/"),
            ("socks5h://proxy:9", "socks5h://proxy:9/"),
        ] {
            let route = Route::through(url, &server).expect(url);
            assert_eq!(route.described(), format!(" through the proxy {shown}"));
            assert!(!format!("{route:?}").contains("s3cret"), "{route:?}");
        }
        for url in ["ftp://ada:s3cret@proxy", "ada:s3cret@proxy:1", "http://", "proxy"] {
            let error = Route::through(url, &server).expect_err(url);
            assert!(error.is_configuration(), "{url}");
            assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        }
    }
}
