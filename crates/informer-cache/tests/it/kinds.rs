//! The kinds of a cache: removed, told of, resynced.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_cache::{Cached, KindOptions};
use informer_client::{ReadClientExt, WriteClientExt, WriteOptions};
use informer_core::{Change, Clock, ObjectKey, TokioClock};
use informer_sharedinformer::{HandlerOptions, InformerId, MetricsRegistry, Phase};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use serde_json::json;

use crate::support::{World, configs, key, secs, sleep};

type Told = Arc<Mutex<Vec<String>>>;

fn told(kind: &Cached<ConfigMap>) -> Told {
    let told = Told::default();
    let telling = told.clone();
    kind.add_handler(
        move |change: &Change<ObjectKey, ConfigMap>| {
            let word = match change {
                Change::Added { .. } => "added",
                Change::Updated { .. } => "updated",
                Change::Removed { .. } => "removed",
                Change::Resynced { .. } => "resynced",
            };
            telling.lock().unwrap().push(format!("{word} {}", change.key()));
        },
        HandlerOptions::default(),
    )
    .unwrap();
    told
}

#[tokio::test(start_paused = true)]
async fn t20_who_depends_on_a_kind_is_told_of_its_removal() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let client = world.client(world.builder());
    let cache = client.cache().clone();
    let kind = cache.kind::<ConfigMap>().unwrap();
    let registration = kind
        .add_handler(|_: &Change<ObjectKey, ConfigMap>| {}, HandlerOptions::default())
        .unwrap();
    kind.wait_synced(secs(5)).await.unwrap();
    let hooked = Told::default();
    let hook = hooked.clone();
    cache.on_remove(move |resource| hook.lock().unwrap().push(resource.to_string()));
    assert!(cache.remove(&configs()).await && !cache.remove(&configs()).await);
    tokio::time::timeout(secs(1), kind.removed()).await.unwrap();
    tokio::time::timeout(secs(1), registration.removed())
        .await
        .unwrap();
    assert_eq!(*hooked.lock().unwrap(), ["configmaps"]);
    assert!(
        kind.add_handler(|_: &Change<ObjectKey, ConfigMap>| {}, HandlerOptions::default())
            .is_err()
    );
    assert!(cache.status().is_empty());
    // Who asks again has it again, and can add its handler there.
    assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_some());
    let told = told(&cache.kind().unwrap());
    client
        .create(&crate::own_writes::config("b"), &WriteOptions::default())
        .await
        .unwrap();
    sleep(secs(1)).await;
    assert_eq!(*told.lock().unwrap(), ["added default/a", "added default/b"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_is_told_of_the_removal() {
    let world = World::new();
    world.gate.hold("/api/v1/configmaps");
    let client = world.client(world.builder());
    let key = key("a");
    let mut reading = Box::pin(client.find::<ConfigMap>(&key));
    assert!(crate::support::waits(&mut reading).await);
    client.cache().remove(&configs()).await;
    let error = reading.await.unwrap_err();
    assert_eq!(error.to_string(), "configmaps were removed from the cache");
}

#[tokio::test(start_paused = true)]
async fn t24_handlers_are_resynced_every_ten_hours_or_so() {
    let hours = |n: u64| Duration::from_secs(n * 3600);
    let mut at = Vec::new();
    for seed in 0..8 {
        let world = World::new();
        world.config("default", "a", json!({}));
        let client = world.client(world.builder().seed(seed));
        let told = told(&client.cache().kind().unwrap());
        client.cache().wait_synced(secs(5)).await.unwrap();
        let begin = TokioClock.now();
        while !told.lock().unwrap().contains(&"resynced default/a".to_owned()) {
            sleep(Duration::from_secs(60)).await;
            assert!(TokioClock.now() - begin < hours(12), "no resync");
        }
        at.push(TokioClock.now() - begin);
    }
    let tolerance = Duration::from_secs(120);
    assert!(
        at.iter()
            .all(|at| *at > hours(9) - tolerance && *at < hours(11) + tolerance),
        "{at:?}"
    );
    assert!(
        at.iter().any(|it| it.abs_diff(at[0]) > Duration::from_secs(600)),
        "not spread: {at:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_kind_has_a_sync_period_of_its_own() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let options = KindOptions::<ConfigMap>::typed().sync_period(secs(60));
    let client = world.client(world.builder().kind(options));
    let told = told(&client.cache().kind().unwrap());
    sleep(secs(200)).await;
    let n = told
        .lock()
        .unwrap()
        .iter()
        .filter(|it| it.starts_with("resynced"))
        .count();
    assert!((2..=4).contains(&n), "{n}");
}

#[tokio::test(start_paused = true)]
async fn kinds_are_known_by_type_and_added_once() {
    let world = World::new();
    let cache = world.builder().build().unwrap();
    cache.add::<ConfigMap>(KindOptions::typed()).unwrap();
    let error = cache.add::<ConfigMap>(KindOptions::typed()).unwrap_err();
    assert_eq!(error.to_string(), "configmaps are cached already");
    assert!(
        cache
            .kind::<String>()
            .unwrap_err()
            .to_string()
            .contains("is not registered")
    );
    let status = &cache.status()[0].informers[0];
    assert_eq!((status.phase, &*status.name), (Phase::Idle, "configmaps"));
    let error = cache.wait_synced(secs(1)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "configmaps is not in sync after 1s: it was not started"
    );
    cache.start();
    cache.start();
    let informer = cache.informer::<ConfigMap>().unwrap();
    informer.wait_synced(secs(5)).await.unwrap();
    let running = cache.clone();
    let run = async move { running.run().await };
    let (_, ended) = tokio::join!(run, cache.shut_down());
    assert!(ended.still_running.is_empty() && informer.is_stopped());
    assert!(cache.add::<Pod>(KindOptions::typed()).is_err());
}

#[tokio::test(start_paused = true)]
async fn the_last_clone_that_is_dropped_stops_it() {
    let world = World::new();
    let client = world.client(world.builder());
    client.find::<Secret>(&key("a")).await.unwrap();
    let informer = client.cache().informer::<Secret>().unwrap();
    let cache = client.cache().clone();
    drop(client);
    assert!(!informer.is_stopped());
    drop(cache);
    assert!(informer.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn informers_are_measured_under_the_name_of_the_cache() {
    struct Nothing;
    impl informer_sharedinformer::Metrics for Nothing {}
    impl informer_sharedinformer::MetricsProvider for Nothing {
        fn informer(&self, _: &InformerId) -> Box<dyn informer_sharedinformer::Metrics> {
            Box::new(Self)
        }
    }
    let registry = MetricsRegistry::new(Nothing);
    let world = World::new();
    let client = world.client(world.builder().metrics(&registry, "main"));
    client.find::<ConfigMap>(&key("a")).await.unwrap();
    // The name is taken.
    let other = world.builder().metrics(&registry, "main").build().unwrap();
    let error = other.kind::<ConfigMap>().unwrap_err();
    assert!(error.to_string().contains("main"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_stores_weigh_is_told_without_being_asked_for() {
    type Bytes = Arc<Mutex<Vec<(String, Box<dyn Fn() -> u64 + Send + Sync>)>>>;

    struct Weighs(Bytes);

    impl informer_sharedinformer::MetricsProvider for Weighs {
        fn informer(&self, _: &InformerId) -> Box<dyn informer_sharedinformer::Metrics> {
            Box::new(())
        }

        fn store_bytes(&self, id: &InformerId, weigh: Box<dyn Fn() -> u64 + Send + Sync>) {
            self.0.lock().unwrap().push((id.to_string(), weigh));
        }
    }

    let world = World::new();
    for name in ["a", "b"] {
        world.config("default", name, json!({}));
    }
    let bytes = Bytes::default();
    let registry = MetricsRegistry::new(Weighs(bytes.clone()));
    let client = world.client(world.builder().metrics(&registry, "test"));
    let one = client.get::<ConfigMap>(&key("a")).await.unwrap();
    let length = serde_json::to_vec(&*one).unwrap().len() as u64;
    {
        let bytes = bytes.lock().unwrap();
        assert_eq!(bytes.len(), 1);
        assert_eq!(bytes[0].0, "test: configmaps");
        // Names and versions are of the same length.
        assert!(
            bytes[0].1().abs_diff(2 * length) < 10,
            "{} of {length} each",
            bytes[0].1()
        );
    }
    client.cache().shut_down().await;
    drop(client);
    assert_eq!(bytes.lock().unwrap()[0].1(), 0, "it keeps no store");
}
