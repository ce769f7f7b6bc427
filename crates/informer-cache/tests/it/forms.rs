//! One store for every form of object.

use informer_cache::{CacheErrorKind, KindOptions};
use informer_client::{DynamicObject, ListOptions, PartialMetadata, ReadClient, ReadClientExt};
use informer_core::Identity;
use k8s_openapi::api::core::v1::ConfigMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{World, configs, key};

/// Holds a part of the object only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Slim {
    data: std::collections::BTreeMap<String, String>,
}

#[tokio::test(start_paused = true)]
async fn t19_typed_dynamic_and_metadata_reads_share_one_watch_and_one_store() {
    let world = World::new();
    world.config("default", "a", json!({"tier": "x"}));
    world.config("default", "b", json!({"tier": "y"}));
    let client = world.client(world.builder());
    let typed = client.get::<ConfigMap>(&key("a")).await.unwrap();
    let dynamic = client
        .read::<DynamicObject>(&configs(), &key("a"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(dynamic.object.text("/data/key"), Some("old"));
    assert_eq!(
        (dynamic.object.api_version(), dynamic.object.kind()),
        ("v1", "ConfigMap")
    );
    let metadata = client
        .read::<PartialMetadata>(&configs(), &key("a"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(metadata.object.metadata.labels["tier"], "x");
    assert_eq!(
        metadata.stamp.version.as_str(),
        typed.metadata.resource_version.as_deref().unwrap()
    );
    let of = ListOptions::all().labels("tier=y");
    assert_eq!(
        client
            .read_all::<DynamicObject>(&configs(), &of)
            .await
            .unwrap()
            .names(),
        ["default/b"]
    );
    assert_eq!(
        client
            .read_all::<PartialMetadata>(&configs(), &of)
            .await
            .unwrap()
            .names(),
        ["default/b"]
    );
    let slim = client.read::<Slim>(&configs(), &key("a")).await.unwrap().unwrap();
    assert_eq!(slim.object.data["key"], "old");
    assert_eq!(world.n_watches("configmaps"), 1);
    let status = client.cache().status();
    assert_eq!(
        (status.len(), status[0].form, status[0].objects()),
        (1, "ConfigMap", 2)
    );
}

#[tokio::test(start_paused = true)]
async fn t19_dynamic_first_serves_the_others_too() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let client = world.client(world.builder());
    client
        .read::<DynamicObject>(&configs(), &key("a"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        client
            .get::<ConfigMap>(&key("a"))
            .await
            .unwrap()
            .data
            .as_ref()
            .unwrap()["key"],
        "old"
    );
    assert_eq!(
        (world.n_watches("configmaps"), client.cache().status()[0].form),
        (1, "DynamicObject")
    );
    // Handlers are of the form that is held.
    let error = client.cache().informer::<ConfigMap>().unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::OtherForm);
    assert!(
        error
            .to_string()
            .starts_with("configmaps are cached as DynamicObject, which cannot be read as ConfigMap")
    );
    client.cache().kind_of::<DynamicObject>(&configs()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_made_of_metadata_or_of_a_part() {
    let world = World::new();
    world.config("default", "a", json!({"tier": "x"}));
    let client = world.client(
        world
            .builder()
            .kind::<PartialMetadata>(KindOptions::of(configs())),
    );
    let of = ListOptions::all().labels("tier=x");
    assert_eq!(
        client
            .read_all::<PartialMetadata>(&configs(), &of)
            .await
            .unwrap()
            .names(),
        ["default/a"]
    );
    let error = client.get::<ConfigMap>(&key("a")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "configmaps are cached as PartialMetadata, which cannot be read as ConfigMap: it holds the metadata only; say another form in the \
         options of the kind"
    );
    let client = world.client(world.builder().kind::<Slim>(KindOptions::of(configs())));
    assert_eq!(
        client
            .read::<Slim>(&configs(), &key("a"))
            .await
            .unwrap()
            .unwrap()
            .object
            .data["key"],
        "old"
    );
    let error = client
        .read::<DynamicObject>(&configs(), &key("a"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::OtherForm);
    // It holds no labels, so none match; and it may say that it is whole.
    assert!(
        client
            .read_all::<Slim>(&configs(), &of)
            .await
            .unwrap()
            .entries
            .is_empty()
    );
    let client = world.client(world.builder().kind::<Slim>(KindOptions::of(configs()).whole()));
    assert!(
        client
            .read::<DynamicObject>(&configs(), &key("a"))
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test(start_paused = true)]
async fn t25_a_transform_runs_before_objects_are_kept() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let options = KindOptions::<ConfigMap>::typed().transform(|_: &Identity, config: &mut ConfigMap| {
        config.data = None;
        config.metadata.resource_version = None;
        Ok(())
    });
    let client = world.client(world.builder().kind(options));
    let entry = client
        .read::<ConfigMap>(&configs(), &key("a"))
        .await
        .unwrap()
        .unwrap();
    assert!(entry.object.data.is_none() && entry.object.metadata.managed_fields.is_none());
    // The version is known all the same.
    assert!(!entry.stamp.version.is_none());
}
