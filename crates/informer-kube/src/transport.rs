//! `KubeTransport`: a client of kube as a transport.

use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header::ACCEPT_ENCODING};
use informer_transport::Transport;
use kube::client::Body;

/// A `kube::Client` as a [`Transport`]: its configuration, credentials, connections and middleware, and our client, informers and controllers
/// above it. Clones share the client.
///
/// What is particular to that client, and stays so:
/// * It retries by itself what is answered with 429, 503 or 504, up to fifteen times, before anybody hears of it. A reflector has rules of its
///   own for that and shows its failures in its status: build the client with `Config::default_retry` off, or with
///   [`from_config`](Self::from_config).
/// * It speaks HTTP/1.1, so each watch is a connection, and a server that is gone silently is found out late. `informer-hyper` speaks HTTP/2
///   and pings.
/// * With kube's feature `gzip` it decodes the first member of a body only. Watches are therefore asked for without compression here, as kube's
///   own are.
#[derive(Clone)]
pub struct KubeTransport {
    client: kube::Client,
}

impl KubeTransport {
    /// A transport over a client.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }

    /// A transport over a client that is made of a configuration, and that retries nothing by itself: those above it do, and say so.
    ///
    /// # Errors
    /// When kube can make no client of it.
    pub fn from_config(mut config: kube::Config) -> Result<Self, kube::Error> {
        config.default_retry = false;
        kube::Client::try_from(config).map(Self::new)
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> &kube::Client {
        &self.client
    }
}

impl From<kube::Client> for KubeTransport {
    fn from(client: kube::Client) -> Self {
        Self::new(client)
    }
}

impl fmt::Debug for KubeTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeTransport").finish_non_exhaustive()
    }
}

impl Transport for KubeTransport {
    type Body = Body;
    type Error = kube::Error;

    async fn send(&self, mut request: Request<Bytes>) -> Result<Response<Body>, kube::Error> {
        if is_watch(&request) {
            request
                .headers_mut()
                .entry(ACCEPT_ENCODING)
                .or_insert(HeaderValue::from_static("identity"));
        }
        self.client.send(request.map(Body::from)).await
    }
}

fn is_watch(request: &Request<Bytes>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query
        .split('&')
        .any(|pair| matches!(pair, "watch=true" | "watch=1"))
}
