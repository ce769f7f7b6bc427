//! What goes wrong with one kind, namespace or object, and leaves the others alone.

use informer_cache::{CacheErrorKind, KindOptions};
use informer_client::{
    ListOptions, PartialMetadata, ReadClient, ReadClientExt, WriteOptions, create_or_update,
};
use informer_core::{Classify, FailureClass, Resource};
use informer_testkit::{ApiError, Fault, On, Options, ResourceDef, Verb};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{World, configs, key, secs, sleep};

/// Until the watch has told.
async fn settle() {
    sleep(secs(1)).await;
}

fn gadgets() -> Resource {
    Resource::namespaced("example.org", "v1", "gadgets", "Gadget")
}

#[derive(Debug, Serialize, Deserialize)]
struct Gadget {
    spec: Spec,
}

#[derive(Debug, Serialize, Deserialize)]
struct Spec {
    n: u32,
}

#[tokio::test(start_paused = true)]
async fn t21_one_bad_object_leaves_the_others_of_its_kind_readable() {
    let world = World::new();
    world.api.with(|api| api.register(ResourceDef::new(gadgets())));
    for (name, n) in [("good", json!(1)), ("bad", json!("one")), ("fine", json!(2))] {
        world.put(
            &gadgets(),
            json!({"metadata": {"namespace": "default", "name": name}, "spec": {"n": n}}),
        );
    }
    let troubles = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = troubles.clone();
    let builder = world.builder().on_error(move |resource, trouble| {
        told.lock().unwrap().push(format!("{resource}: {trouble}"));
    });
    let client = world.client(builder.kind::<Gadget>(KindOptions::of(gadgets())));
    let list = client
        .read_all::<Gadget>(&gadgets(), &ListOptions::all())
        .await
        .unwrap();
    assert_eq!(list.names(), ["default/fine", "default/good"]);
    let unreadable: Vec<_> = list.unreadable.iter().map(ToString::to_string).collect();
    assert!(
        unreadable.len() == 1 && unreadable[0].starts_with("cannot decode Gadget default/bad: it is there"),
        "{unreadable:?}"
    );
    assert!(!list.is_complete());
    // It is not absent: an operator would create it twice.
    let error = client.read::<Gadget>(&gadgets(), &key("bad")).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::Unreadable);
    assert!(error.is_unreadable() && !error.is_not_found(), "{error}");
    let absent = client.read::<Gadget>(&gadgets(), &key("none")).await.unwrap();
    assert!(absent.is_none());
    let troubles = troubles.lock().unwrap();
    assert!(
        troubles
            .iter()
            .any(|it| it.starts_with("gadgets.example.org: ") && it.contains("default/bad")),
        "{troubles:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn t21_what_cannot_be_read_is_told_from_what_is_absent_and_what_is_old() {
    let world = World::new();
    let config = |name: &str, value: serde_json::Value| {
        let metadata = json!({"namespace": "default", "name": name});
        world.put(&configs(), json!({"metadata": metadata, "data": {"key": value}}));
    };
    config("a-bad", json!([]));
    config("good", json!("x"));
    config("z-bad", json!([]));
    let client = world.client(world.builder().kind::<ConfigMap>(KindOptions::typed()));
    let good = client.get::<ConfigMap>(&key("good")).await.unwrap();

    // Also in a form for which the metadata would have been enough, and in a page of the list.
    let of_form = client.read::<PartialMetadata>(&configs(), &key("a-bad")).await;
    assert_eq!(of_form.unwrap_err().kind(), CacheErrorKind::Unreadable);
    let metadata = client
        .read_all::<PartialMetadata>(&configs(), &ListOptions::all())
        .await;
    let metadata = metadata.unwrap();
    assert_eq!(
        (metadata.names(), metadata.unreadable.len()),
        (vec!["default/good"], 2)
    );
    config("other", json!("x"));
    settle().await;
    let page = client
        .list::<ConfigMap>(&ListOptions::all().limit(1))
        .await
        .unwrap();
    assert_eq!((page.names(), page.unreadable.len()), (vec!["default/good"], 1));
    let rest = ListOptions::all().from_token(page.next.unwrap());
    let rest = client.list::<ConfigMap>(&rest).await.unwrap();
    assert_eq!((rest.names(), rest.unreadable.len()), (vec!["default/other"], 1));
    let named = ListOptions::all().fields("metadata.name=good");
    assert!(client.list::<ConfigMap>(&named).await.unwrap().is_complete());
    let elsewhere = ListOptions::all().in_namespace("slow");
    assert!(client.list::<ConfigMap>(&elsewhere).await.unwrap().is_complete());

    // Nothing is created in its place.
    let wanted = crate::own_writes::config("a-bad");
    let options = WriteOptions::default();
    let error = create_or_update(&client, wanted, |_| Ok(()), &options)
        .await
        .unwrap_err();
    assert!(error.is_unreadable(), "{error}");

    // One that was read before is known as it was, to who asks for that.
    config("good", json!([]));
    settle().await;
    let error = client.get::<ConfigMap>(&key("good")).await.unwrap_err();
    assert!(
        error.is_unreadable() && error.to_string().contains("newer state"),
        "{error}"
    );
    assert!(
        client
            .find::<ConfigMap>(&key("good"))
            .await
            .unwrap_err()
            .is_unreadable()
    );
    let entry = client.entry::<ConfigMap>(&key("good")).await.unwrap().unwrap();
    assert!(entry.stale && entry.object.data == good.data);
    let list = client.list::<ConfigMap>(&named).await.unwrap();
    assert!(list.stale().count() == 1 && list.unreadable.is_empty() && !list.is_complete());

    // It ends with a state that can be read, and with the object.
    config("good", json!("y"));
    config("a-bad", json!("y"));
    world
        .api
        .with(|api| api.delete(&configs(), Some("default"), "z-bad"))
        .unwrap();
    settle().await;
    for name in ["good", "a-bad"] {
        assert!(client.get::<ConfigMap>(&key(name)).await.is_ok(), "{name}");
    }
    assert!(
        client
            .get::<ConfigMap>(&key("z-bad"))
            .await
            .unwrap_err()
            .is_not_found()
    );
    assert!(
        client
            .list::<ConfigMap>(&ListOptions::all())
            .await
            .unwrap()
            .is_complete()
    );
}

