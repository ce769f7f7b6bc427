//! T12: how objects are cached, by what is nearest: a namespace of a kind, the kind, a namespace by default, all by default.

use std::sync::{Arc, Mutex};

use informer_cache::{AnyTransform, CacheBuilder, KindOptions, PartOptions, Selecting};
use informer_client::{DynamicObject, ReadClientExt};
use informer_core::{Change, Identity, ObjectKey};
use informer_reflector::{Options as ReflectorOptions, Start};
use informer_sharedinformer::HandlerOptions;
use informer_testkit::Verb;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::json;

use crate::support::{World, secs, sleep};

const NAMESPACES: [&str; 3] = ["default", "fast", "slow"];

/// Marks objects of either form.
fn marking(mark: &'static str) -> AnyTransform {
    AnyTransform::new(move |_, object| {
        if let Some(config) = object.downcast_mut::<ConfigMap>() {
            config
                .data
                .get_or_insert_default()
                .insert("mark".to_owned(), mark.to_owned());
        } else if let Some(secret) = object.downcast_mut::<Secret>() {
            secret
                .string_data
                .get_or_insert_default()
                .insert("mark".to_owned(), mark.to_owned());
        }
        Ok(())
    })
}

async fn marks(builder: CacheBuilder, world: &World) -> Vec<String> {
    let client = world.client(builder);
    let mut marks = Vec::new();
    for namespace in NAMESPACES {
        let config = client
            .get::<ConfigMap>(&ObjectKey::namespaced(namespace, "a"))
            .await
            .unwrap();
        let mark = config.data.as_ref().and_then(|data| data.get("mark"));
        marks.push(mark.cloned().unwrap_or_default());
    }
    marks
}

#[tokio::test(start_paused = true)]
async fn t12_transforms_are_inherited() {
    let world = World::new();
    for namespace in NAMESPACES {
        world.config(namespace, "a", json!({}));
    }
    let part = |mark| PartOptions::inherit().transform(marking(mark));
    let defaults = || {
        Selecting::inherit()
            .everywhere(part("default"))
            .namespace("fast", part("default of fast"))
            .namespaces(["default", "slow"])
    };
    let all = world.builder().defaults(defaults());
    assert_eq!(
        marks(all, &world).await,
        ["default", "default of fast", "default"]
    );
    let kind = KindOptions::<ConfigMap>::typed().transform(|_: &Identity, config: &mut ConfigMap| {
        config.data = Some([("mark".to_owned(), "kind".to_owned())].into());
        Ok(())
    });
    let of_kind = world.builder().defaults(defaults()).kind(kind);
    assert_eq!(marks(of_kind, &world).await, ["kind", "kind", "kind"]);
    let of_slow = Selecting::inherit()
        .namespaces(["default", "fast"])
        .namespace("slow", PartOptions::inherit().transform(AnyTransform::none()));
    let kind = KindOptions::<ConfigMap>::typed().selecting(of_slow);
    let of_namespace = world.builder().defaults(defaults()).kind(kind);
    assert_eq!(
        marks(of_namespace, &world).await,
        ["default", "default of fast", ""]
    );
    // Without namespaces, and of another form than the transform is for.
    let defaults = Selecting::inherit().everywhere(PartOptions::inherit().transform(AnyTransform::of::<
        DynamicObject,
    >(
        |_: &Identity, _: &mut DynamicObject| panic!("it is held as another form"),
    )));
    assert_eq!(
        marks(world.builder().defaults(defaults), &world).await,
        ["", "", ""]
    );
}

#[tokio::test(start_paused = true)]
async fn t12_sync_periods_are_inherited() {
    let world = World::new();
    for namespace in NAMESPACES {
        world.config(namespace, "a", json!({}));
    }
    let every = |period: u64| PartOptions::inherit().sync_period(secs(period));
    let selecting = Selecting::inherit()
        .namespace("fast", every(60))
        .namespaces(["default", "slow"]);
    let defaults = Selecting::inherit()
        .everywhere(every(600))
        .namespace("slow", every(0));
    let kind = KindOptions::<ConfigMap>::typed().selecting(selecting);
    let client = world.client(world.builder().defaults(defaults).kind(kind));
    let told = Arc::<Mutex<Vec<String>>>::default();
    let telling = told.clone();
    let handler = move |change: &Change<ObjectKey, ConfigMap>| {
        if let Change::Resynced { current } = change {
            telling.lock().unwrap().push(current.key.to_string());
        }
    };
    let kind = client.cache().kind::<ConfigMap>().unwrap();
    kind.add_handler(handler, HandlerOptions::default()).unwrap();
    sleep(secs(1500)).await;
    let told = told.lock().unwrap();
    let n = |name: &str| told.iter().filter(|it| *it == name).count();
    assert!((20..=28).contains(&n("fast/a")), "{}", n("fast/a"));
    assert!((1..=3).contains(&n("default/a")), "{}", n("default/a"));
    assert_eq!(n("slow/a"), 0);
}

#[tokio::test(start_paused = true)]
async fn t12_bookmarks_can_be_left_out() {
    let world = World::new();
    let without = PartOptions::inherit().bookmarks(false);
    let selecting = Selecting::inherit()
        .everywhere(without)
        .namespace("fast", PartOptions::inherit().bookmarks(true))
        .namespaces(["slow"]);
    let kind = KindOptions::<ConfigMap>::typed().selecting(selecting);
    let mut options = ReflectorOptions::default();
    options.start = Start::List;
    let client = world.client(world.builder().reflector_options(options).kind(kind));
    client.cache().wait_synced(secs(5)).await.unwrap();
    sleep(secs(1)).await;
    let asked = world.api.with(|api| {
        let log = api.request_log();
        let watches = log.of(Verb::Watch, "configmaps");
        watches
            .map(|it| (it.path.clone(), it.query.contains_key("allowWatchBookmarks")))
            .collect::<Vec<_>>()
    });
    let mut asked = asked;
    asked.sort();
    let path = |namespace: &str| format!("/api/v1/namespaces/{namespace}/configmaps");
    assert_eq!(asked, [(path("fast"), true), (path("slow"), false)]);
}
