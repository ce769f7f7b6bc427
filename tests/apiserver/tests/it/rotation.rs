//! Tokens, client certificates and the server's authority are swapped under running informers, of which none lists again.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime},
};

use apiserver_tests::{ControlPlane, Login, Relay, http::Http, kubeconfig::ADMIN_TOKEN, wait};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use informer_client::{Client, Selectors};
use informer_core::{BoxFuture, ObjectKey};
use informer_hyper::{HttpVersion, HyperTransport};
use informer_kubeconfig::{Config, Environment, Overrides, PluginCommand, PluginOutput, ProcessEnvironment};
use informer_reflector::Start;
use informer_sharedinformer::{ReflectorOptions, Running, SharedInformer};
use informer_transport::Transport as _;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::support::{ConfigMap, LIMIT, admin, config_maps, fill, namespace, own, reflector};

/// Informers that run meanwhile.
const N_INFORMERS: usize = 20;
/// Objects that are there before, and that come with each swap.
const N_OBJECTS: usize = 5;

/// The environment of the process, at a time that can be moved forward: files are read again after a while.
#[derive(Clone, Default)]
struct Moved(Arc<Mutex<Duration>>);

impl Moved {
    fn forward(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
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
        ProcessEnvironment.now() + *self.0.lock().unwrap()
    }

    /// Begins with 1970.
    fn system_time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + *self.0.lock().unwrap()
    }

    fn run(&self, command: PluginCommand) -> BoxFuture<'static, io::Result<PluginOutput>> {
        ProcessEnvironment.run(command)
    }
}

/// A folder as the kubelet projects it: names lead into `..data`, which leads to the folder of the moment, and is swapped in one step.
struct Projected {
    folder: tempfile::TempDir,
    n_swaps: Mutex<u32>,
}

