//! TR-03: a half-open connection: the other side is gone and nobody says so.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::Transport;
use tokio::sync::mpsc;

use crate::support::{Feed, Relay, Server, Wire, answer, chunk, get, good_chunk, sentence, streaming, text};

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "measures the virtual time")]
async fn tr_03_a_half_open_connection_is_found_out_and_not_used_again() {
    let (send, mut feeds) = mpsc::unbounded_channel();
    let server = Server::start(Wire::Http2 { max_streams: None }, move |_| {
        let (response, feed) = streaming();
        send.send(feed).expect("the test listens");
        async { response }
    })
    .await;
    let relay = Relay::start(server.address()).await;
    let transport = HyperTransport::builder(relay.url())
        .http_version(HttpVersion::Http2)
        .build()
        .expect("a transport");
    let mut watches = Vec::new();
    for _ in 0..3 {
        let mut body = transport
            .send(get("/watch?watch=true"))
            .await
            .expect("a response")
            .into_body();
        let feed = feeds.recv().await.expect("a request");
        feed.send("one");
        assert_eq!(good_chunk(&mut body).await, "one");
        watches.push((body, feed));
    }
    relay.blackhole();
    // Nothing but timers can happen now, so they may run as fast as they like.
    tokio::time::pause();
    let since = tokio::time::Instant::now();
    let mut last = None;
    for (body, _) in &mut watches {
        let error = chunk(body)
            .await
            .expect("not a clean end")
            .expect_err("found out");
        last = Some(sentence(&error));
    }
    let expected = format!("the response of {} broke off: ", relay.url());
    assert!(last.is_some_and(|sentence| sentence.starts_with(&expected)));
    let n_seconds = since.elapsed().as_secs();
    assert!((15..=45).contains(&n_seconds), "found out after {n_seconds} s");
    tokio::time::resume();
    // The next one goes another way.
    let mut body = transport
        .send(get("/watch?watch=true"))
        .await
        .expect("a response")
        .into_body();
    let feed = feeds.recv().await.expect("a request");
    feed.send("two");
    assert_eq!(good_chunk(&mut body).await, "two");
}

/// Answers a GET at once, and hands out the feeds of watches.
async fn start(wire: Wire) -> (Server, mpsc::UnboundedReceiver<Feed>) {
    let (send, feeds) = mpsc::unbounded_channel();
    let server = Server::start(wire, move |request| {
        let is_watch = request.uri().query().is_some();
        let (response, feed) = streaming();
        if is_watch {
            send.send(feed).expect("the test listens");
        } else {
            feed.send("here");
        }
        async { response }
    });
    (server.await, feeds)
}

const VERSIONS: [(Wire, HttpVersion); 2] = [
    (Wire::Http1, HttpVersion::Http1),
    (Wire::Http2 { max_streams: None }, HttpVersion::Http2),
];

/// Neither the one that finds out, which had sent its request to nobody, nor any that comes after it.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "measures the virtual time")]
async fn tr_03_no_request_waits_behind_a_dead_connection() {
    for (wire, version) in VERSIONS {
        let (server, mut feeds) = start(wire).await;
        let relay = Relay::start(server.address()).await;
        let transport = HyperTransport::builder(relay.url())
            .http_version(version)
            .build()
            .expect("a transport");
        let mut watch = transport
            .send(get("/watch?watch=true"))
            .await
            .expect("a response")
            .into_body();
        let feed = feeds.recv().await.expect("a request");
        feed.send("one");
        assert_eq!(good_chunk(&mut watch).await, "one");
        assert_eq!(text(&transport, "/").await, "here");
        let n_opened = server.n_opened();
        relay.blackhole();
        tokio::time::pause();
        let since = tokio::time::Instant::now();
        let asking = transport.send(get("/"));
        tokio::pin!(asking);
        // Nothing but the timer can happen until it has run out; then there is a socket to wait for.
        tokio::select! {
            biased;
            _ = &mut asking => panic!("{version:?}: answered by nobody"),
            () = tokio::time::sleep(Duration::from_millis(4900)) => {}
        }
        tokio::time::advance(Duration::from_millis(101)).await;
        tokio::time::resume();
        let response = asking.await.expect("another connection");
        assert!(response.status().is_success());
        drop(response);
        assert_eq!(since.elapsed().as_secs(), 5, "{version:?}");
        assert_eq!(server.n_opened(), n_opened + 1, "{version:?}");
        // Who comes next goes the new way at once, whichever method it has, and the watch that nobody answered for has cost nobody anything.
        assert_eq!(text(&transport, "/").await, "here");
        let post = Request::post("/").body(Bytes::new()).expect("a request");
        transport.send(post).await.expect("a response");
        assert!(since.elapsed().as_secs() < 8, "{version:?}: waited");
    }
}

