//! AC-05: addresses and TLS knobs, as far as a connection shows them.

use std::sync::Arc;

use informer_hyper::HyperTransport;
use tokio::net::TcpListener;

use crate::support::{Authority, Server, Wire, answer, text};

#[tokio::test]
async fn ac_05_an_ipv6_address_and_another_name_for_tls() {
    let authority = Authority::new("root");
    // A machine without IPv6 has the other family to show the names with.
    let address = match TcpListener::bind("[::1]:0").await {
        Ok(_) => "[::1]:0",
        Err(_) => "127.0.0.1:0",
    };
    let config = authority.issue(&["api.internal"]).for_server(None, &["http/1.1"]);
    let server = Server::start_at(address, Wire::Tls(config), |request| async move {
        answer(request.headers()["host"].to_str().expect("text").to_owned())
    })
    .await;
    let mut material = authority.trusted();
    material.server_name = Some("api.internal".into());
    let transport = HyperTransport::builder(server.url())
        .tls(Arc::new(material))
        .build()
        .expect("a transport");
    assert_eq!(text(&transport, "/").await, server.address().to_string());
}
