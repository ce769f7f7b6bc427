//! TR-04: quiet, slow, but healthy.

use std::time::Duration;

use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::Transport;
use tokio::sync::mpsc;

use crate::support::{Server, Wire, get, good_chunk, streaming};

/// A watch that is silent for many times every limit there is. The silence is measured by requests that run into the same limits meanwhile.
#[tokio::test]
async fn tr_04_a_quiet_watch_is_left_alone() {
    for (wire, version) in [
        (Wire::Http1, HttpVersion::Http1),
        (Wire::Http2 { max_streams: None }, HttpVersion::Http2),
    ] {
        let (send, mut feeds) = mpsc::unbounded_channel();
        let server = Server::start(wire, move |request| {
            let (response, feed) = streaming();
            let hangs = request.uri().path() == "/hangs";
            send.send(feed).expect("the test listens");
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                response
            }
        })
        .await;
        let transport = HyperTransport::builder(server.url())
            .http_version(version)
            .head_timeout(Some(Duration::from_millis(20)))
            .http2_ping(Some((Duration::from_millis(20), Duration::from_secs(10))))
            .build()
            .expect("a transport");
        let mut watch = transport
            .send(get("/watch?watch=true"))
            .await
            .expect("a response")
            .into_body();
        let feed = feeds.recv().await.expect("a request");
        for _ in 0..10 {
            assert!(
                transport
                    .send(get("/hangs"))
                    .await
                    .expect_err("hangs")
                    .is_timeout()
            );
        }
        feed.send("an event at last");
        assert_eq!(good_chunk(&mut watch).await, "an event at last");
    }
}

/// Something on the way holds back the head of a watch until there is an event, for longer than any other head may take.
#[tokio::test]
async fn tr_04_the_head_of_a_watch_may_come_late() {
    for (wire, version) in [
        (Wire::Http1, HttpVersion::Http1),
        (Wire::Http2 { max_streams: None }, HttpVersion::Http2),
    ] {
        let (release, released) = tokio::sync::watch::channel(false);
        let server = Server::start(wire, move |request| {
            let mut released = released.clone();
            let is_watch = request.uri().query().is_some();
            async move {
                if !is_watch {
                    std::future::pending::<()>().await;
                }
                released
                    .wait_for(|released| *released)
                    .await
                    .expect("the test lasts");
                let (response, feed) = streaming();
                feed.send("an event at last");
                response
            }
        })
        .await;
        let transport = HyperTransport::builder(server.url())
            .http_version(version)
            .head_timeout(Some(Duration::from_millis(20)))
            .http2_ping(Some((Duration::from_millis(20), Duration::from_secs(10))))
            .build()
            .expect("a transport");
        let others = async {
            for _ in 0..10 {
                let error = transport.send(get("/hangs")).await.expect_err("hangs");
                assert!(error.is_timeout());
            }
            release.send_replace(true);
        };
        let (watch, ()) = tokio::join!(transport.send(get("/watch?watch=true")), others);
        let mut body = watch.expect("a response").into_body();
        assert_eq!(good_chunk(&mut body).await, "an event at last");
    }
}
