//! What the tests share: a control plane, clients, objects, and a ledger of what a handler was told.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    fs,
    net::SocketAddr,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use apiserver_tests::{ControlPlane, Login, Options, wait};
use informer_client::{Api, Client, DynamicObject, PartialMetadata, Selectors};
use informer_core::{ObjectKey, Resource, Stamp};
use informer_hyper::{HttpVersion, HyperTransport};
use informer_kubeconfig::{Config, Overrides};
use informer_reflector::Start;
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, Running, SharedInformer};
use informer_transport::DynamicCodec;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::{JoinSet, block_in_place};

use crate::ledger::Ledger;

/// Long enough for everything that has to come true on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(90);

pub(crate) type TestClient = Client<HyperTransport>;

/// The control plane of all tests that leave it as it is, each in a namespace of its own. It ends with the process.
pub(crate) async fn shared() -> &'static ControlPlane {
    static SHARED: OnceLock<ControlPlane> = OnceLock::new();
    let start = || SHARED.get_or_init(|| ControlPlane::start(Options::default()).unwrap());
    tokio::task::spawn_blocking(start).await.unwrap()
}

/// A control plane for a test that does with it what no other could bear.
pub(crate) async fn own(arguments: &[&str]) -> Arc<ControlPlane> {
    let arguments = arguments.iter().map(ToString::to_string).collect();
    let options = Options {
        arguments,
        ..Options::default()
    };
    let start = move || ControlPlane::start(options).unwrap();
    Arc::new(tokio::task::spawn_blocking(start).await.unwrap())
}

/// A new namespace whose name begins so.
pub(crate) fn namespace(plane: &ControlPlane, prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("{prefix}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let body = json!({"metadata": {"name": name}});
    let answer = block_in_place(|| plane.http().send("POST", "/api/v1/namespaces", Some(&body)));
    answer.unwrap().json().unwrap();
    name
}

/// Writes a kubeconfig file whose context is in this namespace to a folder, for programs that take theirs from it.
pub(crate) fn kubeconfig_in(plane: &ControlPlane, namespace: &str, folder: &Path) -> PathBuf {
    let path = plane.kubeconfig(Login::Token, None).unwrap();
    let mut document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    document["contexts"][0]["context"]["namespace"] = namespace.into();
    let path = folder.join("kubeconfig");
    fs::write(&path, document.to_string()).unwrap();
    path
}

/// A client that signs in this way and speaks this version of HTTP, directly or through a relay.
pub(crate) fn connect(
    plane: &ControlPlane,
    login: Login,
    version: HttpVersion,
    through: Option<SocketAddr>,
) -> TestClient {
    let mut overrides = Overrides::default();
    overrides.kubeconfig = Some(plane.kubeconfig(login, through).unwrap());
    let config = Config::find(&overrides).unwrap().expect("the file is there");
    let transport = HyperTransport::builder(config.server())
        .authorize(config.authorizer())
        .tls(config.tls())
        .proxy(config.proxy())
        .accept_gzip(config.accepts_compression())
        .http_version(version)
        .build()
        .unwrap();
    Client::new(transport)
}

/// The usual one.
pub(crate) fn admin(plane: &ControlPlane) -> TestClient {
    connect(plane, Login::Token, HttpVersion::Http2, None)
}

pub(crate) fn config_maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

/// A form of object with nothing but what is of interest.
#[derive(Debug, Deserialize)]
pub(crate) struct ConfigMap {
    #[serde(default)]
    pub(crate) data: BTreeMap<String, String>,
}

pub(crate) fn config_map(name: &str, value: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"value": value}})
}

/// Text that does not compress well.
pub(crate) fn noise(random: &mut Random, n: usize) -> String {
    (0..n)
        .map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap()))
        .collect()
}

/// Creates `n` config maps in a namespace, several at a time.
pub(crate) async fn fill(client: &TestClient, namespace: &str, n: usize, bytes: usize) {
    let mut random = Random(1);
    let mut writers = JoinSet::new();
    for i in 0..n {
        if writers.len() == 16 {
            writers.join_next().await.expect("there are some").unwrap();
        }
        let api = client.metadata(config_maps()).in_namespace(namespace);
        let object = config_map(&format!("object-{i:05}"), &noise(&mut random, bytes));
        writers.spawn(async move { api.create(&object, &Default::default()).await.unwrap() });
    }
    writers.join_all().await;
}

/// Names with their states, as text.
pub(crate) type Contents = BTreeMap<String, String>;

fn state(version: &str, uid: &str) -> String {
    format!("{version} of {uid}")
}

pub(crate) fn state_of(stamp: &Stamp) -> String {
    state(stamp.version.as_str(), &stamp.uid)
}

/// What the server has, by the plainest client: at a path such as `/api/v1/namespaces/default/configmaps`.
pub(crate) fn server_contents(plane: &ControlPlane, path: &str) -> Contents {
    let items = block_in_place(|| plane.items(path)).unwrap();
    let text = |item: &Value, member: &str| item["metadata"][member].as_str().unwrap_or_default().to_owned();
    let key = |item: &Value| ObjectKey::new(item["metadata"]["namespace"].as_str(), &text(item, "name"));
    items
        .iter()
        .map(|item| {
            (
                key(item).to_string(),
                state(&text(item, "resourceVersion"), &text(item, "uid")),
            )
        })
        .collect()
}

/// What an informer's store has.
pub(crate) fn contents<K: Send + Sync + 'static>(informer: &SharedInformer<ObjectKey, K>) -> Contents {
    let mut contents = Contents::new();
    informer.store().snapshot().scan(None, &mut |entry| {
        contents.insert(entry.key.to_string(), state_of(&entry.stamp));
        ControlFlow::Continue(())
    });
    contents
}

/// Waits until an informer's store and its handlers have what the server has now.
pub(crate) async fn converged<K: Send + Sync + 'static>(
    informer: &SharedInformer<ObjectKey, K>,
    ledgers: &[&Ledger],
    expected: &Contents,
) {
    wait::until("the store has what the server has", LIMIT, async || {
        (contents(informer) == *expected).then_some(())
    })
    .await;
    wait::until("the handlers have heard of it", LIMIT, async || {
        ledgers
            .iter()
            .all(|ledger| ledger.held() == *expected)
            .then_some(())
    })
    .await;
}

/// The status of an informer's reflector.
pub(crate) fn reflector<K: Send + Sync + 'static>(
    informer: &SharedInformer<ObjectKey, K>,
) -> informer_reflector::Status {
    informer
        .status()
        .source
        .reflector
        .expect("its source is a reflector")
}

/// The state of an object as a write returned it.
pub(crate) fn written(object: &informer_core::Decoded<PartialMetadata>) -> String {
    state_of(&object.identity.stamp)
}

/// A small generator of numbers (splitmix64): the same seed, the same test.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % n
    }
}

/// An informer that runs, and what its handler was told.
pub(crate) type Followed = (
    SharedInformer<ObjectKey, DynamicObject>,
    Ledger,
    Running<ObjectKey, DynamicObject>,
);

/// Two informers of these objects, one for each way to start.
pub(crate) fn by_both_starts(
    api: impl Fn() -> Api<HyperTransport, DynamicObject, DynamicCodec>,
) -> [Followed; 2] {
    [Start::List, Start::StreamingList].map(|start| {
        let mut options = ReflectorOptions::default();
        options.start = start;
        let informer = SharedInformer::builder(api().source(Selectors::all()))
            .reflector_options(options)
            .build()
            .unwrap();
        let ledger = Ledger::default();
        informer
            .add_handler(ledger.clone(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        (informer, ledger, running)
    })
}
