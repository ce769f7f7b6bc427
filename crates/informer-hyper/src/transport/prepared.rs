//! A request as it goes out: path prefix, headers, and the form that each HTTP version wants.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, Uri,
    header::{ACCEPT_ENCODING, AUTHORIZATION, HOST, USER_AGENT},
    uri::PathAndQuery,
};
use http_body_util::Full;
use informer_transport::{Authorize, Issue};

use crate::{Error, error::Kind, server::Server};

/// What is added to the headers of each request.
#[derive(Debug)]
pub(crate) struct Headers {
    pub(crate) user_agent: HeaderValue,
    pub(crate) accepts_gzip: bool,
    /// Whether credentials may be sent to this server at all.
    pub(crate) allows_credentials: bool,
}

/// A request that can be sent, more than once.
#[derive(Debug)]
pub(crate) struct Prepared {
    method: Method,
    path: PathAndQuery,
    headers: HeaderMap,
    body: Bytes,
    /// Compression was asked for here, so it is undone here.
    pub(crate) asked_for_gzip: bool,
    /// The credentials are the authorizer's, and which of them. One that adds nothing may still give a client certificate.
    pub(crate) issue: Option<Issue>,
    /// The response may be silent for as long as it likes.
    pub(crate) is_long_running: bool,
}

impl Prepared {
    pub(crate) async fn new(
        request: &Request<Bytes>,
        server: &Server,
        add: &Headers,
        authorizer: Option<&dyn Authorize>,
    ) -> Result<Self, Error> {
        let mut headers = request.headers().clone();
        if !headers.contains_key(USER_AGENT) {
            headers.insert(USER_AGENT, add.user_agent.clone());
        }
        let asked_for_gzip = add.accepts_gzip && !headers.contains_key(ACCEPT_ENCODING);
        if asked_for_gzip {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let (mut issue, mut adds_credentials) = (None, false);
        if let Some(authorizer) = authorizer
            && !headers.contains_key(AUTHORIZATION)
        {
            let n_before = headers.len();
            issue = Some(authorizer.authorize(&mut headers).await.map_err(|cause| {
                Error::new(Kind::Credentials, format!("no credentials for {}", server.url())).caused_by(cause)
            })?);
            // Whoever implements an authorizer may forget it, and logs of headers are beyond our control.
            if let Some(value) = headers.get_mut(AUTHORIZATION) {
                value.set_sensitive(true);
            }
            adds_credentials = headers.len() > n_before;
        }
        if adds_credentials && !add.allows_credentials {
            let message = format!("credentials are not sent to {} over plain HTTP", server.url());
            return Err(Error::new(Kind::Credentials, message));
        }
        Ok(Self {
            method: request.method().clone(),
            path: server.prefixed(request.uri())?,
            is_long_running: is_long_running(request.uri()),
            headers,
            body: request.body().clone(),
            asked_for_gzip,
            issue,
        })
    }

    /// Whether sending it twice is the same as sending it once, also where the first answer was lost (as Go's `http.Transport` decides).
    pub(crate) fn is_repeatable(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD | Method::OPTIONS)
    }

    /// The request in the form of the version.
    pub(crate) fn request(&self, server: &Server, is_http2: bool) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        *request.uri_mut() = if is_http2 {
            request.headers_mut().remove(HOST);
            server.absolute(self.path.clone())
        } else {
            request.headers_mut().insert(HOST, server.host_header());
            Uri::from(self.path.clone())
        };
        request
    }
}

/// Whether the response goes on for as long as somebody reads: a watch, or a log that is followed.
pub(crate) fn is_long_running(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    query.split('&').any(|pair| match pair.split_once('=') {
        Some(("watch" | "follow", value)) => {
            !matches!(value, "" | "0" | "f" | "F" | "false" | "False" | "FALSE")
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_long_running;

    #[test]
    fn watches_and_followed_logs_are_long_running() {
        for (uri, expected) in [
            ("/api/v1/pods", false),
            ("/api/v1/pods?watch=true", true),
            ("/api/v1/pods?limit=5&watch=1", true),
            ("/api/v1/pods?watch=false", false),
            ("/api/v1/pods?labelSelector=watch%3Dtrue", false),
            ("/api/v1/pods?unwatch=true", false),
            ("/api/v1/namespaces/n/pods/p/log?follow=true", true),
        ] {
            assert_eq!(is_long_running(&uri.parse().expect("URI")), expected, "{uri}");
        }
    }
}
