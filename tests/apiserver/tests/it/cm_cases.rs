//! CM-01, CM-03 and CM-05 on the real server: no permission, a namespace that comes and goes, several namespaces as one cache.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use apiserver_tests::{ControlPlane, Login, wait};
use bytes::Bytes;
use http::{Request, Response};
use informer_cache::{Cache, CacheErrorKind, CachedClient, KindOptions, Selecting};
use informer_client::{DynamicObject, Kinds, ListOptions, LiveClient, ReadClientExt};
use informer_core::{Classify, FailureClass, ObjectKey, Store as _};
use informer_hyper::{HttpVersion, HyperTransport};
use informer_reflector::{Phase, Start};
use informer_sharedinformer::ReflectorOptions;
use informer_transport::Transport;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::ledger::Told;
use crate::support::{
    LIMIT, TestClient, admin, by_both_starts, config_map, config_maps, connect, converged, namespace, own,
    reflector, server_contents, shared,
};

fn send(plane: &ControlPlane, method: &str, path: &str, body: Option<&Value>) -> u16 {
    block_in_place(|| plane.http().send(method, path, body))
        .unwrap()
        .status
}

fn create(plane: &ControlPlane, path: &str, object: &Value) {
    assert_eq!(send(plane, "POST", path, Some(object)), 201, "{path}");
}

/// Gives the outsider rights to a kind in a namespace.
fn allow(plane: &ControlPlane, namespace: &str, resource: &str, verbs: &[&str]) {
    let name = format!("{resource}-{}", verbs.join("-"));
    let role = json!({
        "metadata": {"name": name},
        "rules": [{"apiGroups": [""], "resources": [resource], "verbs": verbs}],
    });
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "outsider"}],
    });
    let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}");
    create(plane, &format!("{path}/roles"), &role);
    create(plane, &format!("{path}/rolebindings"), &binding);
}

/// What an outsider caches of a namespace, with lists and then watches.
fn outsiders(plane: &ControlPlane, namespace: &str) -> CachedClient {
    let client = connect(plane, Login::Outsider, HttpVersion::Http2, None);
    let mut options = ReflectorOptions::default();
    options.start = Start::List;
    let cache = Cache::builder(LiveClient::of(&client, Kinds::kubernetes()))
        .reflector_options(options)
        .defaults(Selecting::inherit().namespaces([namespace]))
        .sync_timeout(Duration::from_secs(3))
        .build()
        .unwrap();
    cache.start();
    CachedClient::new(cache)
}

#[tokio::test(flavor = "multi_thread")]
async fn cm_01_a_forbidden_kind_is_named_with_its_cause_and_works_once_it_is_granted() {
    let plane = shared().await;
    let namespace = namespace(plane, "cm-01");
    allow(plane, &namespace, "secrets", &["list", "watch"]);
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    create(plane, &path, &config_map("a", "1"));
    let client = outsiders(plane, &namespace);
    let key = ObjectKey::namespaced(&namespace, "a");

    // A read ends at its deadline, and says what it was refused; the other kind is well.
    let error = client.find::<ConfigMap>(&key).await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Forbidden);
    let text = error.to_string();
    for part in ["configmaps", "not in sync after 3s", "forbidden", "outsider"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    wait::until("the kind that it may read is in sync", LIMIT, async || {
        client.find::<Secret>(&key).await.ok()
    })
    .await;
    let kind = client.cache().kind::<ConfigMap>().unwrap();
    let status = || kind.status().remove(0).source.reflector.unwrap();
    let tried = status().lists;
    assert!((1..5).contains(&tried), "{tried} tries before the deadline");

    allow(plane, &namespace, "configmaps", &["list"]);
    let found = wait::until("it is granted", LIMIT, async || {
        client.find::<ConfigMap>(&key).await.ok()
    })
    .await;
    assert!(found.is_some(), "without a restart");

    // It may list and not watch: what was listed is shown, and it says that it does not follow.
    let trouble = wait::until("it may not watch", LIMIT, async || status().trouble().cloned()).await;
    assert_eq!(trouble.class(), Some(FailureClass::Forbidden));
    assert!(trouble.to_string().starts_with("watch at version"), "{trouble}");
    assert!(status().synced && status().behind_since.is_some());
    allow(plane, &namespace, "configmaps", &["list", "watch"]);
    wait::until("it may watch", LIMIT, async || {
        (status().trouble().is_none() && status().phase == Phase::Watching).then_some(())
    })
    .await;
    create(plane, &path, &config_map("b", "1"));
    wait::until("it follows", LIMIT, async || {
        (kind.store().len() == 2).then_some(())
    })
    .await;
    client.cache().shut_down().await;
}

