//! TR-03: a half-open connection, over HTTP/2: the other side is gone and nobody says so.

use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::Transport;
use tokio::sync::mpsc;

use crate::support::{Relay, Server, Wire, chunk, get, good_chunk, sentence, streaming};

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
