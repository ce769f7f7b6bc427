//! `MeasuredTransport`: any transport, with its requests as `rest_client_*`.

use std::{fmt, future::Future};

use bytes::Bytes;
use http::{Method, Request, Response};
use informer_core::{Clock as _, TokioClock};
use informer_transport::Transport;

use crate::{Registry, families::RequestFamilies};

/// What client-go says in the place of a status code when there was no answer (`tools/metrics`, `rest.Request`).
const NO_ANSWER: &str = "<error>";

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
fn label(method: &Method) -> &'static str {
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
    type Body = T::Body;
    type Error = T::Error;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, Self::Error>> + Send {
        let method = label(request.method());
        let size = request.body().len();
        let labels = [method, self.host.as_str()];
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
            answer
        }
    }

    fn is_refused(error: &Self::Error) -> bool {
        T::is_refused(error)
    }
}

impl<T> fmt::Debug for MeasuredTransport<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeasuredTransport")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}
