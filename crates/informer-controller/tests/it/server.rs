//! Against the model of an API server that fails, in virtual time: what the controller writes ends as it should.

use std::collections::BTreeMap;

use informer_client::{Api, Client, DeleteOptions, Selectors, WriteOptions};
use informer_controller::{Action, Attempt, Controller, InformerSource, Reconciler, map_fn};
use informer_core::{Entry, ObjectKey, Resource, TokioClock};
use informer_sharedinformer::{Lister, SharedInformer};
use informer_testkit::{ApiError, FakeApi, FakeTransport, Fault, On, Rng, SharedApi};
use informer_transport::JsonCodec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{ms, secs, sleep};

#[derive(Debug, Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: BTreeMap<String, String>,
}

/// Keeps a copy of each ConfigMap of `default` in `backup`, reading from a cache that may be behind.
struct Copier {
    cached: Lister<ObjectKey, ConfigMap>,
    copies: Api<FakeTransport<TokioClock>, ConfigMap, JsonCodec<ConfigMap>>,
}

impl Reconciler<ObjectKey> for Copier {
    type Error = informer_client::Error;

    async fn reconcile(&self, original: ObjectKey, attempt: Attempt) -> Result<Action, Self::Error> {
        assert_eq!(attempt.last_error.is_some(), attempt.number > 1);
        let name = original.name();
        let copy = self.cached.get(&ObjectKey::namespaced("backup", name));
        let options = WriteOptions::default();
        match (self.cached.get(&original), copy) {
            (None, Some(_)) => {
                self.copies.delete(name, &DeleteOptions::default()).await?;
            }
            (Some(wanted), None) => {
                self.copies.create(&copy_of(name, &wanted), &options).await?;
            }
            (Some(wanted), Some(copy)) if wanted.data != copy.data => {
                self.copies
                    .replace(name, &copy_of(name, &wanted), &options)
                    .await?;
            }
            _ => {}
        }
        Ok(Action::Done)
    }
}

fn copy_of(name: &str, original: &ConfigMap) -> Value {
    json!({"metadata": {"name": name, "namespace": "backup"}, "data": original.data})
}

fn original(entry: &Entry<ObjectKey, ConfigMap>) -> Option<ObjectKey> {
    matches!(entry.key.namespace(), Some("default" | "backup"))
        .then(|| ObjectKey::namespaced("default", entry.key.name()))
}

fn faults() -> Vec<Fault> {
    vec![
        Fault::HangUp,
        Fault::Refused,
        Fault::Delay(ms(700)),
        Fault::Status(ApiError::internal("by design")),
        Fault::Status(ApiError::too_many_requests("by design", 1)),
    ]
}

async fn converges(seed: u64) {
    let kind = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let mut api = FakeApi::with_builtins();
    let namespaces = Resource::cluster("", "v1", "namespaces", "Namespace");
    api.create(&namespaces, json!({"metadata": {"name": "backup"}}))
        .unwrap();
    let api = SharedApi::new(api, TokioClock);
    let maps = Client::new(FakeTransport::new(api.clone())).objects::<ConfigMap>(kind.clone());
    let informer = SharedInformer::builder(maps.source(Selectors::all()))
        .build()
        .unwrap();
    let controller = Controller::builder("copier")
        .source(InformerSource::new(&informer, map_fn(original)))
        .reconciler(Copier {
            cached: informer.lister(),
            copies: maps.in_namespace("backup"),
        })
        .concurrency(4)
        .build()
        .unwrap();
    let informing = informer.spawn().unwrap();
    let running = controller.spawn().unwrap();

    let mut random = Rng::new(seed);
    api.with(|api| {
        api.faults().chaos(seed, 0.3, On::any(), faults());
    });
    for turn in 0..300 {
        let name = format!("map-{}", random.range(0..8));
        // Also somebody who meddles with the copies.
        let namespace = if random.chance(0.2) { "backup" } else { "default" };
        api.with(|api| {
            if random.chance(0.3) {
                let _absent = api.delete(&kind, Some(namespace), &name);
            } else {
                let metadata = json!({"name": name, "namespace": namespace});
                let _refused = api.put(
                    &kind,
                    json!({"metadata": metadata, "data": {"turn": turn.to_string()}}),
                );
            }
        });
        sleep(ms(random.range(0..400))).await;
    }
    api.with(|api| {
        api.faults().clear();
    });
    sleep(secs(600)).await;

    let counts = controller.status().counts;
    assert!(counts.failed > 0 && counts.succeeded > 50, "{counts:?}");
    let of = |namespace: &str| {
        let all = api.with(|api| api.all(&kind));
        let ours = all
            .into_iter()
            .filter(|map| map["metadata"]["namespace"] == namespace);
        ours.map(|map| (map["metadata"]["name"].to_string(), map["data"].clone()))
            .collect::<Vec<_>>()
    };
    assert!(!of("default").is_empty());
    assert_eq!(of("backup"), of("default"), "seed {seed}");
    assert!(running.stop().await.unwrap().left.is_empty());
    informing.stop().await;
}

#[tokio::test(start_paused = true)]
async fn copies_converge_though_a_third_of_the_requests_fail() {
    for seed in 1..=3 {
        converges(seed).await;
    }
}
