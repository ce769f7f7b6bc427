//! HTTP/2: many requests on one connection, and when there is another.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use http::Version;
use http_body_util::BodyExt;
use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::Transport;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::{Barrier, mpsc},
    task::JoinSet,
};

use crate::support::{Feed, Server, Wire, answer, chunk, get, good_chunk, sentence, streaming, text};

fn http2(url: String) -> HyperTransport {
    HyperTransport::builder(url)
        .http_version(HttpVersion::Http2)
        .build()
        .expect("a transport")
}

/// A server whose responses are handed to the test.
async fn by_hand(max_streams: Option<u32>) -> (Server, mpsc::UnboundedReceiver<Feed>) {
    let (send, receive) = mpsc::unbounded_channel();
    let server = Server::start(Wire::Http2 { max_streams }, move |_| {
        let (response, feed) = streaming();
        send.send(feed).expect("the test listens");
        async { response }
    });
    (server.await, receive)
}

#[tokio::test]
async fn the_request_is_http_2_with_its_authority() {
    let server = Server::start(Wire::Http2 { max_streams: None }, |request| async move {
        assert_eq!(request.version(), Version::HTTP_2);
        assert!(!request.headers().contains_key("host"));
        answer(request.uri().to_string())
    })
    .await;
    let transport = http2(format!("{}/prefix", server.url()));
    assert_eq!(
        text(&transport, "/api?x=1").await,
        format!("{}/prefix/api?x=1", server.url())
    );
}

#[tokio::test]
async fn many_at_once_share_the_first_connection() {
    // None is answered before all are there.
    let barrier = Arc::new(Barrier::new(50));
    let server = Server::start(Wire::Http2 { max_streams: None }, move |_| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            answer("ok")
        }
    })
    .await;
    let transport = http2(server.url());
    let mut requests = JoinSet::new();
    for _ in 0..50 {
        let transport = transport.clone();
        requests.spawn(async move { text(&transport, "/").await });
    }
    assert_eq!(requests.join_all().await, vec!["ok"; 50]);
    assert_eq!(server.n_opened(), 1);
}

#[tokio::test]
async fn beyond_the_server_s_limit_another_connection_is_opened() {
    let (server, mut feeds) = by_hand(Some(3)).await;
    let transport = http2(server.url());
    let mut watches = Vec::new();
    for n in 0..7 {
        watches.push(
            transport
                .send(get("/watch"))
                .await
                .expect("a response")
                .into_body(),
        );
        assert_eq!(server.n_opened(), n / 3 + 1);
    }
    // All of them are alive.
    for watch in &mut watches {
        let feed = feeds.recv().await.expect("a request");
        feed.send("event");
        assert_eq!(good_chunk(watch).await, "event");
    }
    // A place that became free is used.
    drop(watches.remove(1));
    let _watch = transport.send(get("/watch")).await.expect("a response");
    assert_eq!(server.n_opened(), 3);
}

#[tokio::test]
async fn a_hundred_are_the_limit_where_the_server_allows_more() {
    let (server, _feeds) = by_hand(Some(1000)).await;
    let transport = http2(server.url());
    let mut watches = Vec::new();
    for _ in 0..101 {
        watches.push(transport.send(get("/watch")).await.expect("a response"));
    }
    assert_eq!(server.n_opened(), 2);
}

#[tokio::test]
async fn dropping_a_body_resets_its_stream_and_leaves_the_others_alone() {
    let (server, mut feeds) = by_hand(None).await;
    let transport = http2(server.url());
    let body = transport.send(get("/1")).await.expect("a response").into_body();
    let feed = feeds.recv().await.expect("a request");
    let mut other = transport.send(get("/2")).await.expect("a response").into_body();
    let other_feed = feeds.recv().await.expect("a request");
    drop(body);
    feed.gone().await;
    other_feed.send("still here");
    assert_eq!(good_chunk(&mut other).await, "still here");
    assert_eq!(server.n_opened(), 1);
}

#[tokio::test]
async fn a_stream_that_the_server_cuts_is_an_error() {
    let (server, mut feeds) = by_hand(None).await;
    let transport = http2(server.url());
    let mut body = transport.send(get("/")).await.expect("a response").into_body();
    let feed = feeds.recv().await.expect("a request");
    feed.send("half");
    assert_eq!(good_chunk(&mut body).await, "half");
    feed.cut();
    let error = chunk(&mut body).await.expect("not the end").expect_err("cut");
    assert!(sentence(&error).starts_with(&format!("the response of {} broke off: ", server.url())));
}

#[tokio::test]
async fn a_connection_that_is_going_away_gets_no_new_request_and_finishes_the_old_ones() {
    let (server, mut feeds) = by_hand(None).await;
    let transport = http2(server.url());
    let mut old = transport.send(get("/old")).await.expect("a response").into_body();
    let old_feed = feeds.recv().await.expect("a request");
    server.close_gracefully();
    // What is sent before the client has heard of it is sent again elsewhere, so this ends after a few rounds at most.
    while server.n_opened() < 2 {
        transport.send(get("/new")).await.expect("a response");
        feeds.recv().await.expect("a request");
    }
    old_feed.send("last words");
    assert_eq!(good_chunk(&mut old).await, "last words");
    drop(old_feed);
    let end = chunk(&mut old).await;
    assert!(end.is_none(), "{end:?}");
}

#[tokio::test]
async fn a_slow_reader_does_not_stop_the_others() {
    let n_stalled = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n_stalled);
    let server = Server::start(Wire::Http2 { max_streams: None }, move |request| {
        let is_big = request.uri().path() == "/big";
        counted.fetch_add(usize::from(is_big), Ordering::Relaxed);
        async move {
            answer(if is_big {
                vec![b'x'; 8 << 20]
            } else {
                b"ok".to_vec()
            })
        }
    })
    .await;
    let transport = http2(server.url());
    let mut unread = Vec::new();
    for _ in 0..20 {
        unread.push(transport.send(get("/big")).await.expect("a response"));
    }
    assert_eq!(text(&transport, "/small").await, "ok");
    assert_eq!((server.n_opened(), n_stalled.load(Ordering::Relaxed)), (1, 20));
    // And what was not read is all there when it is.
    let body = unread.remove(0).into_body().collect().await.expect("a body");
    assert_eq!(body.to_bytes().len(), 8 << 20);
}

#[tokio::test]
async fn a_server_that_speaks_something_else_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        stream.read_exact(&mut [0; 24]).await.expect("the preface");
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .expect("written");
    });
    let error = http2(url.clone()).send(get("/")).await.expect_err("no HTTP/2");
    assert!(error.is_connect());
    assert!(
        sentence(&error).starts_with(&format!("{url} does not speak HTTP/2: ")),
        "{}",
        sentence(&error)
    );
}
