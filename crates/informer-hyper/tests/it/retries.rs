//! What is sent again, how often, and what is not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header::RETRY_AFTER};
use informer_hyper::{Attempts, HttpVersion, HyperTransport};
use informer_transport::{RepeatedBySender, Transport};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinSet,
};

use crate::support::{Answer, Server, Wire, answer, fetch, get, plain};

/// A server that is busy for the first so many requests.
async fn busy(n: usize, status: u16) -> (Server, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = Server::start(Wire::Http1, move |_| {
        let is_busy = counted.fetch_add(1, Ordering::SeqCst) < n;
        async move { if is_busy { refusal(status) } else { answer("ok") } }
    });
    (server.await, count)
}

fn refusal(status: u16) -> Answer {
    let mut response = answer("too much");
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("0"));
    response
}

#[tokio::test]
async fn a_server_that_says_when_to_come_back_is_asked_again() {
    for status in [429, 500, 503] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let (server, count) = busy(3, status).await;
            let request = Request::builder().method(method).uri("/").body(Bytes::from("{}"));
            let response = plain(&server)
                .send(request.expect("a request"))
                .await
                .expect("a response");
            assert_eq!(response.status(), StatusCode::OK, "{method} {status}");
            let attempts = response.extensions().get::<Attempts>().expect("always there");
            assert_eq!((attempts.made, attempts.most), (4, 11));
            assert_eq!(count.load(Ordering::SeqCst), 4);
        }
    }
}

#[tokio::test]
async fn the_last_answer_is_handed_out_when_the_budget_is_spent() {
    for (max_retries, n_sent) in [(10, 11), (2, 3), (0, 1)] {
        let (server, count) = busy(usize::MAX, 429).await;
        let transport = HyperTransport::builder(server.url())
            .max_retries(max_retries)
            .build()
            .expect("a transport");
        let response = fetch(&transport, "/").await.expect("a response");
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.body(), "too much");
        assert_eq!(count.load(Ordering::SeqCst), n_sent);
        // Its short answers were read, so that one connection was enough.
        assert_eq!(server.n_opened(), 1);
    }
}

#[tokio::test]
async fn what_its_sender_repeats_is_sent_once() {
    let (server, count) = busy(usize::MAX, 429).await;
    let transport = plain(&server);
    let mut list = get("/api/v1/pods");
    list.extensions_mut().insert(RepeatedBySender);
    for request in [list, get("/api/v1/pods?watch=true")] {
        let response = transport.send(request).await.expect("a response");
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        let attempts = response.extensions().get::<Attempts>().expect("always there");
        assert_eq!((attempts.made, attempts.most), (1, 1));
    }
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn other_failures_are_answers() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = Server::start(Wire::Http1, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async {
            let mut response = answer("down");
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response
        }
    })
    .await;
    let response = fetch(&plain(&server), "/").await.expect("a response");
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

/// A server that reads a request on each of the first `n` connections and closes them, and answers on those that follow.
async fn closing(n: usize) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut n_left = n;
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let _ = stream.read(&mut [0; 4096]).await;
            if n_left > 0 {
                n_left -= 1;
                continue;
            }
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                .await;
        }
    });
    (url, tasks)
}

#[tokio::test]
async fn a_get_whose_connection_ends_is_sent_again_and_a_post_is_not() {
    let (url, _tasks) = closing(1).await;
    let transport = HyperTransport::builder(url).build().expect("a transport");
    let response = fetch(&transport, "/").await.expect("a response");
    let attempts = response.extensions().get::<Attempts>().expect("always there");
    assert_eq!(attempts.made, 2);

    let (url, _tasks) = closing(usize::MAX).await;
    let transport = HyperTransport::builder(url.clone())
        .max_retries(1)
        .build()
        .expect("a transport");
    let post = Request::post("/").body(Bytes::new()).expect("a request");
    let error = transport.send(post).await.expect_err("closed");
    assert_eq!(
        (error.attempts(), error.to_string()),
        (1, format!("no response from {url}"))
    );
    let error = transport.send(get("/")).await.expect_err("closed twice");
    assert_eq!(
        (error.attempts(), error.to_string()),
        (2, format!("no response from {url}, in 2 attempts"))
    );
    let error = transport
        .send(get("/?watch=true"))
        .await
        .expect_err("closed, and the reflector's business");
    assert_eq!(error.attempts(), 1);
}

/// One HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("short");
    [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// An HTTP/2 server that does `refuse` to the first stream of its first connection, and answers what comes after it.
async fn refusing(refuse: Vec<u8>) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut open = Vec::new();
        for n in 0.. {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            stream.write_all(&frame(4, 0, 0, &[])).await.expect("written");
            // A HEADERS frame, behind the preface and the client's settings.
            let mut got = Vec::new();
            loop {
                let mut buffer = [0; 4096];
                let n = stream.read(&mut buffer).await.expect("readable");
                got.extend_from_slice(&buffer[..n]);
                let frames = got.get(24..).unwrap_or_default();
                if n == 0 || has_headers(frames) {
                    break;
                }
            }
            let reply = if n == 0 {
                refuse.clone()
            } else {
                // `:status: 200` is entry 8 of the static table of HPACK.
                [frame(1, 4, 1, &[0x88]), frame(0, 1, 1, b"ok")].concat()
            };
            stream.write_all(&reply).await.expect("written");
            open.push(stream);
        }
    });
    (url, tasks)
}

fn has_headers(mut frames: &[u8]) -> bool {
    while let [a, b, c, kind, ..] = *frames {
        if kind == 1 {
            return true;
        }
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        frames = frames.get(9 + length..).unwrap_or_default();
    }
    false
}

#[tokio::test]
async fn a_refused_stream_is_tried_elsewhere_whatever_the_method() {
    // RST_STREAM with REFUSED_STREAM; GOAWAY that says stream 0 was the last.
    let refused = frame(3, 0, 1, &[0, 0, 0, 7]);
    let go_away = frame(7, 0, 0, &[0; 8]);
    for (refuse, method) in [(&refused, "GET"), (&refused, "POST"), (&go_away, "GET")] {
        let (url, _tasks) = refusing(refuse.clone()).await;
        let transport = HyperTransport::builder(url)
            .http_version(HttpVersion::Http2)
            .build()
            .expect("a transport");
        let request = Request::builder().method(method).uri("/").body(Bytes::new());
        let response = transport.send(request.expect("a request")).await;
        let response =
            response.unwrap_or_else(|error| panic!("{method}: {}", crate::support::sentence(&error)));
        let attempts = response.extensions().get::<Attempts>().expect("always there");
        assert_eq!(attempts.made, 2, "{method}");
    }
    // Anything else that happens to a stream may have happened after it was processed: INTERNAL_ERROR.
    let (url, _tasks) = refusing(frame(3, 0, 1, &[0, 0, 0, 2])).await;
    let transport = HyperTransport::builder(url)
        .http_version(HttpVersion::Http2)
        .build()
        .expect("a transport");
    let post = Request::post("/").body(Bytes::new()).expect("a request");
    assert_eq!(transport.send(post).await.expect_err("reset").attempts(), 1);
}