/// What the namespace controller does, which does not run here: the content goes, then the namespace.
fn end_namespace(plane: &ControlPlane, name: &str) {
    let path = format!("/api/v1/namespaces/{name}");
    assert_eq!(send(plane, "DELETE", &path, None), 200);
    assert_eq!(send(plane, "DELETE", &format!("{path}/configmaps"), None), 200);
    let finalized = json!({"metadata": {"name": name}, "spec": {"finalizers": []}});
    assert_eq!(
        send(plane, "PUT", &format!("{path}/finalize"), Some(&finalized)),
        200
    );
    assert_eq!(send(plane, "GET", &path, None), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn cm_03_a_namespace_that_is_not_there_comes_goes_and_comes_again() {
    let plane = own(&[]).await;
    let path = "/api/v1/namespaces/ghost/configmaps";
    let informers = by_both_starts(|| admin(&plane).dynamic(config_maps()).in_namespace("ghost"));
    for (informer, ledger, _) in &informers {
        informer.wait_synced(LIMIT).await.unwrap();
        assert!(informer.store().is_empty() && ledger.n_told() == 0);
    }
    for round in 1..=2 {
        create(
            &plane,
            "/api/v1/namespaces",
            &json!({"metadata": {"name": "ghost"}}),
        );
        create(&plane, path, &config_map("a", "1"));
        let there = server_contents(&plane, path);
        assert_eq!(there.len(), 1);
        for (informer, ledger, _) in &informers {
            converged::<DynamicObject>(informer, &[ledger], &there).await;
        }
        end_namespace(&plane, "ghost");
        for (informer, ledger, _) in &informers {
            converged::<DynamicObject>(informer, &[ledger], &Default::default()).await;
            assert_eq!(ledger.n_told(), 2 * round, "{:?}", ledger.told());
        }
    }
    for (informer, ledger, running) in informers {
        let kinds: Vec<_> = ledger
            .told()
            .iter()
            .map(|told| match told {
                Told::Added { .. } => "add",
                Told::Removed { .. } => "delete",
                _ => "other",
            })
            .collect();
        assert_eq!(kinds, ["add", "delete", "add", "delete"]);
        let status = reflector(&informer);
        assert!(status.lists <= 1 && status.relists == 0, "{status:?}");
        assert!(status.trouble().is_none() && status.failures == 0, "{status:?}");
        ledger.assert_sound();
        running.stop().await;
    }
}

/// The usual transport, which writes down what is asked.
struct Recorded {
    client: TestClient,
    asked: Arc<Mutex<BTreeSet<String>>>,
}

impl Transport for Recorded {
    type Body = <HyperTransport as Transport>::Body;
    type Error = <HyperTransport as Transport>::Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Self::Body>, Self::Error> {
        let uri = request.uri();
        let query = uri.query().unwrap_or_default();
        let selectors = query.split('&').filter(|it| it.contains("Selector="));
        let selectors: Vec<_> = selectors.collect();
        let what = if query.contains("watch=true") {
            "watch"
        } else {
            "list"
        };
        let line = format!("{what} {} {}", uri.path(), selectors.join(" "));
        self.asked.lock().unwrap().insert(line);
        self.client.transport().send(request).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cm_05_several_namespaces_with_a_selector_are_exact_sets() {
    let plane = shared().await;
    let names = ["one", "two", "uncovered"].map(|name| namespace(plane, &format!("cm-05-{name}")));
    let [one, two, uncovered] = &names;
    let config = |name: &str, app: &str, fifth: bool| json!({"metadata": {"name": name, "labels": {"app": app, "fifth": fifth.to_string()}}});
    for name in &names {
        let path = format!("/api/v1/namespaces/{name}/configmaps");
        for n in 1..=5 {
            create(plane, &path, &config(&format!("c{n}"), "web", n == 5));
        }
        create(plane, &path, &config("d", "db", true));
    }
    let asked = Arc::<Mutex<BTreeSet<String>>>::default();
    let transport = Recorded {
        client: admin(plane),
        asked: asked.clone(),
    };
    let mut options = ReflectorOptions::default();
    options.start = Start::List;
    let cache = Cache::builder(LiveClient::new(transport, Kinds::kubernetes()))
        .reflector_options(options)
        .defaults(Selecting::inherit().namespaces([one.clone(), two.clone()]))
        .kind::<ConfigMap>(KindOptions::typed().selecting(Selecting::inherit().labels("app=web")))
        .sync_timeout(LIMIT)
        .build()
        .unwrap();
    cache.start();
    let client = CachedClient::new(cache);
    let list = async |options: ListOptions| client.list::<ConfigMap>(&options).await.unwrap();
    let all: Vec<String> = [one, two]
        .iter()
        .flat_map(|name| (1..=5).map(move |n| format!("{name}/c{n}")))
        .collect();
    for _ in 0..2 {
        let list = list(ListOptions::all()).await;
        assert_eq!(list.names(), all, "nothing accumulates");
        assert!(list.version.is_none() && list.next.is_none());
    }
    let fifth = ListOptions::all().labels("fifth=true").limit(1).in_namespace(two);
    let fifth = list(fifth).await;
    assert_eq!(fifth.names(), [format!("{two}/c5")]);
    assert!(fifth.next.is_none() && !fifth.version.is_none());
    let beyond = ListOptions::all().in_namespace(uncovered);
    let error = client.list::<ConfigMap>(&beyond).await.unwrap_err();
    assert_eq!(error.kind(), CacheErrorKind::NotCovered);
    // A kind without namespaces ignores the limit to two.
    let found = client
        .find::<Namespace>(&ObjectKey::cluster(uncovered))
        .await
        .unwrap();
    assert!(found.is_some());

    let of = |what: &str, name: &str| {
        format!("{what} /api/v1/namespaces/{name}/configmaps labelSelector=app%3Dweb")
    };
    let mut expected: BTreeSet<_> = [one, two]
        .iter()
        .flat_map(|name| [of("list", name), of("watch", name)])
        .collect();
    expected.extend(["list", "watch"].map(|what| format!("{what} /api/v1/namespaces ")));
    wait::until("all is watched", LIMIT, async || {
        (asked.lock().unwrap().len() >= expected.len()).then_some(())
    })
    .await;
    assert_eq!(*asked.lock().unwrap(), expected);
    client.cache().shut_down().await;
}
