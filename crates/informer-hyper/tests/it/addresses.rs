//! Servers at addresses of the sixth version, and behind a path.

use std::sync::Arc;

use http::header::HOST;
use informer_hyper::{HttpVersion, HyperTransport};

use crate::support::{Authority, Server, Wire, answer, text};

#[tokio::test]
async fn an_address_of_ipv6_and_a_path_prefix_are_as_good_as_any() {
    let authority = Authority::new("ours");
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let config = authority.issue(&["::1"]).for_server(None, &["h2", "http/1.1"]);
        let server = Server::start_at("[::1]:0", Wire::Tls(config), |request| async move {
            let host = request.headers().get(HOST);
            let host = host.map(|host| host.to_str().expect("text").to_owned());
            let host = host.or_else(|| request.uri().authority().map(ToString::to_string));
            let path = request.uri().path_and_query().map(ToString::to_string);
            answer(format!(
                "{} {}",
                host.unwrap_or_default(),
                path.unwrap_or_default()
            ))
        })
        .await;
        for prefix in ["/k8s/clusters/c-1", "/k8s/clusters/c-1/"] {
            let transport = HyperTransport::builder(format!("{}{prefix}", server.url()))
                .http_version(version)
                .tls(Arc::new(authority.trusted()))
                .build()
                .expect("a transport");
            assert_eq!(
                text(&transport, "/api/v1/pods?limit=1").await,
                format!(
                    "[::1]:{} /k8s/clusters/c-1/api/v1/pods?limit=1",
                    server.address().port()
                )
            );
        }
    }
}
