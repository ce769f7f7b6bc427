//! T37 to T43: dry runs, selectors, namespaces, before the start, deletes of what is not cached, chains, incarnations; deadlines, memory.

use std::sync::Arc;

use informer_cache::{CacheErrorKind, KindOptions, ReadYourWrites, Selecting};
use informer_client::{
    DeleteOptions, DryRun, ListOptions, Patch, ReadClientExt, WriteClientExt, WriteOptions,
};
use informer_core::ObjectKey;
use informer_testkit::{ApiError, Fault, On, Options, Verb};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use serde_json::json;

use crate::{
    own_writes::config,
    support::{World, configs, key, namespaces, secs, sleep, waits},
};

fn options() -> WriteOptions {
    WriteOptions::default()
}

fn labelled(name: &str, tier: &str) -> ConfigMap {
    let mut config = config(name);
    config.metadata.labels = Some([("tier".to_owned(), tier.to_owned())].into());
    config
}

/// A client whose watches are held back.
async fn behind(world: &World) -> ReadYourWrites {
    let client = world.client(world.builder()).read_your_writes();
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    world.gate.hold("/");
    client
}

#[tokio::test(start_paused = true)]
async fn t37_dry_runs_are_not_waited_for() {
    let world = World::new();
    world.config("default", "kept", json!({}));
    let client = behind(&world).await;
    let dry = DryRun::new(client.clone());
    dry.create(&config("a"), &options()).await.unwrap();
    client.create(&config("b"), &options().dry_run()).await.unwrap();
    dry.delete::<ConfigMap>(&key("kept"), &DeleteOptions::default())
        .await
        .unwrap();
    client
        .delete::<ConfigMap>(&key("kept"), &DeleteOptions::default().dry_run())
        .await
        .unwrap();
    let patch = Patch::Merge(json!({"data": {"key": "new"}}));
    dry.patch::<ConfigMap>(&key("kept"), patch, &options())
        .await
        .unwrap();
    assert_eq!(client.n_pending(&configs()), 0);
    let list = tokio::time::timeout(secs(1), client.list::<ConfigMap>(&ListOptions::all())).await;
    assert_eq!(list.unwrap().unwrap().names(), ["default/kept"]);
}

#[tokio::test(start_paused = true)]
async fn t38_writes_outside_the_selector_are_not_waited_for() {
    let world = World::new();
    let selecting = Selecting::inherit().labels("tier=x");
    let builder = world
        .builder()
        .kind::<ConfigMap>(KindOptions::typed().selecting(selecting));
    let client = world.client(builder).read_your_writes();
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    client.create(&labelled("out", "y"), &options()).await.unwrap();
    let soon = |client: ReadYourWrites, name: &'static str| async move {
        let key = key(name);
        let found = tokio::time::timeout(secs(1), client.find::<ConfigMap>(&key))
            .await
            .unwrap();
        let list = tokio::time::timeout(secs(1), client.list::<ConfigMap>(&ListOptions::all()))
            .await
            .unwrap();
        let list = list.unwrap();
        let names: Vec<String> = list.names().iter().map(ToString::to_string).collect();
        (found.unwrap().is_some(), names)
    };
    assert_eq!(soon(client.clone(), "out").await, (false, vec![]));
    client.create(&labelled("in", "x"), &options()).await.unwrap();
    assert_eq!(
        soon(client.clone(), "in").await,
        (true, vec!["default/in".to_owned()])
    );
    // One that leaves the selector is waited out, though it was never seen in its last state.
    world.gate.hold("/");
    let patch = Patch::Merge(json!({"metadata": {"labels": {"tier": "y"}}}));
    client
        .patch::<ConfigMap>(&key("in"), patch, &options())
        .await
        .unwrap();
    let wanted = key("in");
    let mut reading = Box::pin(client.find::<ConfigMap>(&wanted));
    assert!(waits(&mut reading).await);
    world.gate.release();
    assert!(reading.await.unwrap().is_none());
    // Created in, changed out, and the watch is behind both: it must not show up in between.
    world.gate.hold("/");
    client.create(&labelled("brief", "x"), &options()).await.unwrap();
    let patch = Patch::Merge(json!({"metadata": {"labels": {"tier": "y"}}}));
    client
        .patch::<ConfigMap>(&key("brief"), patch, &options())
        .await
        .unwrap();
    assert_eq!(soon(client.clone(), "brief").await, (false, vec![]));
    world.gate.release();
    assert_eq!(soon(client.clone(), "brief").await, (false, vec![]));
}

