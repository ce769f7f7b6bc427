//! HTTP/1.1: streaming, reuse, closing, and what is sent twice.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use informer_hyper::HyperTransport;
use informer_transport::Transport;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::support::{
    Feed, Server, Wire, answer, chunk, fetch, get, good_chunk, plain, sentence, streaming, text,
};

/// A server whose responses are handed to the test.
async fn by_hand(wire: Wire) -> (Server, tokio::sync::mpsc::UnboundedReceiver<Feed>) {
    let (send, receive) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::start(wire, move |_| {
        let (response, feed) = streaming();
        send.send(feed).expect("the test listens");
        async { response }
    });
    (server.await, receive)
}

#[tokio::test]
async fn status_headers_and_body_pass_through() {
    let server = Server::start(Wire::Http1, |request| async move {
        let method = request.method().clone();
        let path = request.uri().to_string();
        let agent = request.headers()["user-agent"].to_str().expect("text").to_owned();
        let host = request.headers()["host"].to_str().expect("text").to_owned();
        let body = request.into_body().collect().await.expect("a body").to_bytes();
        let mut response = answer(format!("{method} {path} {agent} {host} {body:?}"));
        *response.status_mut() = StatusCode::IM_A_TEAPOT;
        response
            .headers_mut()
            .insert("x-answer", "42".parse().expect("a header"));
        response
    })
    .await;
    let transport = plain(&server);
    let request = Request::builder()
        .method(Method::PATCH)
        .uri("/api/v1/pods/x?dryRun=All")
        .body(Bytes::from("patch"))
        .expect("a request");
    let response = transport.send(request).await.expect("a response");
    assert_eq!(response.status(), StatusCode::IM_A_TEAPOT);
    assert_eq!(response.headers()["x-answer"], "42");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let (agent, host) = (
        concat!("informer-hyper/", env!("CARGO_PKG_VERSION")),
        server.address(),
    );
    assert_eq!(
        body,
        format!("PATCH /api/v1/pods/x?dryRun=All {agent} {host} b\"patch\"")
    );
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = Server::start(Wire::Http1, |_| async {
        let mut response = answer("");
        *response.status_mut() = StatusCode::FOUND;
        response
            .headers_mut()
            .insert("location", "/elsewhere".parse().expect("a header"));
        response
    })
    .await;
    assert_eq!(
        fetch(&plain(&server), "/").await.expect("a response").status(),
        StatusCode::FOUND
    );
}

#[tokio::test]
async fn a_body_streams_chunk_by_chunk_before_it_ends() {
    let (server, mut feeds) = by_hand(Wire::Http1).await;
    let transport = plain(&server);
    let mut body = transport
        .send(get("/watch"))
        .await
        .expect("a response")
        .into_body();
    let feed = feeds.recv().await.expect("a request");
    for line in ["one\n", "two\n", "three\n"] {
        feed.send(line);
        assert_eq!(good_chunk(&mut body).await, line);
    }
    drop(feed);
    assert!(chunk(&mut body).await.is_none());
    assert!(body.is_end_stream());
}

#[tokio::test]
async fn a_connection_is_used_again_when_its_response_was_read() {
    let server = Server::start(Wire::Http1, |_| async { answer("ok") }).await;
    let transport = plain(&server);
    for _ in 0..5 {
        assert_eq!(text(&transport, "/").await, "ok");
    }
    assert_eq!(server.n_opened(), 1);
}

#[tokio::test]
async fn a_response_without_a_body_need_not_be_read() {
    let server = Server::start(Wire::Http1, |_| async {
        let mut response = streaming().0;
        *response.status_mut() = StatusCode::NO_CONTENT;
        response
    })
    .await;
    let transport = plain(&server);
    for _ in 0..3 {
        let response = transport.send(get("/")).await.expect("a response");
        assert!(response.body().is_end_stream());
    }
    assert_eq!(server.n_opened(), 1);
}

#[tokio::test]
async fn requests_at_the_same_time_have_a_connection_each() {
    let (server, mut feeds) = by_hand(Wire::Http1).await;
    let transport = plain(&server);
    let (one, two) = tokio::join!(transport.send(get("/1")), transport.send(get("/2")));
    assert_eq!(server.n_opened(), 2);
    for _ in 0..2 {
        feeds.recv().await.expect("a request").send("x");
    }
    for response in [one, two] {
        let body = response.expect("a response").into_body();
        assert_eq!(body.collect().await.expect("a body").to_bytes(), "x");
    }
    assert_eq!(server.n_opened(), 2);
}

#[tokio::test]
async fn dropping_a_body_closes_its_connection() {
    let (server, mut feeds) = by_hand(Wire::Http1).await;
    let transport = plain(&server);
    let mut body = transport
        .send(get("/watch"))
        .await
        .expect("a response")
        .into_body();
    let feed = feeds.recv().await.expect("a request");
    feed.send("one");
    good_chunk(&mut body).await;
    drop(body);
    feed.gone().await;
    server.wait_for(|connections| connections.n_closed == 1).await;
}

