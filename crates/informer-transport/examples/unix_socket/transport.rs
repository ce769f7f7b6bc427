//! The transport: a connection for each request, and what is asked of a transport follows from hyper.

use std::{io, path::PathBuf};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header::HOST};
use http_body_util::Full;
use hyper::{body::Incoming, client};
use hyper_util::rt::TokioIo;
use informer_transport::Transport;
use tokio::net::UnixStream;

/// Talks to the API server that listens at a path.
pub(crate) struct UnixSocket(pub(crate) PathBuf);

impl Transport for UnixSocket {
    type Body = Incoming;
    type Error = io::Error;

    async fn send(&self, mut request: Request<Bytes>) -> io::Result<Response<Incoming>> {
        // A socket that nobody listens at says so itself: the error is a refused connection.
        let stream = TokioIo::new(UnixStream::connect(&self.0).await?);
        let (mut sender, connection) = client::conn::http1::handshake(stream)
            .await
            .map_err(io::Error::other)?;
        // It ends with the response: when that is read, or dropped.
        spawn(connection);
        request
            .headers_mut()
            .insert(HOST, HeaderValue::from_static("localhost"));
        let request = request.map(Full::new);
        sender.send_request(request).await.map_err(io::Error::other)
    }
}

/// Drives a connection.
#[expect(
    clippy::disallowed_methods,
    reason = "a connection is driven by a task of its own"
)]
pub(crate) fn spawn(connection: impl Future<Output = hyper::Result<()>> + Send + 'static) {
    tokio::spawn(async move { drop(connection.await) });
}
