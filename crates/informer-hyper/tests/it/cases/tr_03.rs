//! TR-03: a half-open connection: the other side is gone and nobody says so.

use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::Transport;
use tokio::sync::mpsc;

use crate::support::{Relay, Server, Wire, chunk, get, good_chunk, sentence, streaming, text};

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

/// HTTP/1.1 has no pings. A request that is sent to nobody is given up after a while, and no other waits behind it: each has its own way.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "measures the virtual time")]
async fn tr_03_no_request_waits_behind_a_dead_connection_of_http_1() {
    let (send, mut feeds) = mpsc::unbounded_channel();
    let server = Server::start(Wire::Http1, move |request| {
        let is_watch = request.uri().query().is_some();
        let (response, feed) = streaming();
        if is_watch {
            send.send(feed).expect("the test listens");
        } else {
            feed.send("here");
        }
        async { response }
    })
    .await;
    let relay = Relay::start(server.address()).await;
    let transport = HyperTransport::builder(relay.url()).build().expect("a transport");
    let mut watch = transport
        .send(get("/watch?watch=true"))
        .await
        .expect("a response")
        .into_body();
    let feed = feeds.recv().await.expect("a request");
    feed.send("one");
    assert_eq!(good_chunk(&mut watch).await, "one");
    assert_eq!(text(&transport, "/").await, "here");
    relay.blackhole();
    // The idle connection is as dead as the watch's, and nobody can know that before it is used.
    tokio::time::pause();
    let since = tokio::time::Instant::now();
    let error = transport.send(get("/")).await.expect_err("nobody is there");
    assert!(error.is_timeout());
    assert_eq!(since.elapsed().as_secs(), 90);
    tokio::time::resume();
    // It is gone; the watch, which nothing was sent on, is not, and is in nobody's way.
    assert_eq!(text(&transport, "/").await, "here");
    assert_eq!(server.n_opened(), 3);
}
