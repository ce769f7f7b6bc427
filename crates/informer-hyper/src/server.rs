//! The server's address: scheme, host, port and path prefix.

use std::{net::IpAddr, sync::Arc};

use http::{
    HeaderValue, Uri,
    uri::{Authority, PathAndQuery, Scheme},
};

use crate::Error;

/// Where requests go.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) is_tls: bool,
    /// A name or an address, the latter without brackets.
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
    authority: Authority,
    /// Empty, or a path that begins with `/` and does not end with one.
    prefix: Arc<str>,
    url: Arc<str>,
}

impl Server {
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        // Where there is, or may be, a password, nothing is quoted: in what is malformed nobody knows where it ends.
        let quoted = match url.contains('@') || url.contains("%40") {
            true => String::new(),
            false => format!(" {url:?}"),
        };
        let refuse = |problem: &str| Error::configuration(format!("server URL{quoted}: {problem}"));
        let uri: Uri = url
            .parse()
            .map_err(|cause| refuse("malformed").caused_by(cause))?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(refuse("needs to begin with https:// or http://")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("has no host"))?.clone();
        if authority.as_str().contains('@') {
            return Err(refuse(
                "holds a user name or password; credentials are given separately",
            ));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(refuse("has no host"));
        }
        if !has_good_port(&authority) {
            return Err(refuse("its port is no number"));
        }
        let prefix = uri.path().trim_end_matches('/');
        let scheme = if is_tls { "https" } else { "http" };
        Ok(Self {
            is_tls,
            host: host.into(),
            port: authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            url: format!("{scheme}://{authority}{prefix}").into(),
            prefix: prefix.into(),
            authority,
        })
    }

    /// The URL, for sentences.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Whether no other machine can see what is sent.
    pub(crate) fn is_loopback(&self) -> bool {
        let name = self.host.eq_ignore_ascii_case("localhost");
        name || self
            .host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
    }

    /// The value of a `Host` header.
    pub(crate) fn host_header(&self) -> HeaderValue {
        HeaderValue::from_str(self.authority.as_str())
            .expect("an authority has only characters that a header can hold")
    }

    /// The path and query that is asked for, behind the prefix.
    pub(crate) fn prefixed(&self, asked: &Uri) -> Result<PathAndQuery, Error> {
        let asked = asked.path_and_query().map_or("/", PathAndQuery::as_str);
        let slash = if asked.starts_with('/') { "" } else { "/" };
        PathAndQuery::try_from(format!("{}{slash}{asked}", self.prefix)).map_err(|cause| {
            Error::configuration(format!("request path {asked:?}: malformed")).caused_by(cause)
        })
    }

    /// The absolute URI, which HTTP/2 takes scheme and authority from.
    pub(crate) fn absolute(&self, path: PathAndQuery) -> Uri {
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(if self.is_tls { Scheme::HTTPS } else { Scheme::HTTP });
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path);
        Uri::from_parts(parts).expect("all three parts are there and valid")
    }
}

/// Whether what stands behind the last colon that is not of an IPv6 address is a port, if there is one.
fn has_good_port(authority: &Authority) -> bool {
    let behind_host = authority.as_str().rsplit(']').next();
    let port = behind_host.and_then(|rest| rest.split_once(':'));
    port.is_none_or(|(_, port)| port.is_empty() || authority.port_u16().is_some())
}

#[cfg(test)]
mod tests {
    use super::Server;

    #[test]
    fn the_prefix_stands_before_each_path_exactly_once() {
        let table = [
            ("https://h", "/api/v1/pods?watch=true", "/api/v1/pods?watch=true"),
            ("https://h/", "/api", "/api"),
            ("https://h/k8s/clusters/c-1", "/api", "/k8s/clusters/c-1/api"),
            ("https://h/k8s/clusters/c-1/", "/api", "/k8s/clusters/c-1/api"),
            ("https://h/a%2Fb/?q=1", "/api?x=%2F", "/a%2Fb/api?x=%2F"),
            ("https://h/api", "/api/v1", "/api/api/v1"),
            ("https://h/p", "/", "/p/"),
        ];
        for (url, asked, expected) in table {
            let server = Server::parse(url).expect(url);
            let path = server.prefixed(&asked.parse().expect("path")).expect("path");
            assert_eq!(path.as_str(), expected, "{url}");
            assert_eq!(server.absolute(path).to_string(), format!("https://h{expected}"));
        }
    }

    #[test]
    fn hosts_ports_and_loopback() {
        let table = [
            ("https://h", "h", 443, false),
            ("http://h", "h", 80, false),
            ("http://localhost:8080", "localhost", 8080, true),
            ("https://127.0.0.2:6443", "127.0.0.2", 6443, true),
            ("https://[fd00::1]:6443", "fd00::1", 6443, false),
            ("https://[::1]", "::1", 443, true),
        ];
        for (url, host, port, is_loopback) in table {
            let server = Server::parse(url).expect(url);
            assert_eq!(
                (&*server.host, server.port, server.is_loopback()),
                (host, port, is_loopback),
                "{url}"
            );
        }
        let server = Server::parse("https://[fd00::1]:6443").expect("URL");
        assert_eq!(server.host_header(), "[fd00::1]:6443");
    }

    #[test]
    fn what_is_no_server_is_refused_and_a_password_is_not_repeated() {
        for (url, expected) in [
            (
                "h:6443",
                "server URL \"h:6443\": needs to begin with https:// or http://",
            ),
            (
                "ftp://h",
                "server URL \"ftp://h\": needs to begin with https:// or http://",
            ),
            ("https://a b", "server URL \"https://a b\": malformed"),
            (
                "https://u:hunter2@h",
                "server URL: holds a user name or password; credentials are given separately",
            ),
            ("https://u:hunter2/x y@h", "server URL: malformed"),
            ("https://u:hun ter2@h", "server URL: malformed"),
            (
                "https://u:hunter2@h:port",
                "server URL: holds a user name or password; credentials are given separately",
            ),
            (
                "https://h:port",
                "server URL \"https://h:port\": its port is no number",
            ),
            (
                "https://h:65536",
                "server URL \"https://h:65536\": its port is no number",
            ),
            ("https://u%40x:hun/ter2", "server URL: malformed"),
            (
                "ftp://u:hunter2@h",
                "server URL: needs to begin with https:// or http://",
            ),
            (
                "u:hunter2@h",
                "server URL: needs to begin with https:// or http://",
            ),
        ] {
            let error = Server::parse(url).expect_err(url);
            assert_eq!(error.to_string(), expected);
            let cause = std::error::Error::source(&error);
            assert!(!format!("{error:?} {cause:?}").contains("hunter2"), "{error:?}");
        }
    }
}
