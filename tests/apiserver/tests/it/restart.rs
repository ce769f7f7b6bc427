//! kube-apiserver is killed by signal 9 and started again while writes go on.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use apiserver_tests::{Login, wait};
use informer_client::{DeleteOptions, Error, Patch, Selectors, WriteOptions};
use informer_hyper::HttpVersion;
use informer_sharedinformer::{HandlerOptions, SharedInformer};
use serde_json::json;

use crate::ledger::{Ledger, Told};
use crate::support::{
    ConfigMap, LIMIT, Random, TestClient, admin, config_map, config_maps, connect, converged, fill,
    namespace, own, reflector, server_contents, written,
};

const N_KEYS: u64 = 40;
/// Writes between one event and the next.
const N_WRITES: usize = 150;

#[tokio::test(flavor = "multi_thread")]
async fn killed_and_started_again_while_writes_go_on() {
    // By default an orderly end waits a minute for watches that nobody ends.
    let plane = own(&["--shutdown-watch-termination-grace-period=1s"]).await;
    let namespace = namespace(&plane, "restart");
    fill(&admin(&plane), &namespace, 20, 10).await;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");

    // One in each version of HTTP: they lose their connections in different ways.
    let informers = [HttpVersion::Http1, HttpVersion::Http2].map(|version| {
        let client = connect(&plane, Login::Token, version, None);
        let source = client
            .objects::<ConfigMap>(config_maps())
            .in_namespace(&namespace)
            .source(Selectors::all());
        let informer = SharedInformer::builder(source).build().unwrap();
        let ledgers = [Ledger::default(), Ledger::default()];
        informer
            .add_handler(ledgers[0].clone(), HandlerOptions::default())
            .unwrap();
        informer
            .add_blocking_handler(ledgers[1].clone(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        (informer, ledgers, running)
    });
    for (informer, ..) in &informers {
        informer.wait_synced(LIMIT).await.unwrap();
    }

    let writer = Writer::default();
    let writing = writer.clone().run(admin(&plane), namespace.clone());
    let disturbing = async {
        // By signal 9, and once more in an orderly way, which ends watches differently.
        for kill in [true, false] {
            writer.wrote(N_WRITES).await;
            let plane = plane.clone();
            tokio::task::spawn_blocking(move || {
                match kill {
                    true => plane.kill_apiserver(),
                    false => plane.end_apiserver().unwrap(),
                }
                plane.start_apiserver().unwrap();
            })
            .await
            .unwrap();
        }
        writer.wrote(N_WRITES).await;
        writer.stop.store(true, Ordering::SeqCst);
    };
    let (n_failed, ()) = tokio::join!(writing, disturbing);
    assert!(n_failed > 0, "no write met a server that was down");

    let expected = server_contents(&plane, &path);
    for (informer, ledgers, _) in &informers {
        converged(informer, &[&ledgers[0], &ledgers[1]], &expected).await;
        let status = reflector(informer);
        assert!(
            status.watches > 1 && status.last_error.is_some(),
            "it noticed nothing: {status:?}"
        );
        // Both were told the same, each state once and in order.
        assert_eq!(ledgers[0].told(), ledgers[1].told());
        ledgers[0].assert_sound();
        let states = states(&ledgers[0]);
        assert_eq!(
            states.iter().collect::<BTreeSet<_>>().len(),
            states.len(),
            "a state was told twice"
        );
        // And no state that the server confirmed is missing, or out of order. A new server can serve a resume unless something else was
        // written after the informer's last event and before the kill; only the relist that then follows may leave out a state in between.
        let mut rest = states.iter();
        let mut confirmed = writer.confirmed().into_iter();
        let missing = confirmed.find(|state| !rest.any(|told| told == state));
        assert!(missing.is_none() || status.relists > 0, "{missing:?} is missing");
    }
    for (_, _, running) in informers {
        running.stop().await;
    }
}

/// The states of objects that a handler was told after the first list, in order.
fn states(ledger: &Ledger) -> Vec<(String, String)> {
    let state = |told| match told {
        Told::Added {
            key,
            state,
            initial: false,
        }
        | Told::Updated { key, new: state, .. } => Some((key, state)),
        _ => None,
    };
    ledger.told().into_iter().filter_map(state).collect()
}

/// Writes at random until it is stopped, trying each write again until it is done. Clones are the same writer.
#[derive(Debug, Clone, Default)]
struct Writer {
    n_done: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    /// Keys with their states, in order.
    confirmed: Arc<Mutex<Vec<(String, String)>>>,
}

impl Writer {
    /// Returns how many attempts failed for the lack of a server.
    async fn run(self, client: TestClient, namespace: String) -> usize {
        let (mut random, mut n_failed) = (Random(3), 0);
        while !self.stop.load(Ordering::SeqCst) {
            let name = format!("object-{:05}", random.below(N_KEYS));
            let (what, value) = (random.below(4), random.below(1_000_000));
            wait::until("a write is done", LIMIT, async || {
                match write(&client, &namespace, &name, what, value).await {
                    Ok(state) => {
                        let key = format!("{namespace}/{name}");
                        self.confirmed
                            .lock()
                            .unwrap()
                            .extend(state.map(|state| (key, state)));
                        Some(())
                    }
                    // The server decided.
                    Err(error) if matches!(error.code(), Some(404 | 409)) => Some(()),
                    Err(_) => {
                        n_failed += 1;
                        None
                    }
                }
            })
            .await;
            self.n_done.fetch_add(1, Ordering::SeqCst);
        }
        n_failed
    }

    fn confirmed(&self) -> Vec<(String, String)> {
        self.confirmed.lock().unwrap().clone()
    }

    /// Waits for so many more writes.
    async fn wrote(&self, n: usize) {
        let goal = self.n_done.load(Ordering::SeqCst) + n;
        wait::until("writes go on", LIMIT, async || {
            (self.n_done.load(Ordering::SeqCst) >= goal).then_some(())
        })
        .await;
    }
}

/// Returns the state that was written, if one was.
async fn write(
    client: &TestClient,
    namespace: &str,
    name: &str,
    what: u64,
    value: u64,
) -> Result<Option<String>, Error> {
    let api = client.metadata(config_maps()).in_namespace(namespace);
    let options = WriteOptions::default();
    match what {
        0 => api.delete(name, &DeleteOptions::default()).await.map(|_| None),
        1 => {
            let object = config_map(name, &value.to_string());
            api.create(&object, &options)
                .await
                .map(|object| Some(written(&object)))
        }
        _ => {
            let patch = Patch::Merge(json!({"data": {"value": value.to_string()}}));
            api.patch(name, &patch, &options)
                .await
                .map(|object| Some(written(&object)))
        }
    }
}
