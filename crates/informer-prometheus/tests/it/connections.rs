//! The transport over hyper, measured: connections, streams, retries, waits and sizes.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use informer_hyper::HyperTransport;
use informer_prometheus::Registry;
use informer_transport::Transport as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::scrape::Scrape;

/// Refuses the first request for a moment, answers others, and begins to answer a watch.
async fn talk(mut stream: TcpStream, n_requests: Arc<AtomicUsize>) -> io::Result<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let is_watch = String::from_utf8_lossy(&head).contains("watch=true");
        let answer: &[u8] = match n_requests.fetch_add(1, Ordering::SeqCst) {
            0 => b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n",
            _ if is_watch => b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n",
            _ => b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwhole",
        };
        stream.write_all(answer).await?;
    }
}

fn get(path: &str) -> Request<Bytes> {
    Request::get(path).body(Bytes::new()).unwrap()
}

#[tokio::test]
async fn a_transport_over_hyper_is_measured() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let (mut connections, n_requests) = (JoinSet::new(), Arc::default());
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(talk(stream, Arc::clone(&n_requests)));
        }
    });
    let registry = Registry::new();
    let hyper = HyperTransport::builder(&url)
        .ignore_proxy_variables()
        .metrics(Arc::new(registry.connections("h")))
        .rate_limit(1e6, 1000)
        .build()
        .unwrap();
    let transport = registry.transport(hyper, "h");
    let value = |name: &str, labels: &str| Scrape::of(&registry).value(name, labels);

    let response = transport.send(get("/api")).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(value("informer_transport_open_streams", "host=h"), Some(1.0));
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "whole");
    assert_eq!(value("informer_transport_open_streams", "host=h"), Some(0.0));
    // Each attempt counts, as upstream.
    for (name, labels, expected) in [
        ("rest_client_requests_total", "code=503 method=GET host=h", 1.0),
        ("rest_client_requests_total", "code=200 method=GET host=h", 1.0),
        (
            "rest_client_request_retries_total",
            "code=503 verb=GET host=h",
            1.0,
        ),
        (
            "rest_client_request_duration_seconds_count",
            "verb=GET host=h",
            1.0,
        ),
        (
            "rest_client_rate_limiter_duration_seconds_count",
            "verb=GET host=h",
            2.0,
        ),
        ("rest_client_response_size_bytes_sum", "verb=GET host=h", 5.0),
        ("rest_client_response_size_bytes_count", "verb=GET host=h", 1.0),
        ("informer_transport_connections", "host=h http=1.1", 1.0),
        (
            "informer_transport_connections_opened_total",
            "host=h http=1.1",
            1.0,
        ),
        (
            "informer_transport_connections_reused_total",
            "host=h http=1.1",
            1.0,
        ),
        (
            "informer_transport_connect_duration_seconds_count",
            "host=h http=1.1",
            1.0,
        ),
    ] {
        assert_eq!(value(name, labels), Some(expected), "{name} {labels}");
    }

    let response = transport.send(get("/api?watch=true")).await.unwrap();
    let mut watch = response.into_body();
    let frame = watch.frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap(), "ok");
    assert_eq!(value("informer_transport_open_streams", "host=h"), Some(1.0));
    drop(watch);
    assert_eq!(value("informer_transport_open_streams", "host=h"), Some(0.0));
    assert_eq!(
        value("rest_client_response_size_bytes_count", "verb=GET host=h"),
        Some(1.0),
        "a watch has no size"
    );
    // What was not read to its end closes its connection, as soon as that is heard of.
    while value("informer_transport_connections", "host=h http=1.1") != Some(0.0) {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        value(
            "informer_transport_connection_lifetime_seconds_count",
            "host=h http=1.1"
        ),
        Some(1.0)
    );

    serving.shutdown().await;
    transport.send(get("/api/v1")).await.map(drop).unwrap_err();
    assert_eq!(
        value(
            "informer_transport_connections_failed_total",
            "host=h reason=connect"
        ),
        Some(1.0)
    );
    assert_eq!(
        value("rest_client_requests_total", "code=<error> method=GET host=h"),
        Some(1.0)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_is_measured_once() {
    let registry = Registry::new();
    assert!(!registry.render().contains("process_"));
    registry.measure_process();
    registry.measure_process();
    let scrape = Scrape::of(&registry);
    for name in [
        "process_cpu_seconds_total",
        "process_max_fds",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_virtual_memory_bytes",
    ] {
        assert_eq!(scrape.find(name, "").len(), 1, "{name}");
    }
    let value = |name: &str| scrape.value(name, "").unwrap();
    assert!(value("process_resident_memory_bytes") > 0.0);
    assert!(value("process_open_fds") >= 3.0);
}