#[tokio::test(start_paused = true)]
async fn t22_a_forbidden_kind_is_named_and_blocks_no_other() {
    let world = World::new();
    world.config("default", "a", json!({}));
    world.api.with(|api| {
        let forbidden = || Fault::Status(ApiError::new(403, "Forbidden", "secrets is forbidden"));
        api.faults().always(On::list().of("secrets"), forbidden());
        api.faults().always(On::watch().of("secrets"), forbidden());
        api.faults()
            .always(On::streaming_list().of("secrets"), forbidden());
    });
    let builder = world.builder().sync_timeout(secs(3));
    let builder = builder
        .kind::<Secret>(KindOptions::typed())
        .kind::<ConfigMap>(KindOptions::typed());
    let client = world.client(builder);
    assert!(client.find::<ConfigMap>(&key("a")).await.unwrap().is_some());
    let error = client.find::<Secret>(&key("a")).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.class()),
        (CacheErrorKind::NotSynced, FailureClass::Forbidden)
    );
    assert!(
        error.to_string().starts_with("secrets is not in sync after 3s: "),
        "{error}"
    );
    assert!(error.to_string().contains("secrets is forbidden"), "{error}");
    let error = client.cache().wait_synced(secs(2)).await.unwrap_err();
    assert!(
        error.to_string().starts_with("secrets is not in sync after 2s"),
        "{error}"
    );
    assert!(!client.cache().has_synced());
    let status = client.cache().status();
    let synced: Vec<_> = status
        .iter()
        .map(|kind| (kind.resource.to_string(), kind.has_synced()))
        .collect();
    assert_eq!(
        synced,
        [("configmaps".to_owned(), true), ("secrets".to_owned(), false)]
    );
    // Once it may, it does.
    world.api.with(|api| {
        api.faults().clear();
    });
    client.cache().wait_synced(secs(60)).await.unwrap();
    assert!(client.find::<Secret>(&key("a")).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn t26_a_watch_that_is_cut_or_too_old_is_made_good() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let client = world.client(world.builder());
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    world.api.with(|api| {
        api.cut_connections();
        api.put(
            &configs(),
            json!({"metadata": {"namespace": "default", "name": "b"}}),
        )
        .unwrap();
        let revision = api.revision();
        api.compact(revision);
    });
    let kind = client.cache().kind::<ConfigMap>().unwrap();
    tokio::time::timeout(secs(60), async {
        let mut seen = kind.store().snapshot().applied().clone();
        while kind.store().len() < 2 {
            std::future::poll_fn(|cx| kind.store().poll_changed(cx, &seen)).await;
            seen = kind.store().snapshot().applied().clone();
        }
    })
    .await
    .unwrap();
    assert!(client.find::<ConfigMap>(&key("b")).await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn t26_a_streaming_list_that_is_refused_is_made_by_list() {
    let world = World::new();
    world.config("default", "a", json!({}));
    let refused = ApiError::new(422, "Invalid", "sendInitialEvents is forbidden");
    world.api.with(|api| {
        api.faults().always(On::streaming_list(), Fault::Status(refused));
    });
    let client = world.client(world.builder());
    let list = client.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    assert_eq!(list.names(), ["default/a"]);
    let n = |verb: Verb| {
        world
            .api
            .with(|api| api.request_log().of(verb, "configmaps").count())
    };
    assert_eq!((n(Verb::StreamingList), n(Verb::List)), (1, 1));
    world.config("default", "b", json!({}));
    settle().await;
    assert!(client.find::<ConfigMap>(&key("b")).await.unwrap().is_some());
    assert_eq!((n(Verb::StreamingList), n(Verb::List), n(Verb::Watch)), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn t26_a_watch_that_ends_goes_on_from_its_last_bookmark() {
    let mut options = Options::default();
    options.bookmark_every = secs(10);
    let world = World::with(options);
    world.config("default", "a", json!({}));
    let client = world.client(world.builder());
    client.get::<ConfigMap>(&key("a")).await.unwrap();
    // Nothing of the kind happens, but elsewhere: only bookmarks tell how far the server is.
    for n in 0..20 {
        let pod = json!({"metadata": {"namespace": "default", "name": format!("p{n}")},
            "spec": {"containers": [{"name": "c", "image": "i"}]}});
        world.put(&crate::support::pods(), pod);
    }
    sleep(secs(30)).await;
    let kind = client.cache().kind::<ConfigMap>().unwrap();
    let at = kind.store().snapshot().applied().clone();
    let now = world.api.with(|api| api.revision());
    assert_eq!(at.as_str(), now.to_string(), "the bookmark moved it");
    // What came before the bookmark is forgotten: without it, the watch would have to list again.
    world.api.with(|api| {
        api.compact(now);
        api.cut_connections();
    });
    world.config("default", "b", json!({}));
    sleep(secs(60)).await;
    assert!(client.find::<ConfigMap>(&key("b")).await.unwrap().is_some());
    world.api.with(|api| {
        let log = api.request_log();
        let lists =
            log.of(Verb::StreamingList, "configmaps").count() + log.of(Verb::List, "configmaps").count();
        assert_eq!(lists, 1, "it went on");
        let resumed = log.of(Verb::Watch, "configmaps").next().unwrap();
        assert_eq!(resumed.query["resourceVersion"], now.to_string());
    });
}

#[tokio::test(start_paused = true)]
async fn kinds_that_do_not_exist_are_not_found_and_come_when_they_do() {
    let world = World::new();
    let builder = world.builder().sync_timeout(secs(2));
    let client = world.client(builder.kind::<Gadget>(KindOptions::of(gadgets())));
    let error = client.read::<Gadget>(&gadgets(), &key("a")).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.class()),
        (CacheErrorKind::NotSynced, FailureClass::NotFound)
    );
    assert!(client.find::<Pod>(&key("a")).await.unwrap().is_none());
    world.api.with(|api| api.register(ResourceDef::new(gadgets())));
    client.cache().wait_synced(secs(120)).await.unwrap();
    assert!(
        client
            .read::<Gadget>(&gadgets(), &key("a"))
            .await
            .unwrap()
            .is_none()
    );
}
