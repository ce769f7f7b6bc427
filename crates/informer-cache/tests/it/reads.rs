//! Reads: selectors, indices, limits, order, pages; before the start, without a kind.

use std::sync::Arc;

use informer_cache::{CacheErrorKind, KindOptions, Missing};
use informer_client::{ListOptions, ReadClient, ReadClientExt};
use informer_core::{IndexError, IndexFunc, ObjectKey};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, Secret};
use serde_json::json;

use crate::support::{World, configs, key, pods, secs};

fn node_of(pod: &Pod, emit: &mut dyn FnMut(&str)) {
    if let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) {
        emit(node);
    }
}

fn phase_of(pod: &Pod, emit: &mut dyn FnMut(&str)) {
    if let Some(phase) = pod.status.as_ref().and_then(|status| status.phase.as_deref()) {
        emit(phase);
    }
}

#[tokio::test(start_paused = true)]
async fn t14_field_selectors_are_answered_by_indices() {
    let world = World::new();
    for (name, node, phase) in [
        ("a", "n1", "Running"),
        ("b", "n1", "Failed"),
        ("c", "n2", "Running"),
    ] {
        let metadata = json!({"namespace": "default", "name": name});
        world.put(
            &pods(),
            json!({"metadata": metadata, "spec": {"nodeName": node, "containers": []}}),
        );
        world
            .api
            .with(|api| api.update_status(&pods(), json!({"metadata": metadata, "status": {"phase": phase}})))
            .unwrap();
    }
    let client = world.client(world.builder());
    let cache = client.cache();
    cache.index_field("spec.nodeName", node_of).unwrap();
    let of = |fields: &str| ListOptions::all().fields(fields);
    let error = client.list::<Pod>(&of("status.phase=Running")).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::Selector);
    assert!(
        error.to_string().contains("status.phase") && error.to_string().contains("spec.nodeName"),
        "{error}"
    );
    let error = client
        .list::<Pod>(&of("spec.nodeName=n1,status.phase=Running"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "pods have no index of field \"status.phase\": there are spec.nodeName"
    );
    // After the start, too.
    cache.index_field("status.phase", phase_of).unwrap();
    let error = cache.index_field("status.phase", phase_of).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pods have an index of field \"status.phase\" already"
    );
    for (fields, names) in [
        ("spec.nodeName=n1", vec!["default/a", "default/b"]),
        ("spec.nodeName==n1,status.phase=Running", vec!["default/a"]),
        ("status.phase=Running,spec.nodeName=n2", vec!["default/c"]),
        ("status.phase=Pending", vec![]),
        ("metadata.name=b", vec!["default/b"]),
        ("metadata.name=b,metadata.namespace=default", vec!["default/b"]),
        ("metadata.name!=b,spec.nodeName=n1", vec!["default/a"]),
        ("metadata.namespace=fast", vec![]),
    ] {
        let list = client.list::<Pod>(&of(fields)).await.unwrap();
        assert_eq!(list.names(), names, "{fields}");
    }
    let elsewhere = of("metadata.namespace=default").in_namespace("fast");
    assert!(client.list::<Pod>(&elsewhere).await.unwrap().entries.is_empty());
    let error = client.list::<Pod>(&of("spec.nodeName!=n1")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the cache answers field selectors with = only, not spec.nodeName!=n1"
    );
    assert!(client.list::<Pod>(&of("nonsense")).await.is_err());
    assert!(
        client
            .list::<Pod>(&ListOptions::all().labels("a=b=c"))
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn t15_limits_count_what_matches_and_pages_go_on_in_order() {
    let world = World::new();
    for (namespace, name, tier) in [
        ("slow", "a", "x"),
        ("default", "d", "x"),
        ("default", "b", "y"),
        ("default", "c", "x"),
        ("fast", "e", "x"),
        ("default", "a", "x"),
    ] {
        world.config(namespace, name, json!({"tier": tier}));
    }
    let client = world.client(world.builder());
    let of = ListOptions::all().labels("tier=x").limit(2);
    let (mut pages, mut token) = (Vec::new(), None);
    loop {
        let mut options = of.clone();
        options.token = token;
        let page = client.list::<ConfigMap>(&options).await.unwrap();
        assert!(!page.version.is_none());
        pages.push(page.names().join(" "));
        token = page.next;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(pages, ["default/a default/c", "default/d fast/e", "slow/a"]);
    // A page that ends where all ends says so.
    let all = client.list::<ConfigMap>(&of.clone().limit(5)).await.unwrap();
    assert!(all.entries.len() == 5 && all.next.is_none());
    let one = client
        .list::<ConfigMap>(&of.clone().in_namespace("default").limit(3))
        .await
        .unwrap();
    assert_eq!(
        (one.names(), one.next.is_none()),
        (vec!["default/a", "default/c", "default/d"], true)
    );
    let error = client
        .list::<ConfigMap>(&of.from_token("a server's"))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "the token is none of this cache");
}

#[tokio::test(start_paused = true)]
async fn t16_a_read_before_the_start_fails_and_the_kind_starts_with_the_cache() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let cache = world.builder().build().unwrap();
    let error = cache.get::<ConfigMap>(&key("a")).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::NotStarted);
    assert_eq!(
        error.to_string(),
        "configmaps cannot be read: the cache was not started"
    );
    assert!(!error.is_not_found() && world.n_watches("configmaps") == 0);
    cache.start();
    cache.wait_synced(secs(5)).await.unwrap();
    assert_eq!(world.n_watches("configmaps"), 1);
    assert!(cache.find::<ConfigMap>(&key("a")).await.unwrap().is_some());
    cache.shut_down().await;
    assert_eq!(
        cache.get::<ConfigMap>(&key("a")).await.unwrap_err().kind(),
        CacheErrorKind::Removed
    );
}

