//! Some namespaces of a kind.

use informer_cache::{CacheErrorKind, KindOptions, PartOptions, Selecting};
use informer_client::{ListOptions, ReadClientExt};
use informer_core::{Classify, FailureClass, ObjectKey};
use informer_testkit::{ApiError, Fault, On, Verb};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use serde_json::json;

use crate::support::{World, secs};

fn at(namespace: &str) -> ObjectKey {
    ObjectKey::namespaced(namespace, "a")
}

fn world() -> World {
    let world = World::new();
    for namespace in ["default", "fast", "slow"] {
        world.config(namespace, "a", json!({"tier": namespace}));
    }
    world
}

#[tokio::test(start_paused = true)]
async fn t12_defaults_and_what_a_kind_says_are_sent_to_the_server() {
    let world = world();
    let default = Selecting::inherit()
        .namespace("fast", PartOptions::inherit().labels("tier=fast"))
        .namespace("slow", PartOptions::inherit().labels("tier=none"));
    let client = world.client(world.builder().defaults(default.clone()));
    let list = client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    assert_eq!(list.names(), ["fast/a"]);
    // Cluster-wide kinds have no namespaces to inherit.
    assert!(
        client
            .find::<Namespace>(&ObjectKey::cluster("default"))
            .await
            .unwrap()
            .is_some()
    );
    let kind = Selecting::inherit().namespace("slow", PartOptions::inherit().labels(""));
    let builder = world.builder().defaults(default.clone());
    let client = world.client(builder.kind::<ConfigMap>(KindOptions::typed().selecting(kind)));
    assert_eq!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .names(),
        ["slow/a"]
    );
    let builder = world.builder().defaults(default);
    let everywhere = Selecting::inherit().every_namespace().labels("tier!=fast");
    let client = world.client(builder.kind::<ConfigMap>(KindOptions::typed().selecting(everywhere)));
    assert_eq!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .names(),
        ["default/a", "slow/a"]
    );
    let bad = KindOptions::<Namespace>::typed().selecting(Selecting::inherit().namespaces(["fast"]));
    let error = world.builder().kind(bad).build().unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::Options);
    assert_eq!(
        error.to_string(),
        "namespaces live in no namespace, but some are named"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pinned_namespace_is_asked_for_alone() {
    let world = world();
    let pinned = Selecting::inherit().fields("metadata.namespace=fast");
    let client = world.client(
        world
            .builder()
            .kind::<ConfigMap>(KindOptions::typed().selecting(pinned)),
    );
    assert_eq!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .names(),
        ["fast/a"]
    );
    let paths: Vec<String> = world.api.with(|api| {
        let all = api.request_log().of(Verb::StreamingList, "configmaps");
        all.map(|request| request.path.clone()).collect()
    });
    assert_eq!(paths, ["/api/v1/namespaces/fast/configmaps"]);
}

#[tokio::test(start_paused = true)]
async fn t23_a_namespace_that_is_not_cached_is_an_error_and_not_absence() {
    let world = world();
    let client = world.client(
        world
            .builder()
            .defaults(Selecting::inherit().namespaces(["fast", "slow"])),
    );
    assert!(client.find::<ConfigMap>(&at("fast")).await.unwrap().is_some());
    let error = client.find::<ConfigMap>(&at("default")).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::NotCovered);
    assert_eq!(
        error.to_string(),
        "configmaps of namespace \"default\" are not cached, but those of fast, slow"
    );
    assert!(!error.is_not_found() && error.class() == FailureClass::Fatal);
    let of = ListOptions::all().in_namespace("default");
    assert_eq!(
        client.list::<ConfigMap>(&of).await.unwrap_err().kind(),
        CacheErrorKind::NotCovered
    );
    // Neither is there one informer.
    let error = client.cache().informer::<ConfigMap>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "configmaps have an informer for each namespace: take `kind` and its `namespaces`"
    );
}

#[tokio::test(start_paused = true)]
async fn t28_namespaces_come_and_go_at_run_time() {
    let world = world();
    let client = world.client(
        world
            .builder()
            .defaults(Selecting::inherit().namespaces(["fast"])),
    );
    let kind = client.cache().kind::<ConfigMap>().unwrap();
    client
        .cache()
        .index_field(
            "metadata.labels.tier",
            |config: &ConfigMap, emit: &mut dyn FnMut(&str)| {
                emit(&config.metadata.labels.as_ref().unwrap()["tier"]);
            },
        )
        .unwrap();
    assert_eq!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .names(),
        ["fast/a"]
    );
    let namespaces = kind.namespaces().unwrap();
    assert!(namespaces.add("slow").await.unwrap());
    assert!(client.find::<ConfigMap>(&at("slow")).await.unwrap().is_some());
    assert_eq!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .names(),
        ["fast/a", "slow/a"]
    );
    let by_field = ListOptions::all().fields("metadata.labels.tier=slow");
    assert_eq!(
        client.list::<ConfigMap>(&by_field).await.unwrap().names(),
        ["slow/a"]
    );
    assert!(namespaces.remove("fast"));
    assert_eq!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .names(),
        ["slow/a"]
    );
    assert_eq!(
        client.find::<ConfigMap>(&at("fast")).await.unwrap_err().kind(),
        CacheErrorKind::NotCovered
    );
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_may_not_be_listed_blocks_no_other() {
    let world = world();
    world.api.with(|api| {
        let forbidden = || Fault::Status(ApiError::new(403, "Forbidden", "not in slow"));
        for on in [On::list(), On::watch(), On::streaming_list()] {
            api.faults()
                .always(on.path("/api/v1/namespaces/slow/"), forbidden());
        }
    });
    let builder = world.builder().sync_timeout(secs(3));
    let client = world.client(builder.defaults(Selecting::inherit().namespaces(["fast", "slow"])));
    assert!(client.find::<ConfigMap>(&at("fast")).await.unwrap().is_some());
    let of_fast = ListOptions::all().in_namespace("fast");
    assert_eq!(
        client.list::<ConfigMap>(&of_fast).await.unwrap().names(),
        ["fast/a"]
    );
    for error in [
        client.find::<ConfigMap>(&at("slow")).await.unwrap_err(),
        client.list::<ConfigMap>(&ListOptions::all()).await.unwrap_err(),
    ] {
        assert_eq!(error.class(), FailureClass::Forbidden);
        assert!(
            error
                .to_string()
                .starts_with("configmaps in slow is not in sync after 3s"),
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn pages_go_on_across_namespaces() {
    let world = world();
    let names = Selecting::inherit().namespaces(["default", "fast", "slow"]);
    let client = world.client(world.builder().defaults(names));
    let first = client
        .list::<ConfigMap>(&ListOptions::all().limit(2))
        .await
        .unwrap();
    assert_eq!(first.names(), ["default/a", "fast/a"]);
    let rest = ListOptions::all().limit(2).from_token(first.next.unwrap());
    let rest = client.list::<ConfigMap>(&rest).await.unwrap();
    assert!(rest.names() == ["slow/a"] && rest.next.is_none());
}
