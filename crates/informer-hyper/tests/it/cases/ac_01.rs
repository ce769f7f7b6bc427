//! AC-01: credentials on disk rotate.

#![cfg(unix)]

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use http::{StatusCode, header::AUTHORIZATION};
use informer_hyper::{HttpVersion, HyperTransport};
use informer_kubeconfig::{Config, Environment, Overrides, ProcessEnvironment};
use informer_transport::Transport;
use rustls::{
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::sync::mpsc;

use crate::support::{Authority, Feed, Server, Wire, answer, chunk, fetch, get, good_chunk, streaming};

/// The files of the machine, at a time that can be moved: they are read again after a while.
#[derive(Clone, Default)]
struct Moved(Arc<Mutex<Duration>>);

impl Moved {
    fn forward(&self, by: Duration) {
        *self.0.lock().expect("lock") += by;
    }
}

impl Environment for Moved {
    fn var(&self, name: &str) -> Option<OsString> {
        ProcessEnvironment.var(name)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        ProcessEnvironment.read(path)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        ProcessEnvironment.current_dir()
    }

    fn now(&self) -> Instant {
        ProcessEnvironment.now() + *self.0.lock().expect("lock")
    }
}

/// A folder as the kubelet projects it: all files of it are swapped in one step.
struct Projected {
    folder: tempfile::TempDir,
    n_swaps: u32,
}

impl Projected {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut it = Self {
            folder: tempfile::tempdir().expect("a folder"),
            n_swaps: 0,
        };
        it.swap(files);
        for (name, _) in files {
            symlink(Path::new("..data").join(name), it.path(name)).expect("a link");
        }
        it
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn swap(&mut self, files: &[(&str, &str)]) {
        self.n_swaps += 1;
        let fresh = format!("..{}", self.n_swaps);
        fs::create_dir(self.path(&fresh)).expect("a folder");
        for (name, content) in files {
            fs::write(self.path(&fresh).join(name), content).expect("a file");
        }
        symlink(&fresh, self.path("..data_tmp")).expect("a link");
        fs::rename(self.path("..data_tmp"), self.path("..data")).expect("a swap");
    }
}

/// A client of this server that signs in with the token, and trusts the authority, of the folder.
fn connect(server: &Server, folder: &Projected, environment: &Moved, version: HttpVersion) -> HyperTransport {
    let config = folder.path("config");
    let text = serde_json::json!({
        "clusters": [{"name": "c", "cluster": {
            "server": server.url(), "certificate-authority": folder.path("ca.crt"),
        }}],
        "users": [{"name": "u", "user": {"tokenFile": folder.path("token")}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    });
    fs::write(&config, text.to_string()).expect("a file");
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some(config);
    let config = Config::find_in(Arc::new(environment.clone()), &overrides)
        .expect("a configuration")
        .expect("the file is there");
    HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .tls(config.tls())
        .http_version(version)
        .build()
        .expect("a transport")
}

/// What the server lets in, and what came.
struct Gate {
    token: Mutex<&'static str>,
    /// Paths and the statuses that they got.
    log: Mutex<Vec<String>>,
}

impl Gate {
    fn said(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().expect("lock"))
    }

    /// From now on this token is good, and no other.
    fn accept(&self, token: &'static str) {
        *self.token.lock().expect("lock") = token;
    }
}

async fn serve(config: Arc<rustls::ServerConfig>) -> (Server, Arc<Gate>, mpsc::UnboundedReceiver<Feed>) {
    let gate = Arc::new(Gate {
        token: Mutex::new("t1"),
        log: Mutex::default(),
    });
    let (send, feeds) = mpsc::unbounded_channel();
    let door = Arc::clone(&gate);
    let server = Server::start(Wire::Tls(config), move |request| {
        let token = *door.token.lock().expect("lock");
        let is_good = request
            .headers()
            .get(AUTHORIZATION)
            .is_some_and(|header| header.as_bytes() == format!("Bearer {token}").as_bytes());
        let path = request.uri().path().to_owned();
        let response = if !is_good {
            let mut response = answer("who are you?");
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            response
        } else if path == "/watch" {
            let (response, feed) = streaming();
            feed.send("open");
            send.send(feed).expect("the test listens");
            response
        } else {
            answer("ok")
        };
        let status = response.status().as_u16();
        door.log.lock().expect("lock").push(format!("{path} {status}"));
        async { response }
    });
    (server.await, gate, feeds)
}

const VERSIONS: [HttpVersion; 2] = [HttpVersion::Http1, HttpVersion::Http2];
const BOTH: &[&str] = &["h2", "http/1.1"];

#[tokio::test]
async fn ac_01_a_token_changes_under_an_open_watch() {
    let authority = Authority::new("root");
    let ca = authority.pem();
    let config = authority.issue(&["127.0.0.1"]).for_server(None, BOTH);
    for version in VERSIONS {
        let (server, gate, mut feeds) = serve(Arc::clone(&config)).await;
        let mut folder = Projected::new(&[("ca.crt", &ca), ("token", "t1\n")]);
        let environment = Moved::default();
        let transport = connect(&server, &folder, &environment, version);
        let mut watch = transport
            .send(get("/watch?watch=true"))
            .await
            .expect("a response")
            .into_body();
        let feed = feeds.recv().await.expect("a watch");
        assert_eq!(good_chunk(&mut watch).await, "open");

        // In time: within a minute the file is read again, and nobody is ever refused.
        folder.swap(&[("ca.crt", &ca), ("token", "t2\n")]);
        gate.accept("t2");
        environment.forward(Duration::from_secs(60));
        assert_eq!(
            fetch(&transport, "/get").await.expect("a response").status(),
            StatusCode::OK
        );

        // Not there, and half written, for a while: the last good one serves.
        for files in [
            &[("ca.crt", &*ca)][..],
            &[("ca.crt", &*ca), ("token", "")],
            &[("ca.crt", &*ca), ("token", "t2")],
        ] {
            folder.swap(files);
            environment.forward(Duration::from_secs(60));
            let response = fetch(&transport, "/get").await.expect("a response");
            assert_eq!(response.status(), StatusCode::OK, "{version:?}");
        }

        // Too late: a refusal is one refusal, and the file is read at once.
        folder.swap(&[("ca.crt", &ca), ("token", "t3\n")]);
        gate.accept("t3");
        let response = fetch(&transport, "/late").await.expect("a response");
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(
            fetch(&transport, "/late").await.expect("a response").status(),
            StatusCode::OK
        );

        // All the while the watch was left alone.
        feed.send("still open");
        assert_eq!(good_chunk(&mut watch).await, "still open");
        let said = gate.said();
        assert_eq!(
            said,
            [
                "/watch 200",
                "/get 200",
                "/get 200",
                "/get 200",
                "/get 200",
                "/late 401",
                "/late 200"
            ],
            "{version:?}"
        );
        // It ends by itself, and the next one carries the token of now.
        drop(feed);
        assert!(chunk(&mut watch).await.is_none());
        let mut watch = transport
            .send(get("/watch?watch=true"))
            .await
            .expect("a response")
            .into_body();
        assert_eq!(good_chunk(&mut watch).await, "open");
        assert_eq!(gate.said(), ["/watch 200"]);
    }
}

/// The certificate of the moment.
#[derive(Debug)]
struct Shown(Mutex<Arc<CertifiedKey>>);

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.lock().expect("lock")))
    }
}

