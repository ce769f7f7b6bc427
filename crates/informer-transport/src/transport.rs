//! `Transport`: sends a request, returns a response whose body streams.

use std::{error::Error, fmt, future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use informer_core::BoxFuture;

/// Any error, boxed.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Sends requests to one API server. The seam where the network can be swapped.
///
/// The URI of a request is a path with a query, beginning with `/`; the transport adds scheme, authority, path prefix and credentials.
/// The response is returned when its head has arrived; its body streams, and dropping it ends the exchange and, with it, a watch.
/// A body is decoded: if the transport asked for a content encoding, it undoes it.
///
/// Any status is a response: what it means is for the caller. The bytes of a body come in the order of the server, as they arrive; where
/// chunks begin and end means nothing. A body that breaks off ends with an error, never as if it were whole. What is not read is not read
/// ahead without bound: the server is held back. Requests do not wait for one another: one that is not answered, or whose body is not read,
/// holds up no other.
///
/// # Cancel safety
/// Dropping the future of `send` abandons the request. The server may have seen it.
pub trait Transport: Send + Sync {
    /// The body of a response.
    type Body: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;
    /// Why no response came.
    type Error: Error + Send + Sync + 'static;

    /// Sends a request.
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, Self::Error>> + Send;

    /// Whether the error means that nothing listens at the address: the request was certainly not seen, and a retry costs nobody.
    fn is_refused(error: &Self::Error) -> bool {
        is_refused(error)
    }
}

/// Whether an error is, or comes from, a refused connection.
pub(crate) fn is_refused(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<TransportError>() {
            return error.refused;
        }
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return io.kind() == std::io::ErrorKind::ConnectionRefused;
        }
        cause = error.source();
    }
    false
}

impl<T: Transport> Transport for Arc<T> {
    type Body = T::Body;
    type Error = T::Error;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, Self::Error>> + Send {
        (**self).send(request)
    }

    fn is_refused(error: &Self::Error) -> bool {
        T::is_refused(error)
    }
}

/// A body of any transport behind one type.
pub type BoxBody = Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>;

/// An error of any transport behind one type. Prints as the error that it holds.
#[derive(Debug)]
pub struct TransportError {
    refused: bool,
    cause: BoxError,
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.cause, f)
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

trait DynTransport: Send + Sync {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<BoxBody>, TransportError>>;
}

struct Erased<T>(T);

impl<T: Transport> DynTransport for Erased<T> {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<BoxBody>, TransportError>> {
        Box::pin(async {
            match self.0.send(request).await {
                Ok(response) => {
                    Ok(response.map(|body| Box::pin(BoxedErrors { body: Box::pin(body) }) as BoxBody))
                }
                Err(error) => Err(TransportError {
                    refused: T::is_refused(&error),
                    cause: Box::new(error),
                }),
            }
        })
    }
}

struct BoxedErrors<B> {
    body: Pin<Box<B>>,
}

impl<B: Body<Error: Into<BoxError>>> Body for BoxedErrors<B> {
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, BoxError>>> {
        self.body.as_mut().poll_frame(cx).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// Any transport behind one type.
#[derive(Clone)]
pub struct BoxTransport(Arc<dyn DynTransport>);

impl BoxTransport {
    /// Boxes a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self(Arc::new(Erased(transport)))
    }
}

impl fmt::Debug for BoxTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxTransport").finish_non_exhaustive()
    }
}

impl Transport for BoxTransport {
    type Body = BoxBody;
    type Error = TransportError;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<BoxBody>, TransportError> {
        self.0.send(request).await
    }

    fn is_refused(error: &TransportError) -> bool {
        error.refused
    }
}