#[tokio::test(start_paused = true)]
async fn t38_selectors_of_fields_count_too() {
    let world = World::new();
    let selecting = Selecting::inherit().fields("metadata.name!=out");
    let builder = world
        .builder()
        .kind::<ConfigMap>(KindOptions::typed().selecting(selecting));
    let client = world.client(builder).read_your_writes();
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    client.create(&config("out"), &options()).await.unwrap();
    let wanted = key("out");
    let read = tokio::time::timeout(secs(1), client.find::<ConfigMap>(&wanted))
        .await
        .unwrap();
    assert!(read.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn t39_a_fast_namespace_says_nothing_of_a_slow_one() {
    let world = World::new();
    for selecting in [
        Selecting::inherit().namespaces(["fast", "slow"]),
        Selecting::inherit(),
    ] {
        let named = selecting.namespaces.is_some();
        for namespace in ["fast", "slow"] {
            world.config(namespace, "a", json!({}));
        }
        let client = world
            .client(world.builder().defaults(selecting))
            .read_your_writes();
        client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
        if named {
            world.gate.hold("/api/v1/namespaces/slow/");
        } else {
            world.gate.hold("/");
        }
        let (slow, fast) = (
            ObjectKey::namespaced("slow", "a"),
            ObjectKey::namespaced("fast", "a"),
        );
        let patch = |value: &str| Patch::Merge(json!({"data": {"key": value}}));
        client
            .patch::<ConfigMap>(&slow, patch("new"), &options())
            .await
            .unwrap();
        client
            .patch::<ConfigMap>(&fast, patch("new"), &options())
            .await
            .unwrap();
        let mut of_slow = Box::pin(client.find::<ConfigMap>(&slow));
        let all = ListOptions::all();
        let mut of_all = Box::pin(client.list::<ConfigMap>(&all));
        let mut of_fast = Box::pin(client.find::<ConfigMap>(&fast));
        assert_eq!(waits(&mut of_fast).await, !named);
        assert!(waits(&mut of_slow).await && waits(&mut of_all).await);
        world.gate.release();
        assert_eq!(
            of_slow.await.unwrap().unwrap().data.as_ref().unwrap()["key"],
            "new"
        );
        assert_eq!(of_all.await.unwrap().entries.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn t40_writes_before_the_start_are_done_and_seen_after_it() {
    let world = World::new();
    let cache = world.builder().build().unwrap();
    let client = informer_cache::CachedClient::new(cache.clone()).read_your_writes();
    tokio::time::timeout(secs(1), client.create(&config("a"), &options()))
        .await
        .unwrap()
        .unwrap();
    let error = client.find::<ConfigMap>(&key("a")).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::NotStarted);
    cache.start();
    assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_some());
    assert_eq!(client.n_pending(&configs()), 0);
}

#[tokio::test(start_paused = true)]
async fn t41_a_delete_of_what_is_not_cached_is_asked_of_the_server() {
    let world = World::new();
    let client = behind(&world).await;
    // Somebody else makes it, and the cache has not heard of it.
    world.config("default", "a", json!({}));
    client
        .delete::<ConfigMap>(&key("a"), &DeleteOptions::default())
        .await
        .unwrap();
    assert!(
        world
            .api
            .with(|api| api.get(&configs(), Some("default"), "a"))
            .is_err()
    );
    let error = client
        .delete::<ConfigMap>(&key("a"), &DeleteOptions::default())
        .await
        .unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(
        world
            .api
            .with(|api| api.request_log().of(Verb::Delete, "configmaps").count()),
        2
    );
    // It is not there, and does not come up when the cache hears of its creation.
    assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_none());
    world.gate.release();
    for _ in 0..100 {
        assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_none());
        tokio::task::yield_now().await;
    }
    // A later write says that the delete is over.
    assert_eq!(client.n_pending(&configs()), 1);
    client.create(&config("b"), &options()).await.unwrap();
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    assert_eq!(client.n_pending(&configs()), 0);
}

#[tokio::test(start_paused = true)]
async fn t42_reads_wait_for_writes_under_way_before_them_and_for_no_later_ones() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let client = Arc::new(world.client(world.builder()).read_your_writes());
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    world.api.with(|api| {
        api.faults().once(On::verb(Verb::Patch), Fault::Delay(secs(5)));
        api.faults().once(On::verb(Verb::Patch), Fault::Delay(secs(25)));
    });
    let patch = |value: &str| Patch::Merge(json!({"data": {"key": value}}));
    let (wanted, other) = (key("a"), key("b"));
    let options = options();
    let mut first = Box::pin(client.patch::<ConfigMap>(&wanted, patch("first"), &options));
    assert!(waits(&mut first).await);
    let mut early = Box::pin(client.find::<ConfigMap>(&wanted));
    let all = ListOptions::all();
    let mut early_list = Box::pin(client.list::<ConfigMap>(&all));
    assert!(waits(&mut early).await && waits(&mut early_list).await);
    // Another key is not waited for.
    assert!(client.find::<ConfigMap>(&other).await.unwrap().is_none());
    let mut second = Box::pin(client.patch::<ConfigMap>(&wanted, patch("second"), &options));
    assert!(waits(&mut second).await);
    let mut late = Box::pin(client.find::<ConfigMap>(&wanted));
    let value = |config: &ConfigMap| config.data.as_ref().unwrap()["key"].clone();
    tokio::select! {
        biased;
        _ = &mut late => panic!("the later read did not wait for the later write"),
        _ = &mut second => panic!("the later write is slow"),
        done = async {
            first.await.unwrap();
            (early.await.unwrap().unwrap(), early_list.await.unwrap())
        } => {
            assert_eq!((value(&done.0), done.1.entries.len()), ("first".to_owned(), 1));
        }
    }
    second.await.unwrap();
    assert_eq!(value(&late.await.unwrap().unwrap()), "second");
}

