//! A transport that counts what comes.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use informer_client::Client;
use informer_transport::{BoxBody, BoxError, BoxTransport, Transport, TransportError};

/// Counts the bytes of the bodies.
#[derive(Debug)]
pub(crate) struct Counted {
    inner: BoxTransport,
    received: Arc<AtomicU64>,
}

impl Counted {
    pub(crate) fn client(transport: impl Transport + 'static) -> (Client<Self>, Arc<AtomicU64>) {
        let received = Arc::default();
        let counted = Self {
            inner: BoxTransport::new(transport),
            received: Arc::clone(&received),
        };
        (Client::new(counted), received)
    }
}

impl Transport for Counted {
    type Body = CountedBody;
    type Error = TransportError;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<CountedBody>, TransportError> {
        let response = self.inner.send(request).await?;
        Ok(response.map(|inner| CountedBody {
            inner,
            received: self.received.clone(),
        }))
    }
}

pub(crate) struct CountedBody {
    inner: BoxBody,
    received: Arc<AtomicU64>,
}

impl Body for CountedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(self.inner.as_mut().poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.received.fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }
}
