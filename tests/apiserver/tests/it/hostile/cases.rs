//! The bug cases of transports, end to end: over TLS, in both versions of HTTP, before both servers.

use std::time::Duration;

use apiserver_tests::wait;
use informer_client::{Patch, Selectors, WriteOptions};
use informer_core::{ObjectKey, Resource, Store as _};
use informer_hyper::HttpVersion;
use informer_reflector::Start;
use informer_sharedinformer::SharedInformer;
use informer_testkit::hostile::{Course, Fate, Manner};
use serde_json::{Value, json};

use super::stage::{Stage, VERSIONS};
use crate::loops::follower::Follower;
use crate::support::{ConfigMap, LIMIT, TestClient, config_map, config_maps};

pub(super) fn key(stage: &Stage, name: &str) -> ObjectKey {
    ObjectKey::new(Some(&stage.namespace), name)
}

pub(super) async fn create(stage: &Stage, object: Value) {
    let api = stage.direct.dynamic(config_maps()).in_namespace(&stage.namespace);
    api.create(&object, &WriteOptions::default()).await.unwrap();
}

pub(super) async fn change(stage: &Stage, name: &str, value: &str) {
    let api = stage.direct.dynamic(config_maps()).in_namespace(&stage.namespace);
    let patch = Patch::Merge(json!({"data": {"value": value}}));
    api.patch(name, &patch, &WriteOptions::default()).await.unwrap();
}

fn informer(stage: &Stage, client: &TestClient) -> SharedInformer<ObjectKey, ConfigMap> {
    let api = client
        .objects::<ConfigMap>(config_maps())
        .in_namespace(&stage.namespace);
    SharedInformer::builder(api.source(Selectors::all()))
        .build()
        .unwrap()
}

/// Waits until the store has this value.
async fn has(informer: &SharedInformer<ObjectKey, ConfigMap>, key: &ObjectKey, value: &str) {
    let what = format!("{key} is as it was written");
    wait::until(&what, LIMIT, async || {
        let snapshot = informer.store().snapshot();
        let entry = snapshot.get(key)?;
        (entry.object.data.get("value").map(String::as_str) == Some(value)).then_some(())
    })
    .await;
}

pub(super) async fn sees(follower: &Follower, key: &ObjectKey, value: &str) {
    let what = format!("{follower} sees {key}");
    wait::until(&what, LIMIT, async || {
        let snapshot = follower.informer.store().snapshot();
        let entry = snapshot.get(key)?;
        (entry.object.text("/data/value") == Some(value)).then_some(())
    })
    .await;
}

/// Characters of two, three and four bytes, so that a cut is likely within one.
const MIXED: &str = "é☃𝄞ÿ€😀";

