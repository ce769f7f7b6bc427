//! `TransportService`: a transport as a service of tower.

use std::{
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes, BytesMut};
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use informer_core::BoxFuture;
use tower_service::Service;

use crate::{BoxError, Transport};

/// A [`Transport`] as a `tower::Service`, for whatever takes one: `kube::Client::new`, or a stack of layers. Clones share the transport.
///
/// It is always ready, since a transport takes any number of requests; a limit is a layer around it. A body of a request is read to its end
/// before the request is sent. Scheme and authority of a URI are left out: a transport knows its server and adds them.
pub struct TransportService<T>(Arc<T>);

impl<T: Transport> TransportService<T> {
    /// A service over a transport.
    pub fn new(transport: T) -> Self {
        Self(Arc::new(transport))
    }

    /// The transport.
    #[must_use]
    pub fn transport(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for TransportService<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for TransportService<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportService").finish_non_exhaustive()
    }
}

impl<T, B> Service<Request<B>> for TransportService<T>
where
    T: Transport + 'static,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<TowerBody<T::Body>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let transport = self.0.clone();
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            parts.uri = path_of(&parts.uri)?;
            let body = collect(body).await?;
            let response = transport.send(Request::from_parts(parts, body)).await?;
            Ok(response.map(|body| TowerBody(Box::pin(body))))
        })
    }
}

fn path_of(uri: &Uri) -> Result<Uri, http::Error> {
    let path = uri.path_and_query().map_or("/", |it| it.as_str());
    Uri::builder().path_and_query(path).build()
}

async fn collect<B>(body: B) -> Result<Bytes, BoxError>
where
    B: Body<Error: Into<BoxError>>,
{
    let mut body = pin!(body);
    let mut all = BytesMut::new();
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        // Trailers are of no use to an API server.
        if let Ok(data) = frame.map_err(Into::into)?.into_data() {
            extend(&mut all, data);
        }
    }
    Ok(all.freeze())
}

fn extend(all: &mut BytesMut, mut data: impl Buf) {
    while data.has_remaining() {
        let chunk = data.chunk();
        all.extend_from_slice(chunk);
        let n = chunk.len();
        data.advance(n);
    }
}

/// The body of a response of a [`TransportService`]: the transport's, pinned, with its error boxed.
pub struct TowerBody<B>(Pin<Box<B>>);

impl<B> fmt::Debug for TowerBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TowerBody").finish_non_exhaustive()
    }
}

impl<B: Body<Error: Into<BoxError>>> Body for TowerBody<B> {
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, BoxError>>> {
        self.0.as_mut().poll_frame(cx).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
