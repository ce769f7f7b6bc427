//! `TowerTransport`: a service of tower as a transport.

use std::{
    error::Error,
    fmt,
    future::{Future, poll_fn},
    marker::PhantomData,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use crate::{BoxError, Transport, transport::is_refused};

/// A `tower::Service` as a [`Transport`]: with it every layer of tower (limits, tracing, retries, load shedding) can stand between.
///
/// `B` is the body that the service wants of a request; anything that is made of `Bytes` will do. The service gets what a transport gets: a
/// URI that is a path. A layer of it adds scheme, authority and credentials, if it needs them.
///
/// Each request is served by a clone of its own, which is waited for until it is ready and then called once: a service that pushes back,
/// such as a concurrency limit, delays the requests and nothing else. A service that cannot be cloned goes behind a `tower::buffer::Buffer`,
/// as tower has it.
///
/// ```
/// use std::{convert::Infallible, future::{Ready, ready}, task::{Context, Poll}};
///
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use informer_transport::{BoxTransport, TowerTransport};
/// # struct Body;
/// # impl http_body::Body for Body {
/// #     type Data = Bytes;
/// #     type Error = Infallible;
/// #     fn poll_frame(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>)
/// #         -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> { Poll::Ready(None) }
/// # }
///
/// #[derive(Clone)]
/// struct Empty;
///
/// impl tower_service::Service<Request<Bytes>> for Empty {
///     type Response = Response<Body>;
///     type Error = Infallible;
///     type Future = Ready<Result<Response<Body>, Infallible>>;
///
///     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
///         Poll::Ready(Ok(()))
///     }
///
///     fn call(&mut self, _: Request<Bytes>) -> Self::Future {
///         ready(Ok(Response::new(Body)))
///     }
/// }
///
/// let transport = BoxTransport::new(TowerTransport::<_, Bytes>::new(Empty));
/// ```
pub struct TowerTransport<S, B = Bytes> {
    /// Services need not be `Sync`; the lock is held while one is cloned.
    service: Mutex<S>,
    body: PhantomData<fn() -> B>,
}

impl<S, B> TowerTransport<S, B> {
    /// A transport over a service.
    pub fn new(service: S) -> Self {
        Self {
            service: Mutex::new(service),
            body: PhantomData,
        }
    }

    /// The service.
    pub fn into_inner(self) -> S {
        self.service.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self) -> S
    where
        S: Clone,
    {
        self.service
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl<S: Clone, B> Clone for TowerTransport<S, B> {
    fn clone(&self) -> Self {
        Self::new(self.fresh())
    }
}

impl<S, B> fmt::Debug for TowerTransport<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TowerTransport").finish_non_exhaustive()
    }
}

impl<S, B, R> Transport for TowerTransport<S, B>
where
    S: Service<Request<B>, Response = Response<R>, Error: Into<BoxError>, Future: Send> + Clone + Send,
    B: From<Bytes> + Send,
    R: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Body = R;
    type Error = TowerError;

    fn send(&self, request: Request<Bytes>) -> impl Future<Output = Result<Response<R>, TowerError>> + Send {
        // A clone is not ready because what it was cloned from is: it has to be asked itself. Dropped before it was called, it gives back
        // whatever it held to be ready.
        let mut service = self.fresh();
        let request = request.map(B::from);
        async move {
            poll_fn(|cx| service.poll_ready(cx))
                .await
                .map_err(TowerError::new)?;
            service.call(request).await.map_err(TowerError::new)
        }
    }

    fn is_refused(error: &TowerError) -> bool {
        is_refused(&*error.0)
    }
}

/// Why a service gave no response. Prints as the error that it holds.
#[derive(Debug)]
pub struct TowerError(BoxError);

impl TowerError {
    fn new(cause: impl Into<BoxError>) -> Self {
        Self(cause.into())
    }

    /// The service's own error.
    #[must_use]
    pub fn into_inner(self) -> BoxError {
        self.0
    }
}

impl fmt::Display for TowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for TowerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