#[tokio::test(start_paused = true)]
async fn t17_a_cache_that_starts_nothing_by_itself_says_what_it_has() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let builder = world
        .builder()
        .missing(Missing::Fail)
        .kind::<ConfigMap>(KindOptions::typed());
    let client = world.client(builder);
    assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_some());
    let error = client.find::<Pod>(&key("a")).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::NotCached);
    assert_eq!(error.to_string(), "pods are not cached, but configmaps");
    assert!(!error.is_not_found());
    // A handler or an index asks for it.
    client.cache().kind::<Pod>().unwrap();
    assert!(client.find::<Pod>(&key("a")).await.unwrap().is_none());
    let error = client.get::<Pod>(&key("a")).await.unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(error.to_string(), "pods \"a\" not found");
}

#[tokio::test(start_paused = true)]
async fn t18_readers_share_objects() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let client = world.client(world.builder());
    let one = client.get::<ConfigMap>(&key("a")).await.unwrap();
    let mut changed = (*one).clone();
    changed.data = None;
    let list = client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    let again = list.objects().next().unwrap();
    assert!(Arc::ptr_eq(&one, again) && again.data.is_some());
}

#[tokio::test(start_paused = true)]
async fn kinds_that_are_read_live_are_not_cached() {
    let world = World::new();
    let secrets = world.live.kinds_of();
    world.put(
        &secrets,
        json!({"metadata": {"namespace": "default", "name": "s"}}),
    );
    let client = world.client(world.builder()).bypass(secrets);
    assert!(client.find::<Secret>(&key("s")).await.unwrap().is_some());
    assert_eq!(
        client.list::<Secret>(&ListOptions::all()).await.unwrap().names(),
        ["default/s"]
    );
    assert_eq!(world.n_watches("secrets"), 0);
    assert!(client.cache().status().is_empty());
}

trait KindsOf {
    fn kinds_of(&self) -> informer_core::Resource;
}

impl KindsOf for informer_client::LiveClient {
    fn kinds_of(&self) -> informer_core::Resource {
        ReadClient::kinds(self).of::<Secret>().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn cluster_wide_kinds_ignore_namespaces() {
    let world = World::new();
    let client = world.client(world.builder());
    for key in [ObjectKey::cluster("fast"), ObjectKey::namespaced("x", "fast")] {
        assert!(client.find::<Namespace>(&key).await.unwrap().is_some());
    }
    let list = client
        .list::<Namespace>(&ListOptions::all().in_namespace("x"))
        .await
        .unwrap();
    assert!(list.names().contains(&"fast"));
}

struct Picky;

impl IndexFunc<ConfigMap> for Picky {
    fn values(&self, _: &ConfigMap, _: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        Err(IndexError::new("not this one"))
    }
}

#[tokio::test(start_paused = true)]
async fn an_index_that_cannot_be_made_is_refused() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let client = world.client(world.builder());
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    let error = client.cache().index_field("data.x", Picky).unwrap_err();
    assert!(error.to_string().contains("not this one"), "{error}");
    client
        .cache()
        .index_field("data.x", |_: &ConfigMap, _: &mut dyn FnMut(&str)| {})
        .unwrap();
    assert_eq!(client.cache().status()[0].resource, configs());
}