#[tokio::test]
async fn giving_up_a_request_closes_its_connection() {
    let (arrived, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::start(Wire::Http1, move |_| {
        arrived.send(()).expect("the test listens");
        std::future::pending()
    })
    .await;
    let transport = plain(&server);
    tokio::select! {
        _ = transport.send(get("/")) => panic!("no response was sent"),
        _ = arrivals.recv() => {}
    }
    server.wait_for(|connections| connections.n_closed == 1).await;
}

#[tokio::test]
async fn a_head_that_does_not_come_is_given_up_but_never_that_of_a_watch() {
    let server = Server::start(Wire::Http1, |_| std::future::pending()).await;
    let transport = HyperTransport::builder(server.url())
        .head_timeout(Some(Duration::from_millis(30)))
        .build()
        .expect("a transport");
    let error = transport.send(get("/api")).await.expect_err("too late");
    assert!(error.is_timeout());
    assert_eq!(
        error.to_string(),
        format!("no response from {} within 30ms", server.url())
    );
    server.wait_for(|connections| connections.n_closed == 1).await;
    tokio::select! {
        biased;
        _ = transport.send(get("/api/v1/pods?watch=true")) => panic!("a quiet watch was cut"),
        // Longer than the timeout by the same clock: another request is given up meanwhile.
        error = transport.send(get("/api")) => assert!(error.expect_err("too late").is_timeout()),
    }
}

/// A server that sends fixed bytes to each connection, one after another, and then closes it.
async fn raw(
    answers: &'static [&'static [u8]],
) -> (String, Arc<Mutex<Vec<String>>>, tokio::task::JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            // An empty answer closes the connection before it reads anything more than the request before.
            for part in answer.split(|byte| *byte == 0) {
                if read_request(&mut stream, &seen).await.is_err() {
                    break;
                }
                stream.write_all(part).await.expect("written");
            }
        }
        // Nothing more is accepted, and nothing refused either.
        std::future::pending().await
    });
    (url, requests, tasks)
}

async fn read_request(stream: &mut TcpStream, seen: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).await?;
        request.push(byte[0]);
    }
    let line = String::from_utf8_lossy(&request);
    seen.lock()
        .expect("lock")
        .push(line.lines().next().unwrap_or_default().to_owned());
    Ok(())
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// One good answer, then the next request is read and the connection closed without a word.
const OK_THEN_CLOSED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\0";
const OK_THEN_HALF: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\0HTTP/1.1 2";

#[tokio::test]
async fn a_get_is_sent_again_when_an_old_connection_closes_without_an_answer() {
    let (url, requests, _tasks) = raw(&[OK_THEN_CLOSED, OK]).await;
    let transport = HyperTransport::builder(url).build().expect("a transport");
    assert_eq!(text(&transport, "/1").await, "ok");
    assert_eq!(text(&transport, "/2").await, "ok");
    assert_eq!(
        *requests.lock().expect("lock"),
        ["GET /1 HTTP/1.1", "GET /2 HTTP/1.1", "GET /2 HTTP/1.1"]
    );
}

#[tokio::test]
async fn without_retries_it_is_not_sent_a_third_time() {
    let (url, requests, _tasks) = raw(&[OK_THEN_CLOSED, b"", OK]).await;
    let transport = HyperTransport::builder(url.clone())
        .max_retries(0)
        .build()
        .expect("a transport");
    assert_eq!(text(&transport, "/1").await, "ok");
    let error = fetch(&transport, "/2").await.expect_err("closed twice");
    assert_eq!(error.to_string(), format!("no response from {url}"));
    assert_eq!(requests.lock().expect("lock").len(), 3);
}

#[tokio::test]
async fn without_retries_nothing_is_sent_again_once_an_answer_began() {
    let (url, requests, _tasks) = raw(&[OK_THEN_HALF, OK]).await;
    let transport = HyperTransport::builder(url)
        .max_retries(0)
        .build()
        .expect("a transport");
    assert_eq!(text(&transport, "/1").await, "ok");
    fetch(&transport, "/2").await.expect_err("half an answer");
    assert_eq!(requests.lock().expect("lock").len(), 2);
}

#[tokio::test]
async fn what_may_have_changed_something_is_not_sent_again() {
    let (url, requests, _tasks) = raw(&[OK_THEN_CLOSED, OK]).await;
    let transport = HyperTransport::builder(url).build().expect("a transport");
    assert_eq!(text(&transport, "/1").await, "ok");
    let request = Request::post("/2").body(Bytes::new()).expect("a request");
    transport
        .send(request)
        .await
        .expect_err("closed without an answer");
    assert_eq!(requests.lock().expect("lock").len(), 2);
}

#[tokio::test]
async fn a_connection_that_closed_while_idle_is_not_used() {
    let server = Server::start(Wire::Http1, |_| async { answer("ok") }).await;
    let transport = plain(&server);
    assert_eq!(text(&transport, "/").await, "ok");
    server.close_gracefully();
    server.wait_for(|connections| connections.n_closed == 1).await;
    // Also what could not be sent twice arrives.
    let request = Request::post("/").body(Bytes::new()).expect("a request");
    let response = transport.send(request).await.expect("a response");
    assert_eq!(
        response.into_body().collect().await.expect("a body").to_bytes(),
        "ok"
    );
    assert_eq!(server.n_opened(), 2);
}

#[tokio::test]
async fn a_body_that_is_cut_is_an_error() {
    for cut in [
        b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf".as_slice(),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ] {
        let answers = Box::leak(Box::new([cut]));
        let (url, _, _tasks) = raw(answers).await;
        let transport = HyperTransport::builder(url.clone()).build().expect("a transport");
        let mut body = transport.send(get("/")).await.expect("a response").into_body();
        assert_eq!(good_chunk(&mut body).await, "half");
        let error = chunk(&mut body).await.expect("not the end").expect_err("cut");
        assert!(error.is_body());
        assert!(
            sentence(&error).starts_with(&format!("the response of {url} broke off: ")),
            "{}",
            sentence(&error)
        );
        assert!(
            chunk(&mut body).await.is_none(),
            "an error is the last that comes"
        );
    }
}
