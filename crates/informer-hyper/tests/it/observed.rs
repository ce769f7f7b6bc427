//! What can be seen of a transport: metrics and warnings.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{HeaderValue, Method, StatusCode, header::RETRY_AFTER, header::WARNING};
use informer_hyper::{Error, HttpVersion, HyperTransport, Retry, RetryReason, TransportMetrics, Warning};
use informer_transport::Transport;

use crate::support::{Authority, Server, Wire, answer, get, text};

/// Writes down what it is told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn add(&self, note: impl Into<String>) {
        self.0.lock().expect("no panic").push(note.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no panic"))
    }
}

impl TransportMetrics for Notes {
    fn connection_opened(&self, is_http2: bool, _: Duration) {
        self.add(format!("opened, HTTP/2: {is_http2}"));
    }

    fn connection_failed(&self, error: &Error, _: Duration) {
        self.add(format!("failed, TLS: {}", error.is_tls()));
    }

    fn connection_reused(&self, is_http2: bool) {
        self.add(format!("reused, HTTP/2: {is_http2}"));
    }

    fn connection_closed(&self, is_http2: bool, _: Duration) {
        self.add(format!("closed, HTTP/2: {is_http2}"));
    }

    fn handshake(&self, is_good: bool, _: Duration) {
        self.add(format!("handshake, good: {is_good}"));
    }

    fn retrying(&self, method: &Method, retry: &Retry) {
        let status = RetryReason::Status(StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(retry.reason, status);
        self.add(format!(
            "retry of {method} after {} of {}",
            retry.attempts.made, retry.attempts.most
        ));
    }

    fn throttled(&self, method: &Method, wait: Duration) {
        self.add(format!("throttled {method}: {}", wait > Duration::ZERO));
    }
}

#[tokio::test]
async fn connections_and_handshakes_are_counted() {
    let authority = Authority::new("ours");
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let server = Server::start(
            Wire::Tls(
                authority
                    .issue(&["127.0.0.1"])
                    .for_server(None, &["h2", "http/1.1"]),
            ),
            |_| async { answer("ok") },
        )
        .await;
        let is_http2 = version == HttpVersion::Http2;
        let notes = Arc::new(Notes::default());
        let transport = HyperTransport::builder(server.url())
            .http_version(version)
            .tls(Arc::new(authority.trusted()))
            .metrics(notes.clone())
            .build()
            .expect("a transport");
        assert_eq!(text(&transport, "/").await, "ok");
        let opened = [
            "handshake, good: true".to_owned(),
            format!("opened, HTTP/2: {is_http2}"),
        ];
        assert_eq!(notes.take(), opened);
        assert_eq!(text(&transport, "/").await, "ok");
        assert_eq!(notes.take(), [format!("reused, HTTP/2: {is_http2}")]);
        drop(transport);
        server.wait_for(|connections| connections.n_closed == 1).await;
        assert_eq!(notes.take(), [format!("closed, HTTP/2: {is_http2}")]);

        let stranger = HyperTransport::builder(server.url())
            .http_version(version)
            .tls(Arc::new(Authority::new("other").trusted()))
            .metrics(notes.clone())
            .build()
            .expect("a transport");
        stranger.send(get("/")).await.expect_err("not trusted");
        assert_eq!(notes.take(), ["handshake, good: false", "failed, TLS: true"]);
    }
}

#[tokio::test]
async fn retries_and_waits_are_counted() {
    let n = Mutex::new(0);
    let server = Server::start(Wire::Http1, move |_| {
        *n.lock().expect("no panic") += 1;
        let is_first = *n.lock().expect("no panic") == 1;
        async move {
            let mut response = answer("");
            if is_first {
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                response
                    .headers_mut()
                    .insert(RETRY_AFTER, HeaderValue::from_static("0"));
            }
            response
        }
    })
    .await;
    let notes = Arc::new(Notes::default());
    let transport = HyperTransport::builder(server.url())
        .metrics(notes.clone())
        .rate_limit(1.0, 1)
        .build()
        .expect("a transport");
    assert_eq!(text(&transport, "/").await, "");
    assert_eq!(
        notes.take(),
        [
            "throttled GET: false",
            "opened, HTTP/2: false",
            "retry of GET after 1 of 11",
            "throttled GET: true",
            "reused, HTTP/2: false"
        ]
    );
}

#[tokio::test]
async fn a_warning_is_heard_once() {
    let server = Server::start(Wire::Http1, |_| async {
        let mut response = answer("ok");
        let warnings = r#"299 - "v1beta1 Thing is deprecated, use v1", 299 - "other""#;
        response
            .headers_mut()
            .insert(WARNING, HeaderValue::from_static(warnings));
        response
    })
    .await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&heard);
    let transport = HyperTransport::builder(server.url())
        .warnings(Arc::new(move |warning: &Warning| {
            notes.lock().expect("no panic").push(warning.text.clone());
        }))
        .build()
        .expect("a transport");
    for _ in 0..3 {
        assert_eq!(text(&transport, "/").await, "ok");
    }
    assert_eq!(
        *heard.lock().expect("no panic"),
        ["v1beta1 Thing is deprecated, use v1", "other"]
    );
}
