//! Limits: of requests a second, of heads and of bodies.

use std::time::Duration;

use http::HeaderValue;
use http_body_util::BodyExt;
use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::Transport;

use crate::support::{Server, Wire, answer, fetch, get, sentence, streaming, text};

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "measures how long a limit holds back")]
async fn requests_wait_their_turn_and_watches_do_not() {
    let server = Server::start(Wire::Http1, |_| async { answer("ok") }).await;
    let transport = HyperTransport::builder(server.url())
        .rate_limit(10.0, 2)
        .build()
        .expect("a transport");
    let begin = tokio::time::Instant::now();
    for _ in 0..5 {
        assert_eq!(text(&transport, "/").await, "ok");
    }
    // Two at once, then three at ten a second: a lower bound holds on any machine.
    assert!(
        begin.elapsed() >= Duration::from_millis(290),
        "{:?}",
        begin.elapsed()
    );
    // The bucket is empty, and its next token is ten seconds away for whoever has to wait for one.
    let slow = HyperTransport::builder(server.url())
        .rate_limit(0.000_01, 1)
        .build()
        .expect("a transport");
    assert_eq!(text(&slow, "/").await, "ok");
    assert_eq!(text(&slow, "/?watch=true").await, "ok");
    tokio::select! {
        biased;
        _ = slow.send(get("/")) => panic!("there is no token"),
        answer = text(&slow, "/?watch=true") => assert_eq!(answer, "ok"),
    }
}

#[test]
fn a_limit_that_lets_nothing_through_is_refused() {
    let error = HyperTransport::builder("http://s")
        .rate_limit(0.0, 1)
        .build()
        .expect_err("useless");
    assert!(error.is_configuration());
    assert_eq!(
        error.to_string(),
        "rate limit of 0 a second, 1 at once: both numbers need to be more than zero"
    );
}

const VERSIONS: [(Wire, HttpVersion); 2] = [
    (Wire::Http1, HttpVersion::Http1),
    (Wire::Http2 { max_streams: None }, HttpVersion::Http2),
];

#[tokio::test]
async fn a_head_that_is_too_long_is_an_error() {
    for (wire, version) in VERSIONS {
        // One of 40 KiB, in headers of 4 KiB.
        let server = Server::start(wire, |_| async {
            let mut response = answer("ok");
            for n in 0..10 {
                let name = http::HeaderName::try_from(format!("x-{n}")).expect("a name");
                let value = HeaderValue::try_from("v".repeat(4096)).expect("a value");
                response.headers_mut().insert(name, value);
            }
            response
        })
        .await;
        let builder = || {
            HyperTransport::builder(server.url())
                .http_version(version)
                .max_retries(0)
        };
        assert_eq!(text(&builder().build().expect("a transport"), "/").await, "ok");
        let small = builder().max_head_size(16 << 10).build().expect("a transport");
        let error = fetch(&small, "/").await.expect_err("too long");
        assert!(
            error.to_string().starts_with("no response from "),
            "{}",
            sentence(&error)
        );
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_an_error_and_a_watch_never_is() {
    for (wire, version) in VERSIONS {
        let server = Server::start(wire, |_| async {
            let (response, feed) = streaming();
            for _ in 0..10 {
                feed.send("ten bytes.");
            }
            response
        })
        .await;
        let limited = |n| {
            HyperTransport::builder(server.url())
                .http_version(version)
                .max_body_size(n)
                .build()
                .expect("a transport")
        };
        for enough in [None, Some(100)] {
            assert_eq!(text(&limited(enough), "/").await.len(), 100);
        }
        let error = fetch(&limited(Some(99)), "/").await.expect_err("too long");
        assert!(error.is_body());
        assert_eq!(
            error.to_string(),
            format!("the response of {} has more than 99 bytes", server.url())
        );
        let watch = limited(Some(99)).send(get("/?watch=true")).await;
        let body = watch.expect("a response").into_body().collect().await;
        // The transport is gone, so that the end may be a cut; no limit is what ends it.
        if let Err(error) = body {
            assert!(!error.to_string().contains("more than"), "{error}");
        }
        let kept = limited(Some(99));
        assert_eq!(text(&kept, "/?watch=true").await.len(), 100);
    }
}