#[tokio::test(start_paused = true)]
async fn t42_a_write_that_is_dropped_or_fails_is_not_waited_for() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let client = world.client(world.builder()).read_your_writes();
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    world.api.with(|api| {
        api.faults().once(On::verb(Verb::Patch), Fault::Delay(secs(1000)));
        api.faults().once(
            On::verb(Verb::Patch),
            Fault::Status(ApiError::internal("by design")),
        );
    });
    let patch = || Patch::Merge(json!({"data": {"key": "new"}}));
    let (wanted, plain) = (key("a"), options());
    let mut slow = Box::pin(client.patch::<ConfigMap>(&wanted, patch(), &plain));
    assert!(waits(&mut slow).await);
    let mut reading = Box::pin(client.find::<ConfigMap>(&wanted));
    assert!(waits(&mut reading).await);
    drop(slow);
    assert!(!waits(&mut reading).await);
    client
        .patch::<ConfigMap>(&wanted, patch(), &plain)
        .await
        .unwrap_err();
    assert!(client.find::<ConfigMap>(&wanted).await.unwrap().is_some());
    assert_eq!(client.n_pending(&configs()), 0);
}

#[tokio::test(start_paused = true)]
async fn t43_an_object_that_is_made_anew_is_the_new_one() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let client = behind(&world).await;
    let old = client.client().get::<ConfigMap>(&key("a")).await.unwrap();
    client
        .delete::<ConfigMap>(&key("a"), &DeleteOptions::default())
        .await
        .unwrap();
    let made = client.create(&config("a"), &options()).await.unwrap();
    let wanted = key("a");
    let mut reading = Box::pin(client.find::<ConfigMap>(&wanted));
    assert!(waits(&mut reading).await);
    world.gate.release();
    let read = reading.await.unwrap().unwrap();
    assert_eq!(read.metadata.uid, made.metadata.uid);
    assert_ne!(read.metadata.uid, old.metadata.uid);
    // Somebody else makes it anew after our delete: that one is not waited out.
    world.gate.hold("/");
    client
        .delete::<ConfigMap>(&key("a"), &DeleteOptions::default())
        .await
        .unwrap();
    world.config("default", "a", json!({}));
    let mut reading = Box::pin(client.find::<ConfigMap>(&wanted));
    assert!(waits(&mut reading).await);
    world.gate.release();
    let read = reading.await.unwrap();
    // Between the delete and what came after it there was nothing.
    assert!(read.is_none_or(|read| read.metadata.uid != made.metadata.uid));
}

