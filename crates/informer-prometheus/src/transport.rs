//! `MeasuredTransport`: any transport, with its requests as `rest_client_*`.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Method, Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use informer_core::{Clock as _, TokioClock};
use informer_transport::Transport;
use prometheus::{Histogram, IntGauge};

use crate::{Registry, families::RequestFamilies};

/// What client-go says in the place of a status code when there was no answer (`tools/metrics`, `rest.Request`).
pub(crate) const NO_ANSWER: &str = "<error>";

/// Sends through another transport, and counts. Made by [`Registry::transport`].
pub struct MeasuredTransport<T> {
    transport: T,
    host: String,
    families: RequestFamilies,
}

impl Registry {
    /// The same transport, with its requests counted as those to this host, which is as a rule `name:port` of the server. How long it takes
    /// until the head of an answer comes is measured; for how long a watch lasts, the reflector tells.
    #[must_use]
    pub fn transport<T: Transport>(&self, transport: T, host: impl Into<String>) -> MeasuredTransport<T> {
        MeasuredTransport {
            transport,
            host: host.into(),
            families: self.0.requests.clone(),
        }
    }
}

/// The method as a label; what HTTP does not know is no label of its own.
pub(crate) fn label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "PUT" => "PUT",
        "POST" => "POST",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        _ => "OTHER",
    }
}

impl<T: Transport> Transport for MeasuredTransport<T> {
    type Body = MeasuredBody<T::Body>;
    type Error = T::Error;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, Self::Error>> + Send {
        let method = label(request.method());
        let size = request.body().len();
        let labels = [method, self.host.as_str()];
        let has_size = !is_long_running(request.uri());
        let began = TokioClock.now();
        async move {
            let answer = self.transport.send(request).await;
            let took = TokioClock.now().saturating_duration_since(began);
            let duration = self.families.duration.with_label_values(&labels);
            duration.observe(took.as_secs_f64());
            let request_size = self.families.request_size.with_label_values(&labels);
            request_size.observe(size as f64);
            let code = match &answer {
                Ok(response) => response.status().as_str().to_owned(),
                Err(_) => NO_ANSWER.to_owned(),
            };
            let total = self
                .families
                .total
                .with_label_values(&[&code, method, self.host.as_str()]);
            total.inc();
            let size = has_size.then(|| self.families.response_size.with_label_values(&labels));
            let open = self.families.streams.with_label_values(&[self.host.as_str()]);
            answer.map(|response| response.map(|body| MeasuredBody::new(body, size, open)))
        }
    }

    fn is_refused(error: &Self::Error) -> bool {
        T::is_refused(error)
    }
}

/// Whether the response goes on for as long as somebody reads, and has no size.
fn is_long_running(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    let mut pairs = query.split('&');
    pairs.any(|pair| matches!(pair, "watch=true" | "watch=1" | "follow=true" | "follow=1"))
}

/// The body of a measured response. It counts as being read until it is dropped.
pub struct MeasuredBody<B> {
    body: Pin<Box<B>>,
    n_bytes: u64,
    size: Option<Histogram>,
    open: IntGauge,
}

impl<B> MeasuredBody<B> {
    fn new(body: B, size: Option<Histogram>, open: IntGauge) -> Self {
        open.inc();
        Self {
            body: Box::pin(body),
            n_bytes: 0,
            size,
            open,
        }
    }
}

impl<B: Body<Data = Bytes>> Body for MeasuredBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = self.body.as_mut().poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.n_bytes += data.len() as u64;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for MeasuredBody<B> {
    fn drop(&mut self) {
        self.open.dec();
        if let Some(size) = &self.size {
            size.observe(self.n_bytes as f64);
        }
    }
}

impl<B> fmt::Debug for MeasuredBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeasuredBody")
            .field("n_bytes", &self.n_bytes)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for MeasuredTransport<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeasuredTransport")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}
