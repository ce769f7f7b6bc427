//! A server, the hostile proxy before it, and clients on either side of that.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use apiserver_tests::{ControlPlane, Login, certificates::Certificates, http::Http};
use informer_apiserver::{HostileProxy, Server};
use informer_client::{ApiSource, Client, DynamicObject, Selectors};
use informer_core::ObjectKey;
use informer_hyper::{Builder, HttpVersion, HyperTransport};
use informer_kubeconfig::{Config, Overrides};
use informer_reflector::Start;
use informer_transport::{DynamicCodec, Roots, TlsMaterial};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tempfile::TempDir;
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinSet, block_in_place},
};
use tokio_rustls::TlsAcceptor;

use crate::loops::{churn::Churn, follower::Follower, options};
use crate::support::{Contents, TestClient, admin, config_maps, namespace, shared};

pub(super) const VERSIONS: [HttpVersion; 2] = [HttpVersion::Http1, HttpVersion::Http2];

type Source = ApiSource<HyperTransport, DynamicObject, DynamicCodec>;

/// A server behind a hostile proxy.
pub(super) struct Stage {
    pub(super) proxy: HostileProxy,
    pub(super) namespace: String,
    /// Sees the server without the proxy.
    pub(super) direct: TestClient,
    http: Http,
    upstream: Upstream,
}

pub(super) enum Upstream {
    Real(&'static ControlPlane),
    Embedded(Box<Embedded>),
}

pub(super) struct Embedded {
    pub(super) server: Server,
    /// Between TLS and the server, so that what is in the records can be cut as well.
    pub(super) inside: HostileProxy,
    authority: String,
    _files: TempDir,
    _tasks: JoinSet<()>,
}

impl Stage {
    /// One of each kind of server.
    pub(super) async fn both(name: &str) -> [Self; 2] {
        [Self::embedded().await, Self::real(name).await]
    }

    /// The embedded server with TLS before it.
    pub(super) async fn embedded() -> Self {
        let files = tempfile::tempdir().unwrap();
        let authority = Certificates::write(files.path()).unwrap().serving_ca;
        let server = Server::start(Default::default()).await.unwrap();
        let inside = HostileProxy::start(server.address()).await.unwrap();
        let (address, tasks) = terminate_tls(&files, inside.address()).await;
        let direct = HyperTransport::builder(server.url()).build().unwrap();
        Self {
            proxy: HostileProxy::start(address).await.unwrap(),
            namespace: "default".to_owned(),
            direct: Client::new(direct),
            http: Http::plain(server.address()),
            upstream: Upstream::Embedded(Box::new(Embedded {
                server,
                inside,
                authority,
                _files: files,
                _tasks: tasks,
            })),
        }
    }

    /// A namespace of the real server.
    pub(super) async fn real(name: &str) -> Self {
        let plane = shared().await;
        Self {
            proxy: HostileProxy::start(plane.address()).await.unwrap(),
            namespace: namespace(plane, name),
            direct: admin(plane),
            http: plane.http().clone(),
            upstream: Upstream::Real(plane),
        }
    }

    pub(super) fn embedded_server(&self) -> Option<&Embedded> {
        match &self.upstream {
            Upstream::Real(_) => None,
            Upstream::Embedded(embedded) => Some(embedded),
        }
    }

    /// For the words of a failure.
    pub(super) fn name(&self) -> &'static str {
        match self.upstream {
            Upstream::Real(_) => "real",
            Upstream::Embedded(_) => "embedded",
        }
    }

    /// A kubeconfig with which a program goes through the proxy, written into this folder.
    pub(super) fn kubeconfig(&self, folder: &Path) -> PathBuf {
        match &self.upstream {
            Upstream::Real(plane) => plane
                .kubeconfig(Login::Token, Some(self.proxy.address()))
                .unwrap(),
            Upstream::Embedded(embedded) => {
                let authority = folder.join("ca.crt");
                fs::write(&authority, &embedded.authority).unwrap();
                let file = folder.join("config");
                let text = format!(
                    "{{clusters: [{{name: c, cluster: {{server: 'https://{}', certificate-authority: {}}}}}], \
                      contexts: [{{name: x, context: {{cluster: c}}}}], current-context: x}}",
                    self.proxy.address(),
                    authority.display()
                );
                fs::write(&file, text).unwrap();
                file
            }
        }
    }