#[tokio::test(start_paused = true)]
async fn names_that_the_server_makes_are_waited_for() {
    let world = World::new();
    let client = behind(&world).await;
    let mut config = config("");
    config.metadata.name = None;
    config.metadata.generate_name = Some("gen-".to_owned());
    let made = client.create(&config, &options()).await.unwrap();
    let wanted = key(made.metadata.name.as_deref().unwrap());
    let mut reading = Box::pin(client.find::<ConfigMap>(&wanted));
    assert!(waits(&mut reading).await);
    world.gate.release();
    assert!(reading.await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_being_deleted_is_shown_as_such() {
    let world = World::new();
    let client = world.client(world.builder()).read_your_writes();
    let all = ListOptions::all();
    client.list::<Namespace>(&all).await.unwrap();
    world.gate.hold("/");
    let wanted = ObjectKey::cluster("fast");
    client
        .delete::<Namespace>(&wanted, &DeleteOptions::default())
        .await
        .unwrap();
    let mut reading = Box::pin(client.find::<Namespace>(&wanted));
    assert!(waits(&mut reading).await);
    world.gate.release();
    let seen = tokio::time::timeout(secs(5), reading).await.unwrap().unwrap();
    assert!(seen.is_none_or(|seen| seen.metadata.deletion_timestamp.is_some()));
    assert_eq!(client.n_pending(&namespaces()), 0);
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_is_enough_for_a_write_that_cannot_be_judged() {
    let mut options_of_model = Options::default();
    options_of_model.bookmark_every = secs(10);
    let world = World::with(options_of_model);
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "default", "name": "a", "labels": {"tier": "y"}},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}}});
    let selecting = Selecting::inherit().labels("tier=x");
    type Deployment = k8s_openapi::api::apps::v1::Deployment;
    let builder = world
        .builder()
        .kind::<Deployment>(KindOptions::typed().selecting(selecting));
    let client = world.client(builder).read_your_writes();
    client.list::<Deployment>(&ListOptions::all()).await.unwrap();
    client.create(&deployment, &options()).await.unwrap();
    let scale = informer_client::Write::to(
        world
            .api
            .with(|_| informer_core::Resource::namespaced("apps", "v1", "deployments", "Deployment")),
        &key("a"),
        informer_client::WriteVerb::Patch(Patch::Merge(json!({"spec": {"replicas": 3}}))),
        options(),
    );
    informer_client::WriteClient::write(&client, scale.at("scale"))
        .await
        .unwrap();
    let wanted = key("a");
    let mut reading = Box::pin(client.find::<Deployment>(&wanted));
    assert!(waits(&mut reading).await);
    assert!(reading.await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_read_that_waits_too_long_says_for_what() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let builder = world.builder().write_timeout(secs(7));
    let client = world.client(builder).read_your_writes();
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    let at = world.api.with(|api| api.revision());
    world.gate.hold("/");
    let patch = Patch::Merge(json!({"data": {"key": "new"}}));
    let written = client
        .patch::<ConfigMap>(&key("a"), patch, &options())
        .await
        .unwrap();
    let error = client.find::<ConfigMap>(&key("a")).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::Overdue);
    let version = written.metadata.resource_version.unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "cached configmaps did not show default/a at version {version} within 7s: configmaps is at {at}, watching"
        )
    );
    client
        .delete::<ConfigMap>(&key("a"), &DeleteOptions::default())
        .await
        .unwrap();
    let error = client.list::<ConfigMap>(&ListOptions::all()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("did not show the end of default/a with uid "),
        "{error}"
    );
    world.api.with(|api| {
        api.faults().once(On::write(), Fault::Delay(secs(60)));
    });
    let (plain, made) = (options(), config("b"));
    let mut slow = Box::pin(client.create(&made, &plain));
    assert!(waits(&mut slow).await);
    let error = client.find::<ConfigMap>(&key("b")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "cached configmaps did not show the write of default/b within 7s: the write has not ended yet"
    );
}