/// A watch is replaced, so that there is one at any time.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "in virtual time")]
async fn tr_03_a_watch_that_begins_on_a_dead_connection_begins_again_elsewhere() {
    for (wire, version) in VERSIONS {
        let (server, mut feeds) = start(wire).await;
        let relay = Relay::start(server.address()).await;
        let transport = HyperTransport::builder(relay.url())
            .http_version(version)
            .build()
            .expect("a transport");
        assert_eq!(text(&transport, "/").await, "here");
        relay.blackhole();
        tokio::time::pause();
        let asking = transport.send(get("/watch?watch=true"));
        tokio::pin!(asking);
        tokio::select! {
            biased;
            _ = &mut asking => panic!("{version:?}: answered by nobody"),
            () = tokio::time::sleep(Duration::from_millis(4900)) => {}
        }
        tokio::time::advance(Duration::from_millis(101)).await;
        tokio::time::resume();
        let mut watch = asking.await.expect("another connection").into_body();
        feeds.recv().await.expect("a request").send("one");
        assert_eq!(good_chunk(&mut watch).await, "one");
        assert_eq!(server.n_opened(), 2, "{version:?}");
        assert!(feeds.try_recv().is_err(), "{version:?}: one watch");
    }
}

/// Slow is not dead: the answer that was under way is taken when it comes first.
#[tokio::test]
async fn tr_03_a_slow_answer_is_taken_though_another_was_asked_for() {
    for (wire, version) in VERSIONS {
        let (arrived, mut arrivals) = mpsc::unbounded_channel();
        let server = Server::start(wire, move |request| {
            let (send, receive) = tokio::sync::oneshot::channel();
            if request.uri().path() == "/slow" {
                arrived.send(send).expect("the test listens");
            } else {
                send.send("here").expect("somebody waits");
            }
            async { answer(receive.await.expect("the test answers")) }
        })
        .await;
        let transport = HyperTransport::builder(server.url())
            .http_version(version)
            .silence(Some(Duration::from_millis(20)))
            .build()
            .expect("a transport");
        assert_eq!(text(&transport, "/").await, "here");
        let answers = async {
            let first = arrivals.recv().await.expect("a request");
            let second = arrivals.recv().await.expect("the same over another connection");
            first.send("the first").expect("somebody waits");
            second
        };
        let (text, _second) = tokio::join!(text(&transport, "/slow"), answers);
        assert_eq!(text, "the first", "{version:?}");
        assert_eq!(server.n_opened(), 2, "{version:?}");
    }
}

/// What cannot be sent twice does not go where nobody may be.
#[tokio::test]
async fn tr_03_a_write_goes_over_no_http_1_connection_that_was_idle_for_long() {
    let (server, _feeds) = start(Wire::Http1).await;
    let relay = Relay::start(server.address()).await;
    let transport = HyperTransport::builder(relay.url()).build().expect("a transport");
    assert_eq!(text(&transport, "/").await, "here");
    relay.blackhole();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(15)).await;
    tokio::time::resume();
    let post = Request::post("/").body(Bytes::new()).expect("a request");
    transport.send(post).await.expect("a response");
    assert_eq!(server.n_opened(), 2);
}