fn certified(authority: &Authority) -> Arc<CertifiedKey> {
    use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
    let identity = authority.issue(&["127.0.0.1"]);
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes()).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).expect("a key");
    let key = rustls::crypto::ring::sign::any_supported_type(&key).expect("a key that is known");
    Arc::new(CertifiedKey::new(vec![certificate], key))
}

#[tokio::test]
async fn ac_01_the_authority_changes_under_an_open_watch() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    for version in VERSIONS {
        let shown = Arc::new(Shown(Mutex::new(certified(&old))));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&shown) as _);
        config.alpn_protocols = BOTH.iter().map(|name| name.as_bytes().to_vec()).collect();
        let (server, gate, mut feeds) = serve(Arc::new(config)).await;
        let mut folder = Projected::new(&[("ca.crt", &old.pem()), ("token", "t1")]);
        let environment = Moved::default();
        let transport = connect(&server, &folder, &environment, version);
        let mut watch = transport
            .send(get("/watch?watch=true"))
            .await
            .expect("a response")
            .into_body();
        let feed = feeds.recv().await.expect("a watch");
        assert_eq!(good_chunk(&mut watch).await, "open");

        // Half a bundle changes nothing.
        folder.swap(&[("ca.crt", "-----BEGIN CERT"), ("token", "t1")]);
        environment.forward(Duration::from_secs(60));
        assert_eq!(
            fetch(&transport, "/get").await.expect("a response").status(),
            StatusCode::OK
        );

        *shown.0.lock().expect("lock") = certified(&new);
        folder.swap(&[("ca.crt", &new.pem()), ("token", "t1")]);
        environment.forward(Duration::from_secs(60));
        let n_opened = server.n_opened();
        for _ in 0..2 {
            assert_eq!(
                fetch(&transport, "/get").await.expect("a response").status(),
                StatusCode::OK
            );
        }
        assert_eq!(server.n_opened(), n_opened + 1, "{version:?}: checked anew, once");
        feed.send("still open");
        assert_eq!(good_chunk(&mut watch).await, "still open");
        assert!(gate.said().iter().all(|line| line.ends_with("200")));
    }
}
