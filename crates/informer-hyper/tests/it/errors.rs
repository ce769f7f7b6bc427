//! What goes wrong before there is a response.

use std::{sync::Arc, time::Duration};

use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::{BoxTransport, Transport};
use tokio::{net::TcpListener, sync::Barrier, task::JoinSet};

use crate::support::{get, sentence};

/// An address where nothing listens.
async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

#[tokio::test]
async fn a_refused_connection_is_known_to_be_one() {
    let url = nowhere().await;
    let transport = HyperTransport::builder(url.clone()).build().expect("a transport");
    let error = transport.send(get("/")).await.expect_err("refused");
    assert!(HyperTransport::is_refused(&error) && error.is_connect());
    assert_eq!(error.to_string(), format!("cannot connect to {url}"));
    assert!(
        sentence(&error).contains("Connection refused"),
        "{}",
        sentence(&error)
    );

    let error = BoxTransport::new(transport)
        .send(get("/"))
        .await
        .err()
        .expect("refused");
    assert!(BoxTransport::is_refused(&error));
}

#[tokio::test]
async fn a_connection_that_takes_too_long_is_given_up_and_not_called_refused() {
    // Accepts and says nothing, so that TLS never begins.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    let mut material = informer_transport::TlsMaterial::default();
    material.roots = informer_transport::Roots::Insecure;
    let transport = HyperTransport::builder(url.clone())
        .tls(Arc::new(material))
        .connect_timeout(Duration::from_millis(30))
        .build()
        .expect("a transport");
    let error = transport.send(get("/")).await.expect_err("too late");
    assert!(error.is_connect() && !HyperTransport::is_refused(&error));
    assert_eq!(error.to_string(), format!("no connection to {url} within 30ms"));
}

#[tokio::test]
async fn those_who_wait_for_a_dial_that_fails_share_its_error() {
    // Accepts and says nothing: each dial takes the whole timeout.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let transport = HyperTransport::builder(url)
        .http_version(HttpVersion::Http2)
        .connect_timeout(Duration::from_millis(200))
        .build()
        .expect("a transport");
    let barrier = Arc::new(Barrier::new(30));
    let mut requests = JoinSet::new();
    for _ in 0..30 {
        let (transport, barrier) = (transport.clone(), Arc::clone(&barrier));
        requests.spawn(async move {
            barrier.wait().await;
            transport.send(get("/")).await.expect_err("too late").is_connect()
        });
    }
    let mut n_dials = 0;
    loop {
        tokio::select! {
            _ = listener.accept() => n_dials += 1,
            one = requests.join_next() => match one {
                Some(is_connect) => assert!(is_connect.expect("no panic")),
                None => break,
            },
        }
    }
    assert_eq!(n_dials, 1);
}

#[tokio::test]
async fn a_dial_that_is_given_up_leaves_the_way_free() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let transport = HyperTransport::builder(url)
        .http_version(HttpVersion::Http2)
        .connect_timeout(Duration::from_millis(30))
        .build()
        .expect("a transport");
    let first = transport.send(get("/"));
    tokio::select! {
        biased;
        accepted = listener.accept() => drop(accepted.expect("a connection")),
        _ = first => panic!("not before its timeout"),
    }
    assert!(
        transport
            .send(get("/"))
            .await
            .expect_err("nobody answers")
            .is_connect()
    );
}

#[test]
fn useless_settings_are_refused_when_the_transport_is_built() {
    let refused = |builder: informer_hyper::Builder| {
        let error = builder.build().expect_err("useless");
        assert!(error.is_configuration());
        error.to_string()
    };
    assert_eq!(
        refused(HyperTransport::builder("localhost:8080")),
        "server URL \"localhost:8080\": needs to begin with https:// or http://"
    );
    assert_eq!(
        refused(HyperTransport::builder("http://s").user_agent("a\nb")),
        "user agent \"a\\nb\": cannot be a header"
    );
}
