//! Transports over sockets.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use informer_core::TokioClock;
use informer_hyper::{HttpVersion, HyperTransport};
use informer_kube::KubeTransport;
use informer_testkit::conformance::{Patience, transport::Suite};
use informer_transport::{TowerTransport, Transport, TransportService};

use super::server::{Server, Tls, nowhere};

/// For a busy machine; what is passed waits for none of it.
fn patience() -> Patience {
    Patience::time(TokioClock, Duration::from_secs(20))
}

async fn conforms<T: Transport + 'static>(suite: Suite<T>) {
    suite
        .patience(patience())
        .seeds(0..4)
        .run()
        .await
        .assert_conforms();
}

fn hyper(url: String, http2: bool, tls: Option<&Tls>) -> HyperTransport {
    let version = if http2 {
        HttpVersion::Http2
    } else {
        HttpVersion::Http1
    };
    let mut builder = HyperTransport::builder(url)
        .ignore_proxy_variables()
        .http_version(version);
    if let Some(tls) = tls {
        builder = builder.tls(tls.trusted.clone());
    }
    builder.build().unwrap()
}

async fn ours_conforms(http2: bool, tls: Option<Tls>) {
    let address = nowhere().await;
    let encrypted = tls.is_some();
    let name = format!("HyperTransport, HTTP/2: {http2}, TLS: {encrypted}");
    let suite = Suite::new(&name, move |far| {
        let tls = tls.clone();
        async move {
            let server = Server::start(far, http2, tls.clone()).await;
            (hyper(server.url.clone(), http2, tls.as_ref()), server)
        }
    });
    let scheme = if encrypted { "https" } else { "http" };
    conforms(suite.nowhere(move || hyper(format!("{scheme}://{address}"), http2, None))).await;
}

#[tokio::test]
async fn ours_conforms_over_http1() {
    ours_conforms(false, None).await;
}

#[tokio::test]
async fn ours_conforms_over_http2() {
    ours_conforms(true, None).await;
}

#[tokio::test]
async fn ours_conforms_over_http1_and_tls() {
    ours_conforms(false, Some(Tls::new(false))).await;
}

#[tokio::test]
async fn ours_conforms_over_http2_and_tls() {
    ours_conforms(true, Some(Tls::new(true))).await;
}

fn kube(url: &str, tls: Option<&Tls>) -> KubeTransport {
    let mut config = kube::Config::new(url.parse().unwrap());
    config.root_cert = tls.map(|tls| vec![tls.root.clone()]);
    KubeTransport::from_config(config).unwrap()
}

async fn a_kube_client_conforms_over(tls: Option<Tls>) {
    let address = nowhere().await;
    let (name, scheme) = if tls.is_some() {
        ("KubeTransport over TLS", "https")
    } else {
        ("KubeTransport", "http")
    };
    let trusted = tls.clone();
    let suite = Suite::new(name, move |far| {
        let tls = tls.clone();
        async move {
            let server = Server::start(far, false, tls.clone()).await;
            (kube(&server.url, tls.as_ref()), server)
        }
    });
    conforms(suite.nowhere(move || kube(&format!("{scheme}://{address}"), trusted.as_ref()))).await;
}

#[tokio::test]
async fn a_kube_client_conforms() {
    a_kube_client_conforms_over(None).await;
}

#[tokio::test]
async fn a_kube_client_conforms_over_tls() {
    a_kube_client_conforms_over(Some(Tls::new(false))).await;
}

/// A kube client over our connections, which so speaks HTTP/2.
#[tokio::test]
async fn a_kube_client_over_ours_conforms() {
    let over = |url: String| {
        let service = TransportService::new(hyper(url, true, None));
        KubeTransport::new(kube::Client::new(service, "default"))
    };
    let address = nowhere().await;
    let suite = Suite::new("KubeTransport over HyperTransport", move |far| async move {
        let server = Server::start(far, true, None).await;
        (over(server.url.clone()), server)
    });
    conforms(suite.nowhere(move || over(format!("http://{address}")))).await;
}

#[tokio::test]
async fn a_tower_service_over_ours_conforms() {
    let over = |url: String| {
        let service = TransportService::new(hyper(url, false, None));
        let service = tower::buffer::Buffer::new(tower::limit::ConcurrencyLimit::new(service, 100), 100);
        TowerTransport::<_, Full<Bytes>>::new(service)
    };
    let address = nowhere().await;
    let suite = Suite::new("TowerTransport", move |far| async move {
        let server = Server::start(far, false, None).await;
        (over(server.url.clone()), server)
    });
    conforms(suite.nowhere(move || over(format!("http://{address}")))).await;
}

/// That of the example.
#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_conforms() {
    use super::unix_socket::UnixSocket;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let n = std::sync::atomic::AtomicUsize::new(0);
    let suite = Suite::new("UnixSocket", move |far| {
        let n = n.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = path.join(n.to_string());
        async move {
            let server = Server::at(far, &path);
            (UnixSocket(path), server)
        }
    });
    let nobody = folder.path().join("nobody");
    drop(std::os::unix::net::UnixListener::bind(&nobody).unwrap());
    conforms(suite.nowhere(move || UnixSocket(nobody.clone()))).await;
}