    /// A client through the proxy, over TLS, that loses patience soon.
    pub(super) fn client(&self, version: HttpVersion) -> TestClient {
        let second = Duration::from_secs(1);
        let transport = self
            .builder()
            .http_version(version)
            .connect_timeout(3 * second)
            .head_timeout(Some(5 * second))
            .http2_ping(Some((second, second)))
            .build()
            .unwrap();
        Client::new(transport)
    }

    /// One that is as patient as it is by default.
    pub(super) fn patient_client(&self, version: HttpVersion) -> TestClient {
        Client::new(self.builder().http_version(version).build().unwrap())
    }

    fn builder(&self) -> Builder {
        match &self.upstream {
            Upstream::Embedded(embedded) => {
                let mut material = TlsMaterial::default();
                material.roots = Roots::Pem(embedded.authority.clone().into_bytes().into());
                HyperTransport::builder(format!("https://{}", self.proxy.address())).tls(Arc::new(material))
            }
            Upstream::Real(plane) => {
                let mut overrides = Overrides::default();
                let file = plane.kubeconfig(Login::Token, Some(self.proxy.address()));
                overrides.kubeconfig = Some(file.unwrap());
                let config = Config::find(&overrides).unwrap().expect("the file is there");
                HyperTransport::builder(config.server())
                    .authorize(config.authorizer())
                    .tls(config.tls())
            }
        }
    }

    pub(super) fn source(&self, client: &TestClient) -> Source {
        let api = client.dynamic(config_maps()).in_namespace(&self.namespace);
        api.source(Selectors::all())
    }

    /// An informer through the proxy, with short waits.
    pub(super) fn follow(&self, client: &TestClient, start: Start, name: &str) -> Follower {
        let mut options = options(start, None);
        options.backoff.cap = Duration::from_millis(200);
        options.list_wait = Duration::from_secs(5);
        options.streaming_wait = Duration::from_secs(5);
        let name = format!("{} {name} {start:?}", self.name());
        Follower::start(name, self.source(client), options)
    }

    /// Writers of so many objects, which see the server without the proxy.
    pub(super) async fn churn(&self, n: usize) -> Churn {
        let churn = Churn::new(&self.direct, config_maps(), &self.namespace, n);
        churn.fill().await;
        churn
    }

    pub(super) fn path(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.namespace)
    }

    /// What the server has, by the plainest client.
    pub(super) fn expected(&self) -> Contents {
        let list = block_in_place(|| self.http.get(&self.path()).and_then(|answer| answer.json())).unwrap();
        let items = list["items"].as_array().expect("a list");
        let pair = |item: &serde_json::Value| {
            let text = |member: &str| item["metadata"][member].as_str().unwrap_or_default();
            let key = ObjectKey::new(item["metadata"]["namespace"].as_str(), text("name"));
            (
                key.to_string(),
                format!("{} of {}", text("resourceVersion"), text("uid")),
            )
        };
        items.iter().map(pair).collect()
    }
}

/// Ends TLS, with what ALPN agrees on, and passes on what is in it.
async fn terminate_tls(files: &TempDir, target: SocketAddr) -> (SocketAddr, JoinSet<()>) {
    let read = |name: &str| fs::read(files.path().join(name)).unwrap();
    let chain = vec![CertificateDer::from_pem_slice(&read("apiserver.crt")).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(&read("apiserver.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut open = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            open.spawn(async move {
                // Handshakes fail and connections break: that is what all this is about.
                let Ok(mut outer) = acceptor.accept(stream).await else {
                    return;
                };
                let Ok(mut inner) = TcpStream::connect(target).await else {
                    return;
                };
                let _ = inner.set_nodelay(true);
                let _ = tokio::io::copy_bidirectional(&mut outer, &mut inner).await;
            });
        }
    });
    (address, tasks)
}