impl Projected {
    fn new(files: &[(&str, &str)]) -> Self {
        let it = Self {
            folder: tempfile::tempdir().unwrap(),
            n_swaps: Mutex::default(),
        };
        it.swap(files);
        for (name, _) in files {
            symlink(Path::new("..data").join(name), it.path(name)).unwrap();
        }
        it
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn swap(&self, files: &[(&str, &str)]) {
        let mut n = self.n_swaps.lock().unwrap();
        *n += 1;
        let fresh = format!("..{n}");
        fs::create_dir(self.path(&fresh)).unwrap();
        for (name, content) in files {
            fs::write(self.path(&fresh).join(name), content).unwrap();
        }
        symlink(&fresh, self.path("..data_tmp")).unwrap();
        fs::rename(self.path("..data_tmp"), self.path("..data")).unwrap();
    }
}

/// Informers over one client.
struct Fleet {
    informers: Vec<SharedInformer<ObjectKey, ConfigMap>>,
    transport: HyperTransport,
    environment: Moved,
    relay: Relay,
    _running: Vec<Running<ObjectKey, ConfigMap>>,
    _file: tempfile::TempDir,
}

impl Fleet {
    /// Starts them with a kubeconfig of this cluster and user, and waits until they are synced.
    async fn start(plane: &ControlPlane, namespace: &str, authority: &Path, user: Value) -> Self {
        let relay = Relay::start(plane.address()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let document = json!({
            "clusters": [{"name": "c", "cluster": {
                "server": format!("https://{}", relay.address()), "certificate-authority": authority,
            }}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        });
        fs::write(&path, document.to_string()).unwrap();
        let mut overrides = Overrides::default();
        overrides.kubeconfig = Some(path);
        let environment = Moved::default();
        let config = Config::find_in(Arc::new(environment.clone()), &overrides)
            .unwrap()
            .unwrap();
        let transport = HyperTransport::builder(config.server())
            .authorize(config.authorizer())
            .tls(config.tls())
            .http_version(HttpVersion::Http2)
            .build()
            .unwrap();
        let client = Client::new(transport.clone());
        let mut options = ReflectorOptions::default();
        options.start = Start::List;
        let mut informers = Vec::new();
        let mut running = Vec::new();
        for _ in 0..N_INFORMERS {
            let source = client
                .objects::<ConfigMap>(config_maps())
                .in_namespace(namespace)
                .source(Selectors::all());
            let informer = SharedInformer::builder(source)
                .reflector_options(options.clone())
                .build()
                .unwrap();
            running.push(informer.spawn().unwrap());
            informers.push(informer);
        }
        for informer in &informers {
            informer.wait_synced(LIMIT).await.unwrap();
        }
        Self {
            informers,
            transport,
            environment,
            relay,
            _running: running,
            _file: folder,
        }
    }

    /// Every informer has so many objects.
    async fn has(&self, n: usize) {
        wait::until("every informer has the objects", LIMIT, async || {
            self.informers
                .iter()
                .all(|informer| informer.store().len() == n)
                .then_some(())
        })
        .await;
    }

    /// How often each of them has listed.
    fn lists(&self) -> Vec<u64> {
        self.informers
            .iter()
            .map(|informer| reflector(informer).lists)
            .collect()
    }

    /// How often each of them has begun to watch.
    fn watches(&self) -> Vec<u64> {
        self.informers
            .iter()
            .map(|informer| reflector(informer).watches)
            .collect()
    }

    /// Each of them has listed once, and the server has seen it. Returns how often anybody has.
    fn listed_once(&self, plane: &ControlPlane) -> u64 {
        assert_eq!(self.lists(), [1; N_INFORMERS]);
        let listed = listed(plane.http());
        assert!(listed >= N_INFORMERS as u64, "{listed}");
        listed
    }

    /// The credential that the server sees, by its id.
    async fn credential(&self) -> String {
        let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        wait::until("the server says who this is", LIMIT, async || {
            let request = Request::post("/apis/authentication.k8s.io/v1/selfsubjectreviews")
                .header("content-type", "application/json")
                .body(Bytes::from(body.to_string()))
                .unwrap();
            let response = self.transport.send(request).await.ok()?;
            let body = response.into_body().collect().await.ok()?.to_bytes();
            let review: Value = serde_json::from_slice(&body).ok()?;
            let id = &review["status"]["userInfo"]["extra"]["authentication.kubernetes.io/credential-id"][0];
            id.as_str().map(str::to_owned)
        })
        .await
    }
}

/// How often anybody listed config maps, by the server's own count.
fn listed(http: &Http) -> u64 {
    let answer = block_in_place(|| http.get("/metrics")).unwrap();
    assert_eq!(answer.status, 200);
    String::from_utf8_lossy(&answer.body)
        .lines()
        .filter(|line| line.starts_with("apiserver_request_total{"))
        .filter(|line| line.contains("resource=\"configmaps\"") && line.contains("verb=\"LIST\""))
        .map(|line| {
            let count = line.rsplit(' ').next().unwrap_or_default();
            count.parse::<u64>().unwrap()
        })
        .sum()
}

/// The authority that clients of this plane trust, as PEM.
fn authority(plane: &ControlPlane) -> String {
    decoded(
        plane,
        Login::Token,
        "/clusters/0/cluster/certificate-authority-data",
    )
}

/// A certificate of the admin and its key: another one each time.
fn admin_certificate(plane: &ControlPlane) -> (String, String) {
    let path = plane.kubeconfig(Login::Certificate, None).unwrap();
    let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let text = |field: &str| {
        let data = document["users"][0]["user"][field].as_str().unwrap();
        String::from_utf8(BASE64_STANDARD.decode(data).unwrap()).unwrap()
    };
    (text("client-certificate-data"), text("client-key-data"))
}

fn decoded(plane: &ControlPlane, login: Login, pointer: &str) -> String {
    let path = plane.kubeconfig(login, None).unwrap();
    let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let data = document.pointer(pointer).and_then(Value::as_str).unwrap();
    String::from_utf8(BASE64_STANDARD.decode(data).unwrap()).unwrap()
}

/// An account that may do everything, and the means to give it tokens and take them away.
struct Account<'a> {
    plane: &'a ControlPlane,
    namespace: String,
}

impl<'a> Account<'a> {
    fn new(plane: &'a ControlPlane, namespace: &str) -> Self {
        let it = Self {
            plane,
            namespace: namespace.to_owned(),
        };
        it.post("serviceaccounts", json!({"metadata": {"name": "watcher"}}));
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "watcher", "namespace": namespace}],
        });
        let path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
        block_in_place(|| plane.http().send("POST", path, Some(&binding)))
            .unwrap()
            .json()
            .unwrap();
        it
    }

    fn post(&self, collection: &str, body: Value) -> Value {
        let path = format!("/api/v1/namespaces/{}/{collection}", self.namespace);
        block_in_place(|| self.plane.http().send("POST", &path, Some(&body)))
            .unwrap()
            .json()
            .unwrap()
    }

    /// A token that is good as long as a secret of this name is there.
    fn token(&self, name: &str) -> String {
        let secret = self.post("secrets", json!({"metadata": {"name": name}}));
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": 7200, "boundObjectRef": {
                "apiVersion": "v1", "kind": "Secret", "name": name, "uid": secret["metadata"]["uid"],
            }},
        });
        let answer = self.post("serviceaccounts/watcher/token", request);
        answer["status"]["token"].as_str().unwrap().to_owned()
    }

    /// Takes a token away, and waits until the server refuses it.
    async fn revoke(&self, name: &str, token: &str) {
        let path = format!("/api/v1/namespaces/{}/secrets/{name}", self.namespace);
        block_in_place(|| self.plane.http().send("DELETE", &path, None))
            .unwrap()
            .json()
            .unwrap();
        let http = Http::secure(self.plane.address(), &authority(self.plane), token).unwrap();
        wait::until("the token is refused", LIMIT, async || {
            let answer = block_in_place(|| http.get("/api")).unwrap();
            (answer.status == 401).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ac_01_projected_tokens_are_swapped_under_informers_without_a_list() {
    let plane = own(&[]).await;
    let namespace = namespace(&plane, "tokens");
    let account = Account::new(&plane, &namespace);
    let writer = admin(&plane);
    fill(&writer, &namespace, N_OBJECTS, 10).await;
    let tokens = ["first", "second", "third"].map(|name| account.token(name));
    let ca = authority(&plane);
    let folder = Projected::new(&[("ca.crt", &ca), ("token", &tokens[0])]);
    let user = json!({"tokenFile": folder.path("token")});
    let fleet = Fleet::start(&plane, &namespace, &folder.path("ca.crt"), user).await;
    fleet.has(N_OBJECTS).await;
    let listed_before = fleet.listed_once(&plane);
    let first = fleet.credential().await;
    wait::until("every informer watches", LIMIT, async || {
        (fleet.watches() == [1; N_INFORMERS]).then_some(())
    })
    .await;

    // As the kubelet does it, long before the old one expires: the file is read again in time.
    folder.swap(&[("ca.crt", &ca), ("token", &tokens[1])]);
    fleet.environment.forward(Duration::from_secs(60));
    let second = fleet.credential().await;
    assert_ne!(first, second);
    account.revoke("first", &tokens[0]).await;
    // The watches were opened with the first one. They are left alone, and what comes is seen over them.
    more(&writer, &namespace, "a").await;
    fleet.has(2 * N_OBJECTS).await;
    assert_eq!(fleet.watches(), [1; N_INFORMERS]);
    fleet.relay.cut().await;
    more(&writer, &namespace, "b").await;
    fleet.has(3 * N_OBJECTS).await;
    assert_eq!(fleet.credential().await, second);

    // Too late: the server refuses the one that is held, and the file is read at once.
    folder.swap(&[("ca.crt", &ca), ("token", &tokens[2])]);
    account.revoke("second", &tokens[1]).await;
    fleet.relay.cut().await;
    more(&writer, &namespace, "c").await;
    fleet.has(4 * N_OBJECTS).await;
    assert_ne!(fleet.credential().await, second);

    assert_eq!(fleet.lists(), [1; N_INFORMERS]);
    assert_eq!(listed(plane.http()), listed_before);
}

#[tokio::test(flavor = "multi_thread")]
async fn ac_01_certificates_of_both_sides_are_swapped_under_informers_without_a_list() {
    let plane = own(&[]).await;
    let namespace = namespace(&plane, "certificates");
    let writer = admin(&plane);
    fill(&writer, &namespace, N_OBJECTS, 10).await;
    let ca = authority(&plane);
    let (certificate, key) = admin_certificate(&plane);
    let folder = Projected::new(&[("ca.crt", &ca), ("tls.crt", &certificate), ("tls.key", &key)]);
    let user = json!({"client-certificate": folder.path("tls.crt"), "client-key": folder.path("tls.key")});
    let fleet = Fleet::start(&plane, &namespace, &folder.path("ca.crt"), user).await;
    fleet.has(N_OBJECTS).await;
    let listed_before = fleet.listed_once(&plane);
    let first = fleet.credential().await;

    // The client's.
    let (certificate, key) = admin_certificate(&plane);
    folder.swap(&[("ca.crt", &ca), ("tls.crt", &certificate), ("tls.key", &key)]);
    fleet.environment.forward(Duration::from_secs(60));
    wait::until("the new certificate is shown", LIMIT, async || {
        (fleet.credential().await != first).then_some(())
    })
    .await;
    more(&writer, &namespace, "b").await;
    fleet.has(2 * N_OBJECTS).await;

    // The server's, which another authority signs, and with it what the client trusts.
    let new_ca = serve_with_another_authority(&plane);
    folder.swap(&[("ca.crt", &new_ca), ("tls.crt", &certificate), ("tls.key", &key)]);
    let http = Http::secure(plane.address(), &new_ca, ADMIN_TOKEN).unwrap();
    wait::until("the server shows its new certificate", LIMIT, async || {
        block_in_place(|| http.get("/readyz")).ok()
    })
    .await;
    fleet.environment.forward(Duration::from_secs(60));
    fleet.relay.cut().await;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    for i in 0..N_OBJECTS {
        let object = json!({"metadata": {"name": format!("c-{i}")}});
        block_in_place(|| http.send("POST", &path, Some(&object)))
            .unwrap()
            .json()
            .unwrap();
    }
    fleet.has(3 * N_OBJECTS).await;

    assert_eq!(fleet.lists(), [1; N_INFORMERS]);
    assert_eq!(listed(&http), listed_before);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_of_a_plug_in_expire_under_informers_without_a_list() {
    let plane = own(&[]).await;
    let namespace = namespace(&plane, "plug-in");
    let account = Account::new(&plane, &namespace);
    let writer = admin(&plane);
    fill(&writer, &namespace, N_OBJECTS, 10).await;
    let tokens = ["first", "second", "third"].map(|name| account.token(name));
    let folder = Projected::new(&[("ca.crt", &authority(&plane))]);
    let program = plug_in(folder.folder.path());
    let gives = |token: &str, expires: &str| {
        let answer = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
            "status": {"token": token, "expirationTimestamp": expires},
        });
        let path = folder.folder.path();
        fs::write(path.join("fresh"), answer.to_string()).unwrap();
        fs::rename(path.join("fresh"), path.join("answer")).unwrap();
    };
    let n_runs = || fs::read_to_string(folder.path("runs")).unwrap().lines().count();
    let exec = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": program, "interactiveMode": "Never",
    }});
    gives(&tokens[0], "1970-01-01T01:00:00Z");
    let fleet = Fleet::start(&plane, &namespace, &folder.path("ca.crt"), exec).await;
    fleet.has(N_OBJECTS).await;
    let listed_before = fleet.listed_once(&plane);
    let first = fleet.credential().await;
    assert_eq!(n_runs(), 1);

    // It expires.
    gives(&tokens[1], "2999-01-01T00:00:00Z");
    fleet.environment.forward(Duration::from_secs(2 * 3600));
    account.revoke("first", &tokens[0]).await;
    fleet.relay.cut().await;
    more(&writer, &namespace, "b").await;
    fleet.has(2 * N_OBJECTS).await;
    let second = fleet.credential().await;
    assert_ne!(first, second);
    assert_eq!(n_runs(), 2, "all informers share a run");

    // It is refused before it expires.
    gives(&tokens[2], "2999-01-01T00:00:00Z");
    account.revoke("second", &tokens[1]).await;
    fleet.relay.cut().await;
    more(&writer, &namespace, "c").await;
    fleet.has(3 * N_OBJECTS).await;
    assert_ne!(fleet.credential().await, second);
    assert!(n_runs() >= 3);

    assert_eq!(fleet.lists(), [1; N_INFORMERS]);
    assert_eq!(listed(plane.http()), listed_before);
}

