//! Some namespaces of a kind.

use std::sync::{Arc, Mutex};

use informer_cache::{CacheErrorKind, KindOptions, PartOptions, Selecting};
use informer_client::{ListOptions, ReadClientExt, WriteClientExt, WriteOptions};
use informer_core::{Change, Classify, FailureClass, ObjectKey};
use informer_sharedinformer::HandlerOptions;
use informer_testkit::{ApiError, Fault, LoggedRequest, On, Verb};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use serde_json::json;

use crate::support::{World, secs, sleep};

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

/// Other selectors in one namespace than everywhere else: two lists and watches, each object once, read as one.
#[tokio::test(start_paused = true)]
async fn t13_all_namespaces_beside_named_ones() {
    let world = world();
    for (namespace, name) in [("default", "b"), ("slow", "b"), ("fast", "b"), ("fast", "c")] {
        world.config(namespace, name, json!({"tier": name}));
    }
    let kind = Selecting::inherit()
        .namespaces([""])
        .namespace("fast", PartOptions::inherit().labels("tier=fast"));
    let options = || KindOptions::typed().selecting(kind.clone());
    let client = world.client(world.builder().kind::<ConfigMap>(options()));
    let list = async |options: ListOptions| client.list::<ConfigMap>(&options).await.unwrap();
    let all = ["default/a", "default/b", "fast/a", "slow/a", "slow/b"];
    assert_eq!(list(ListOptions::all()).await.names(), all);
    let mut asked: Vec<_> = world.api.with(|api| {
        let all = api.request_log().of(Verb::StreamingList, "configmaps");
        all.map(|request| (request.path.clone(), request.query.get("fieldSelector").cloned()))
            .collect()
    });
    asked.sort_unstable();
    let others = Some("metadata.namespace!=fast".to_owned());
    let expected = [
        ("/api/v1/configmaps".to_owned(), others),
        ("/api/v1/namespaces/fast/configmaps".to_owned(), None),
    ];
    assert_eq!(asked, expected, "each object is held once");

    // Pages go on in the order of the keys, with and without an index.
    let kind = client.cache().kind::<ConfigMap>().unwrap();
    let of_name = |config: &ConfigMap, emit: &mut dyn FnMut(&str)| {
        emit(if config.metadata.name.as_deref() == Some("a") {
            "a"
        } else {
            "other"
        });
    };
    kind.index_field("name", of_name).unwrap();
    for (fields, expected) in [("", &all[..]), ("name=a", &["default/a", "fast/a", "slow/a"])] {
        let (mut names, mut token) = (Vec::new(), None);
        loop {
            let mut page = ListOptions::all().limit(1).fields(fields);
            if let Some(token) = token {
                page = page.from_token(token);
            }
            let page = list(page).await;
            names.extend(page.names().into_iter().map(|name| name.to_string()));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(names, expected);
    }
    assert_eq!(
        list(ListOptions::all().in_namespace("slow")).await.names(),
        ["slow/a", "slow/b"]
    );
    assert_eq!(
        list(ListOptions::all().in_namespace("fast")).await.names(),
        ["fast/a"]
    );
    assert!(
        list(ListOptions::all().in_namespace("nowhere"))
            .await
            .names()
            .is_empty()
    );
    assert!(client.find::<ConfigMap>(&at("slow")).await.unwrap().is_some());
    let left_out = ObjectKey::namespaced("fast", "b");
    assert!(client.find::<ConfigMap>(&left_out).await.unwrap().is_none());

    // Others are there already; the named one can go and come back.
    let names = kind.namespaces().unwrap();
    assert!(names.covers(Some("slow")) && !names.add("slow").await.unwrap());
    assert!(names.remove("fast") && !names.covers(Some("fast")));
    let error = client.find::<ConfigMap>(&at("fast")).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::NotCovered);
    assert_eq!(list(ListOptions::all()).await.names().len(), 4);
    assert!(names.add("fast").await.unwrap());
    assert_eq!(list(ListOptions::all()).await.names(), all);
    let keys = kind
        .store()
        .list()
        .iter()
        .map(|entry| entry.key.to_string())
        .collect::<Vec<_>>();
    assert_eq!(keys, all, "the store of all is in order, too");

    // Handlers are told of each object once, and writes through the client are read at once, in either part.
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    let handler =
        move |change: &Change<ObjectKey, ConfigMap>| heard.lock().unwrap().push(change.key().to_string());
    let registration = kind.add_handler(handler, HandlerOptions::default()).unwrap();
    registration.synced().await.unwrap();
    let mut heard = told.lock().unwrap().clone();
    heard.sort_unstable();
    assert_eq!(heard, all);
    let own = client.read_your_writes();
    for (namespace, shown) in [("default", true), ("fast", false)] {
        let metadata = json!({"namespace": namespace, "name": "own"});
        let config: ConfigMap = serde_json::from_value(json!({"metadata": metadata})).unwrap();
        own.create(&config, &WriteOptions::default()).await.unwrap();
        let found = own
            .find::<ConfigMap>(&ObjectKey::namespaced(namespace, "own"))
            .await
            .unwrap();
        assert_eq!(found.is_some(), shown, "{namespace}");
    }
}

