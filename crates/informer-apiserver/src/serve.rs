//! One connection: HTTP in, the model's answers out.

use std::{
    future::Future,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Either, Full, Limited};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto,
};
use informer_core::TokioClock;
use informer_testkit::{ApiBody, SharedApi};
use tokio::{net::TcpStream, task::JoinSet};

/// As the real server: objects are at most 1.5 MiB, and a request somewhat more.
const MAX_BODY: usize = 3 << 20;

type Body = Either<ApiBody<TokioClock>, Full<Bytes>>;

/// The tasks that HTTP/2 connections start for their streams. Owned by the server, so that none outlives it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    tasks: Arc<Mutex<JoinSet<()>>>,
}

impl Streams {
    /// Ends them all.
    pub(crate) async fn shutdown(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Streams {
    fn execute(&self, task: F) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

/// Serves a connection until either side ends it.
pub(crate) async fn connection(stream: TcpStream, shared: SharedApi<TokioClock>, streams: Streams) {
    // Events are small and should leave at once.
    let _without = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(request, shared.clone()));
    let mut builder = auto::Builder::new(streams);
    builder.http1().timer(TokioTimer::new());
    builder.http2().timer(TokioTimer::new());
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(error = &*error, "Connection ended");
    }
}

async fn answer(request: Request<Incoming>, shared: SharedApi<TokioClock>) -> io::Result<Response<Body>> {
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
        let mut response = Response::new(Either::Right(Full::new(Bytes::from_static(
            b"request entity too large",
        ))));
        *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
        return Ok(response);
    };
    let request = Request::from_parts(parts, body.to_bytes());
    // An error here makes hyper drop the connection without an answer: all that a refusal can be once a connection stands.
    let response = shared.answer(request).await?;
    Ok(response.map(Either::Left))
}