/// More objects.
async fn more(writer: &crate::support::TestClient, namespace: &str, prefix: &str) {
    let api = writer.metadata(config_maps()).in_namespace(namespace);
    for i in 0..N_OBJECTS {
        let object = json!({"metadata": {"name": format!("{prefix}-{i}")}});
        api.create(&object, &Default::default()).await.unwrap();
    }
}

/// A program that notes each run, and prints what is in the file `answer` beside it.
fn plug_in(folder: &Path) -> PathBuf {
    let program = folder.join("plug-in");
    let here = folder.display();
    let script = format!("#!/bin/sh\necho run >> '{here}/runs'\ncat '{here}/answer'\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    program
}

/// Gives the server a certificate of a new authority, and returns that as PEM.
fn serve_with_another_authority(plane: &ControlPlane) -> String {
    let named = |name: &str| {
        let mut names = DistinguishedName::new();
        names.push(DnType::CommonName, name);
        names
    };
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = named("serving, anew");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);

    let mut server = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    server.distinguished_name = named("localhost");
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate().unwrap();
    let certificate = server.signed_by(&key, &issuer).unwrap();
    let folder = plane.etcd().folder();
    for (name, content) in [
        ("apiserver.key", key.serialize_pem()),
        ("apiserver.crt", certificate.pem()),
    ] {
        fs::write(folder.join("fresh"), content).unwrap();
        fs::rename(folder.join("fresh"), folder.join(name)).unwrap();
    }
    authority.pem()
}