#[tokio::test(flavor = "multi_thread")]
async fn tr_01_a_chunk_may_end_inside_a_character() {
    for stage in Stage::both("tr-01").await {
        let bytewise = Manner::Same(Course::default().in_pieces(1));
        match stage.embedded_server() {
            // Each byte in a TLS record of its own.
            Some(embedded) => embedded.inside.behave(bytewise).await,
            None => stage.proxy.behave(bytewise).await,
        }
        for i in 0..3 {
            create(&stage, config_map(&format!("c-{i}"), &MIXED.repeat(5))).await;
        }
        for version in VERSIONS {
            let client = stage.patient_client(version);
            let informer = informer(&stage, &client);
            let running = informer.spawn().unwrap();
            informer.wait_synced(LIMIT).await.unwrap();
            for i in 0..3 {
                has(&informer, &key(&stage, &format!("c-{i}")), &MIXED.repeat(5)).await;
            }
            for n in [1, 7, 20] {
                let value = format!("{version:?}{}", MIXED.repeat(n));
                change(&stage, "c-1", &value).await;
                has(&informer, &key(&stage, "c-1"), &value).await;
            }
            change(&stage, "c-1", &MIXED.repeat(5)).await;
            assert!(running.stop().await.still_running.is_empty());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tr_02_large_frames_among_small_ones() {
    for stage in Stage::both("tr-02").await {
        stage
            .proxy
            .behave(Manner::Same(Course::default().in_pieces(4096)))
            .await;
        let mut sizes = vec![(64 << 10) - 1, 64 << 10, 900 << 10];
        for version in VERSIONS {
            let client = stage.client(version);
            let informer = informer(&stage, &client);
            let running = informer.spawn().unwrap();
            informer.wait_synced(LIMIT).await.unwrap();
            for (i, size) in sizes.iter().enumerate() {
                let name = format!("large-{version:?}-{i}").to_lowercase();
                create(&stage, config_map(&name, &"x".repeat(*size))).await;
                let small = format!("small-{version:?}-{i}").to_lowercase();
                create(&stage, config_map(&small, "y")).await;
                has(&informer, &key(&stage, &small), "y").await;
                has(&informer, &key(&stage, &name), &"x".repeat(*size)).await;
            }
            // Larger than a real server takes.
            if let Some(embedded) = stage.embedded_server() {
                let resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
                let name = format!("huge-{version:?}").to_lowercase();
                let mut object = config_map(&name, &"z".repeat(8 << 20));
                object["metadata"]["namespace"] = json!(stage.namespace);
                embedded.server.with(|api| api.create(&resource, object)).unwrap();
                has(&informer, &key(&stage, &name), &"z".repeat(8 << 20)).await;
            }
            assert!(running.stop().await.still_running.is_empty());
            sizes.truncate(3);
        }
    }
}

/// Several watches on one connection of HTTP/2, which goes silent. Pings are a thirtieth of what they are as a rule, so that 45 s are two.
#[tokio::test(flavor = "multi_thread")]
async fn tr_03_a_silent_connection_is_found_out_and_left() {
    for stage in Stage::both("tr-03").await {
        create(&stage, config_map("a", "before")).await;
        let client = stage.client(HttpVersion::Http2);
        let followers: Vec<_> = (0..5)
            .map(|i| stage.follow(&client, Start::List, &format!("number {i}")))
            .collect();
        for follower in &followers {
            follower.watches().await;
            sees(follower, &key(&stage, "a"), "before").await;
        }
        assert_eq!(stage.proxy.n_open(), 1, "they share one");
        let lists: Vec<_> = followers.iter().map(|follower| follower.status().lists).collect();
        stage.proxy.end_all(Fate::HalfOpen).await;
        change(&stage, "a", "after").await;
        // A request that meets the dead connection does not wait behind it for longer than it takes to find it out.
        let api = client.dynamic(config_maps()).in_namespace(&stage.namespace);
        let object = api.get("a").await.unwrap();
        assert_eq!(object.object.text("/data/value"), Some("after"));
        for follower in &followers {
            sees(follower, &key(&stage, "a"), "after").await;
        }
        let lists_after: Vec<_> = followers.iter().map(|follower| follower.status().lists).collect();
        assert_eq!(lists_after, lists, "{}: the watches resumed", stage.name());
        for follower in followers {
            follower.stop().await;
        }
    }
}

/// A balancer that resets what is silent.
#[tokio::test(flavor = "multi_thread")]
async fn tr_04_a_quiet_watch_that_is_reset_resumes_and_nobody_notices() {
    for stage in Stage::both("tr-04").await {
        create(&stage, config_map("a", "0")).await;
        for version in VERSIONS {
            let client = stage.client(version);
            let follower = stage.follow(&client, Start::List, &format!("{version:?}"));
            sees(&follower, &key(&stage, "a"), "0").await;
            // Seen by a watch, not by the LIST before it.
            change(&stage, "a", "1").await;
            sees(&follower, &key(&stage, "a"), "1").await;
            wait::until("its handler is told", LIMIT, async || {
                (follower.n_told() >= 2).then_some(())
            })
            .await;
            let before = (follower.status(), follower.n_told());
            let fates = [Fate::Reset, Fate::Cut, Fate::Reset];
            for (i, fate) in fates.into_iter().enumerate() {
                // What was seen last came over the connection that ends now.
                stage.proxy.end_all(fate).await;
                let value = format!("{version:?} {i}");
                change(&stage, "a", &value).await;
                sees(&follower, &key(&stage, "a"), &value).await;
            }
            let after = follower.status();
            assert_eq!(after.lists, before.0.lists, "no LIST was needed");
            assert!(after.watches >= before.0.watches + 3, "each was resumed");
            // Its handler may be a moment behind the store.
            wait::until("its handler is told", LIMIT, async || {
                (follower.n_told() >= before.1 + 3).then_some(())
            })
            .await;
            assert_eq!(follower.n_told(), before.1 + 3, "of three changes, each once");
            change(&stage, "a", "0").await;
            follower.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tr_05_many_reflectors_survive_an_outage_without_a_list() {
    for stage in Stage::both("tr-05").await {
        create(&stage, config_map("a", "before")).await;
        let clients = VERSIONS.map(|version| stage.client(version));
        let followers: Vec<_> = (0..40)
            .map(|i| stage.follow(&clients[i % 2], Start::List, &format!("number {i}")))
            .collect();
        for follower in &followers {
            follower.watches().await;
            sees(follower, &key(&stage, "a"), "before").await;
        }
        let lists: u64 = followers.iter().map(|follower| follower.status().lists).sum();
        stage.proxy.refuse().await;
        for follower in &followers {
            wait::until("it has nobody to talk to", LIMIT, async || {
                follower.status().trouble().is_some().then_some(())
            })
            .await;
        }
        change(&stage, "a", "after").await;
        stage.proxy.accept().await.unwrap();
        for follower in &followers {
            sees(follower, &key(&stage, "a"), "after").await;
            follower.watches().await;
        }
        let lists_after: u64 = followers.iter().map(|follower| follower.status().lists).sum();
        assert_eq!(lists_after, lists, "{}: the watches resumed", stage.name());
        for follower in followers {
            follower.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tr_06_an_informer_has_one_watch_through_outages_and_none_after_its_end() {
    let stage = Stage::embedded().await;
    let embedded = stage.embedded_server().expect("it is");
    let n_watches = || embedded.server.with(|api| api.n_watches());
    create(&stage, config_map("a", "before")).await;
    for version in VERSIONS {
        let client = stage.client(version);
        let follower = stage.follow(&client, Start::StreamingList, &format!("{version:?}"));
        assert!(follower.informer.spawn().is_err(), "a second start is refused");
        for round in 0..25 {
            // What is seen comes over a watch that stands, and which is the only one as soon as the server hears of the end of the last.
            let value = format!("{version:?} {round}");
            change(&stage, "a", &value).await;
            sees(&follower, &key(&stage, "a"), &value).await;
            wait::until("it has one watch", LIMIT, async || {
                (n_watches() == 1).then_some(())
            })
            .await;
            let fate = if round % 2 == 0 { Fate::Cut } else { Fate::Reset };
            stage.proxy.end_all(fate).await;
        }
        let watches = follower.status().watches;
        assert!((25..=60).contains(&watches), "{watches} watches in 25 outages");
        follower.stop().await;
        wait::until("its watch has ended", LIMIT, async || {
            (n_watches() == 0).then_some(())
        })
        .await;
    }
    // Nothing is left that could start another one.
    wait::pace(Duration::from_millis(200)).await;
    assert_eq!(n_watches(), 0);
}
