//! AC-02: a server URL with a path prefix.

use bytes::Bytes;
use http::{Request, StatusCode};
use informer_hyper::HyperTransport;
use informer_transport::Transport;

use crate::support::{Server, Wire, answer};

#[tokio::test]
async fn ac_02_every_path_stands_behind_the_prefix_exactly_once() {
    for prefix in ["/k8s/clusters/c-1", "/a%2Fb", "/api"] {
        // Outside of the prefix is another cluster, which lets nobody in.
        let server = Server::start(Wire::Http1, move |request| async move {
            let uri = request.uri().to_string();
            let inner = uri.strip_prefix(prefix).map(ToOwned::to_owned);
            let mut response = answer(inner.clone().unwrap_or_default());
            if inner.is_none() {
                *response.status_mut() = StatusCode::FORBIDDEN;
            }
            response
        })
        .await;
        for slash in ["", "/"] {
            let transport = HyperTransport::builder(format!("{}{prefix}{slash}", server.url()))
                .build()
                .expect("a transport");
            assert_eq!(transport.url(), format!("{}{prefix}", server.url()));
            for path in [
                "/api",
                "/apis/apps/v1/deployments?labelSelector=a%3Db&limit=500",
                "/api/v1/pods?watch=true&resourceVersion=5",
            ] {
                let request = Request::put(path).body(Bytes::new()).expect("a request");
                let response = transport.send(request).await.expect("a response");
                assert_eq!(response.status(), StatusCode::OK);
                let body = http_body_util::BodyExt::collect(response.into_body())
                    .await
                    .expect("a body");
                assert_eq!(body.to_bytes(), path, "{prefix}{slash}");
            }
        }
    }
}
