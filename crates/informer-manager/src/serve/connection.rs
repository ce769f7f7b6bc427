//! One connection: HTTP in, the endpoints' answers out.

use std::{
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use informer_core::{BoxClock, Clock};
use percent_encoding::percent_decode_str;
use tokio::{net::TcpStream, select, sync::watch};

use super::{Limits, Reply, server::Routes};

/// What all connections of a server share.
pub(super) struct Served {
    pub(super) routes: Routes,
    pub(super) limits: Limits,
    pub(super) clock: BoxClock,
}

/// Serves a connection until either side ends it, or it goes without a request for too long.
pub(super) async fn serve(stream: TcpStream, served: Arc<Served>, mut draining: watch::Receiver<bool>) {
    // Answers are small and should leave at once.
    let _without = stream.set_nodelay(true);
    let last = Arc::new(Mutex::new(served.clock.now()));
    let seen = last.clone();
    let answering = served.clone();
    let service = service_fn(move |request: http::Request<Incoming>| {
        *lock(&seen) = answering.clock.now();
        let response = answer(&answering, &request);
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(served.limits.header)
        // hyper's own least.
        .max_buf_size(served.limits.header_bytes.max(8 << 10))
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let mut told = false;
    loop {
        let until = *lock(&last) + served.limits.idle;
        select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "Connection ended");
                }
                return;
            }
            // Sent, or the server is gone.
            _ = draining.wait_for(|draining| *draining), if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
            () = served.clock.sleep_until(until) => {
                if *lock(&last) + served.limits.idle <= served.clock.now() {
                    tracing::debug!("Connection went without a request for too long");
                    return;
                }
            }
        }
    }
}

fn answer(served: &Served, request: &http::Request<Incoming>) -> Response<Full<Bytes>> {
    let head = request.method() == Method::HEAD;
    let reply = if head || request.method() == Method::GET {
        let path = percent_decode_str(request.uri().path()).decode_utf8_lossy();
        let query = request.uri().query().unwrap_or_default();
        catch_unwind(AssertUnwindSafe(|| served.routes.answer(&path, query)))
            .unwrap_or_else(|_| Reply::text(500, "the endpoint panicked\n"))
    } else {
        Reply::text(405, "Method Not Allowed\n")
    };
    response(reply, head)
}

fn response(reply: Reply, head: bool) -> Response<Full<Bytes>> {
    let length = reply.body.len();
    let body = if head { Bytes::new() } else { reply.body.into() };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&reply.content_type) {
        headers.insert(header::CONTENT_TYPE, value);
    }
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if reply.status == 405 {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

fn lock(last: &Mutex<Instant>) -> std::sync::MutexGuard<'_, Instant> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}