#[tokio::test(start_paused = true)]
async fn records_go_with_what_is_shown_though_nobody_reads() {
    let world = World::new();
    let client = world.client(world.builder()).read_your_writes();
    client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    for n in 0..2000 {
        let made = config(&format!("a{n}"));
        client.create(&made, &options()).await.unwrap();
        client
            .delete::<ConfigMap>(&key(&format!("a{n}")), &DeleteOptions::default())
            .await
            .unwrap();
        if n % 50 == 0 {
            sleep(secs(1)).await;
        }
    }
    assert!(
        client.n_pending(&configs()) < 1200,
        "{}",
        client.n_pending(&configs())
    );
    sleep(secs(1)).await;
    assert!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .entries
            .is_empty()
    );
    assert!(client.n_pending(&configs()) <= 1);
}

#[tokio::test(start_paused = true)]
async fn kinds_that_are_read_live_are_not_recorded() {
    let world = World::new();
    let client = world.client(world.builder()).bypass(configs()).read_your_writes();
    client.create(&config("a"), &options()).await.unwrap();
    assert_eq!(client.n_pending(&configs()), 0);
    assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_some());
    assert!(client.find::<Pod>(&key("a")).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn waits_are_counted_by_operation_and_result() {
    #[derive(Clone, Default)]
    struct Waits(Arc<std::sync::Mutex<Vec<String>>>);

    impl informer_cache::WaitMetrics for Waits {
        fn waited(
            &self,
            operation: informer_cache::ReadOperation,
            result: informer_cache::WaitResult,
            took: std::time::Duration,
        ) {
            let line = format!("{} {} {}", operation.label(), result.label(), took.as_secs());
            self.0.lock().unwrap().push(line);
        }
    }

    let world = World::new();
    let waits = Waits::default();
    let client = world.client(world.builder().write_timeout(secs(7)));
    let client = client.read_your_writes().metrics(waits.clone());
    let told = || std::mem::take(&mut *waits.0.lock().unwrap());
    client.find::<ConfigMap>(&key("a")).await.unwrap();
    assert_eq!(told(), ["get success 0"]);
    world.gate.hold("/api/v1/configmaps");
    client.create(&labelled("a", "x"), &options()).await.unwrap();
    assert_eq!(
        client.find::<ConfigMap>(&key("a")).await.unwrap_err().kind(),
        CacheErrorKind::Overdue
    );
    let all = ListOptions::all();
    client.list::<ConfigMap>(&all).await.unwrap_err();
    assert_eq!(told(), ["get timeout 7", "list timeout 7"]);
    let mut reading = Box::pin(client.list::<ConfigMap>(&all));
    assert!(crate::support::waits(&mut reading).await);
    world.gate.release();
    reading.await.unwrap();
    assert_eq!(told(), ["list success 1"]);
    client
        .list::<ConfigMap>(&all.fields("no.index=x"))
        .await
        .unwrap_err();
    assert_eq!(told(), ["list error 0"]);
}
