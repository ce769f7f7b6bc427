//! The suite's far end behind a socket: TCP or Unix, HTTP/1.1 or HTTP/2, with TLS or without.

use std::{io, net::SocketAddr, sync::Arc};

use http::Request;
use http_body_util::BodyExt as _;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use informer_testkit::conformance::transport::FarEnd;
use informer_transport::{Roots, TlsMaterial};
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// A server; dropping it stops it.
pub(crate) struct Server {
    pub(crate) url: String,
    _tasks: JoinSet<()>,
}

/// A certificate for this machine, and who believes it.
#[derive(Clone)]
pub(crate) struct Tls {
    acceptor: TlsAcceptor,
    pub(crate) trusted: Arc<TlsMaterial>,
    /// The authority's certificate.
    pub(crate) root: Vec<u8>,
}

impl Tls {
    pub(crate) fn new(http2: bool) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from_pem_slice(certificate.pem().as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap(),
            )
            .unwrap();
        let protocol: &[u8] = if http2 { b"h2" } else { b"http/1.1" };
        config.alpn_protocols = vec![protocol.to_vec()];
        let mut trusted = TlsMaterial::default();
        trusted.roots = Roots::Pem(authority.pem().into_bytes().into());
        Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            trusted: Arc::new(trusted),
            root: authority.der().to_vec(),
        }
    }
}

impl Server {
    pub(crate) async fn start(far: FarEnd, http2: bool, tls: Option<Tls>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (far, tls) = (far.clone(), tls.clone());
                open.spawn(async move {
                    match tls {
                        None => serve(stream, far, http2).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.acceptor.accept(stream).await {
                                serve(stream, far, http2).await;
                            }
                        }
                    }
                });
            }
        });
        Self { url, _tasks: tasks }
    }

    #[cfg(unix)]
    pub(crate) fn at(far: FarEnd, path: &std::path::Path) -> Self {
        let listener = tokio::net::UnixListener::bind(path).unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(serve(stream, far.clone(), false));
            }
        });
        Self {
            url: String::new(),
            _tasks: tasks,
        }
    }
}

async fn serve<S>(stream: S, far: FarEnd, http2: bool)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let far = far.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
            far.answer(Request::from_parts(head, body)).await
        }
    });
    let stream = TokioIo::new(stream);
    // A connection that breaks off is part of the suite.
    if http2 {
        let builder = http2::Builder::new(TokioExecutor::new());
        drop(builder.serve_connection(stream, service).await);
    } else {
        drop(http1::Builder::new().serve_connection(stream, service).await);
    }
}

/// An address at which nothing listens.
pub(crate) async fn nowhere() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap()
}