/// CM-05: exact sets, as often as they are asked for; a limit counts what matches; each list and watch carries the selector of its namespace,
/// whether it is said of the kind, of the namespace, or inherited; kinds without namespaces ignore the limit to some.
#[tokio::test(start_paused = true)]
async fn cm_05_some_namespaces_with_a_selector_are_exact_sets() {
    let world = world();
    for n in 1..=5 {
        let fifth = if n == 5 { "yes" } else { "no" };
        world.config("fast", &format!("c{n}"), json!({"app": "web", "fifth": fifth}));
        world.config("fast", &format!("d{n}"), json!({"app": "db"}));
    }
    world.config("slow", "e", json!({"app": "web"}));
    let kind = Selecting::inherit().labels("app=web");
    let client = world.client(
        world
            .builder()
            .defaults(Selecting::inherit().namespaces(["fast", "slow"]))
            .kind::<ConfigMap>(KindOptions::typed().selecting(kind)),
    );
    let list = async |options: ListOptions| client.list::<ConfigMap>(&options).await.unwrap();
    let all = ["fast/c1", "fast/c2", "fast/c3", "fast/c4", "fast/c5", "slow/e"];
    for _ in 0..2 {
        let list = list(ListOptions::all()).await;
        assert_eq!(list.names(), all, "nothing accumulates");
        assert!(list.version.is_none(), "two watches have no version in common");
        assert!(list.next.is_none());
    }
    let fifth = list(ListOptions::all().limit(1).labels("fifth=yes")).await;
    assert_eq!(fifth.names(), ["fast/c5"]);
    assert!(fifth.next.is_none());
    let of_one = list(ListOptions::all().in_namespace("slow")).await;
    assert_eq!(of_one.names(), ["slow/e"]);
    assert!(!of_one.version.is_none(), "one watch has one");

    // Listed and got, without a word about namespaces on the wire.
    let names = client.list::<Namespace>(&ListOptions::all()).await.unwrap();
    assert!(names.names().contains(&"slow") && !names.version.is_none());
    let key = ObjectKey::cluster("fast");
    assert!(client.find::<Namespace>(&key).await.unwrap().is_some());
    let uncovered = ListOptions::all().in_namespace("default");
    let error = client.list::<ConfigMap>(&uncovered).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::NotCovered);

    // Cut, so that plain watches follow.
    world.api.with(informer_testkit::FakeApi::cut_connections);
    sleep(secs(60)).await;
    world.config("slow", "f", json!({"app": "web"}));
    sleep(secs(1)).await;
    assert_eq!(
        list(ListOptions::all().in_namespace("slow")).await.names(),
        ["slow/e", "slow/f"]
    );
    let asked: Vec<_> = world.api.with(|api| {
        let log = api.request_log().iter();
        let of_kind = log.filter(|request| request.resource == "configmaps");
        let what = |request: &LoggedRequest| {
            let selector = request.param("labelSelector").map(str::to_owned);
            (request.verb, request.path.clone(), selector)
        };
        of_kind.map(what).collect()
    });
    let n_of = |verb: Verb, namespace: &str| {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        asked.iter().filter(|it| it.0 == verb && it.1 == path).count()
    };
    for namespace in ["fast", "slow"] {
        assert_eq!(n_of(Verb::StreamingList, namespace), 1, "{asked:?}");
        assert!(n_of(Verb::Watch, namespace) >= 1, "{asked:?}");
    }
    assert!(
        asked.iter().all(|it| it.2.as_deref() == Some("app=web")),
        "{asked:?}"
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
