//! A small HTTP client: one connection per request, or HTTP/2 with prior knowledge.

use std::{future::Future, net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use informer_core::{Clock as _, Resource, TokioClock};
use serde_json::Value;
use tokio::{net::TcpStream, task::JoinHandle};

pub(crate) fn configmaps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

pub(crate) fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

pub(crate) fn named(name: &str) -> Value {
    serde_json::json!({"metadata": {"name": name}})
}

#[expect(
    clippy::disallowed_methods,
    reason = "the client's connection ends when its sender is dropped"
)]
fn spawn<F: Future<Output = ()> + Send + 'static>(task: F) -> JoinHandle<()> {
    tokio::spawn(task)
}

fn to(address: SocketAddr, request: Request<String>) -> Request<Full<Bytes>> {
    let (mut parts, body) = request.into_parts();
    parts.headers.insert("host", address.to_string().parse().unwrap());
    Request::from_parts(parts, Full::new(body.into()))
}

/// Sends a request over HTTP/1.1.
pub(crate) async fn send(address: SocketAddr, request: Request<String>) -> hyper::Result<Response<Incoming>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    spawn(async move { drop(connection.await) });
    sender.send_request(to(address, request)).await
}

/// An HTTP/2 connection.
pub(crate) async fn http2(address: SocketAddr) -> hyper::client::conn::http2::SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    spawn(async move { drop(connection.await) });
    sender
}

pub(crate) fn get(uri: &str) -> Request<String> {
    Request::get(uri).body(String::new()).unwrap()
}

pub(crate) async fn json(response: Response<Incoming>) -> Value {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

/// The lines of a watch.
pub(crate) struct Events {
    body: Incoming,
    rest: Vec<u8>,
}

impl From<Response<Incoming>> for Events {
    fn from(response: Response<Incoming>) -> Self {
        Self {
            body: response.into_body(),
            rest: Vec::new(),
        }
    }
}

impl Events {
    pub(crate) async fn next(&mut self) -> Option<hyper::Result<Value>> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Some(Ok(serde_json::from_slice(&line).unwrap()));
            }
            match self.body.frame().await? {
                Ok(frame) => self.rest.extend_from_slice(&frame.into_data().unwrap()),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// The error that ends it, after what was sent before.
    pub(crate) async fn failure(&mut self) -> hyper::Error {
        loop {
            match self.next().await {
                Some(Ok(_)) => {}
                Some(Err(error)) => return error,
                None => panic!("it ended cleanly"),
            }
        }
    }
}

/// Waits until something holds, for at most ten seconds.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let clock = TokioClock;
    let limit = clock.now() + Duration::from_secs(10);
    while !holds() {
        assert!(clock.now() < limit, "never: {what}");
        clock.sleep_until(clock.now() + Duration::from_millis(2)).await;
    }
}
