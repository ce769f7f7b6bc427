//! Writers that create, change and delete at random, whatever happens to the server, and remember what they wrote.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use apiserver_tests::wait;
use informer_client::{Api, DeleteOptions, DynamicObject, Error, Patch, WriteOptions};
use informer_core::Resource;
use informer_hyper::HyperTransport;
use informer_transport::DynamicCodec;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{LIMIT, Random, TestClient};

const N_WRITERS: u64 = 3;
/// Between two writes of one writer, so that what follows them is not short of a processor.
const PAUSE: Duration = Duration::from_millis(8);

/// Where the number of the write stands in an object.
pub(crate) const SERIAL: &str = "/metadata/annotations/serial";

type Dynamic = Api<HyperTransport, DynamicObject, DynamicCodec>;

/// Writes to one collection. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Churn(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    api: Dynamic,
    n_keys: usize,
    namespace: String,
    stop: AtomicBool,
    serial: AtomicU64,
    n_done: AtomicUsize,
    n_deleted: AtomicUsize,
    n_failed: AtomicUsize,
    /// Key by serial: all that may have been written.
    attempts: Mutex<BTreeMap<u64, String>>,
    /// Key and serial by version: what the server said that it wrote.
    confirmed: Mutex<BTreeMap<String, (String, u64)>>,
}

impl Churn {
    /// Of as many objects as `n_keys` names allow.
    pub(crate) fn new(client: &TestClient, resource: Resource, namespace: &str, n_keys: usize) -> Self {
        Self(Arc::new(Shared {
            api: client.dynamic(resource).in_namespace(namespace),
            n_keys,
            namespace: namespace.to_owned(),
            stop: AtomicBool::new(false),
            serial: AtomicU64::new(0),
            n_done: AtomicUsize::new(0),
            n_deleted: AtomicUsize::new(0),
            n_failed: AtomicUsize::new(0),
            attempts: Mutex::default(),
            confirmed: Mutex::default(),
        }))
    }

    /// Creates an object of each name.
    pub(crate) async fn fill(&self) {
        let mut writers = JoinSet::new();
        for i in 0..self.0.n_keys {
            if writers.len() == 16 {
                writers.join_next().await.expect("there are some").unwrap();
            }
            let this = self.clone();
            writers.spawn(async move { this.write(&name(i), What::Create).await.unwrap() });
        }
        writers.join_all().await;
    }

    /// Goes on until [`stop`](Self::stop).
    pub(crate) fn start(&self) -> JoinSet<()> {
        let mut writers = JoinSet::new();
        for seed in 0..N_WRITERS {
            writers.spawn(self.clone().run(Random(seed)));
        }
        writers
    }

    pub(crate) async fn stop(&self, writers: JoinSet<()>) {
        self.0.stop.store(true, Ordering::SeqCst);
        writers.join_all().await;
    }

    /// Waits for so many more writes that worked.
    pub(crate) async fn wrote(&self, n: usize) {
        let goal = self.n_done() + n;
        wait::until("writes go on", LIMIT, async || {
            (self.n_done() >= goal).then_some(())
        })
        .await;
    }

    fn n_done(&self) -> usize {
        self.0.n_done.load(Ordering::SeqCst)
    }

    /// Attempts that met no server, or one that did not know what became of it.
    pub(crate) fn n_failed(&self) -> usize {
        self.0.n_failed.load(Ordering::SeqCst)
    }

    /// States of which the server said that it wrote them: key and serial by version.
    pub(crate) fn confirmed(&self) -> BTreeMap<String, (String, u64)> {
        self.0.confirmed.lock().unwrap().clone()
    }

    /// Whether this was tried to be written.
    pub(crate) fn attempted(&self, key: &str, serial: u64) -> bool {
        self.0
            .attempts
            .lock()
            .unwrap()
            .get(&serial)
            .is_some_and(|of| of == key)
    }

    async fn run(self, mut random: Random) {
        while !self.0.stop.load(Ordering::SeqCst) {
            let name = name(usize::try_from(random.below(self.0.n_keys as u64)).unwrap());
            let what = match random.below(6) {
                0 => What::Delete,
                1 | 2 => What::Create,
                _ => What::Change,
            };
            match self.write(&name, what).await {
                Ok(()) => _ = self.0.n_done.fetch_add(1, Ordering::SeqCst),
                // The server decided.
                Err(error) if matches!(error.code(), Some(404 | 405 | 409)) => {}
                Err(_) => _ = self.0.n_failed.fetch_add(1, Ordering::SeqCst),
            }
            wait::pace(PAUSE).await;
        }
    }

    async fn write(&self, name: &str, what: What) -> Result<(), Error> {
        let shared = &*self.0;
        let key = format!("{}/{name}", shared.namespace);
        if what == What::Delete {
            shared.api.delete(name, &DeleteOptions::default()).await?;
            shared.n_deleted.fetch_add(1, Ordering::SeqCst);
            return Ok(());
        }
        let serial = shared.serial.fetch_add(1, Ordering::SeqCst);
        shared.attempts.lock().unwrap().insert(serial, key.clone());
        let options = WriteOptions::default();
        let written = match what {
            What::Create => shared.api.create(&object(name, serial), &options).await?,
            _ => {
                let patch =
                    Patch::Merge(json!({"metadata": {"annotations": {"serial": serial.to_string()}}}));
                shared.api.patch(name, &patch, &options).await?
            }
        };
        let version = written.identity.stamp.version.as_str().to_owned();
        shared.confirmed.lock().unwrap().insert(version, (key, serial));
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Create,
    Change,
    Delete,
}

fn name(i: usize) -> String {
    format!("object-{i:05}")
}

fn object(name: &str, serial: u64) -> Value {
    json!({"metadata": {"name": name, "annotations": {"serial": serial.to_string()}}})
}

impl fmt::Display for Churn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} names, {} writes, {} of them deletes, {} attempts failed",
            self.0.n_keys,
            self.n_done(),
            self.0.n_deleted.load(Ordering::SeqCst),
            self.n_failed()
        )
    }
}
