//! The cached client: reads that show own writes, subresources, server-side apply.

use std::time::Duration;

use apiserver_tests::ControlPlane;
use informer_cache::{Cache, CachedClient, KindOptions, ReadYourWrites, Selecting};
use informer_client::{
    DeleteOptions, DryRun, DynamicObject, Error, Kinds, ListOptions, LiveClient, Patch, ReadClient,
    ReadClientExt, Selectors, TokenOptions, Write, WriteClient, WriteClientExt, WriteOptions, WriteVerb,
    add_finalizer, remove_finalizer,
};
use informer_core::{ObjectKey, Resource};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, ServiceAccount},
};
use serde_json::{Value, json};

use crate::support::{LIMIT, admin, namespace, shared};

struct World {
    client: ReadYourWrites,
    namespace: String,
}

impl World {
    async fn new(plane: &ControlPlane, prefix: &str, selecting: Selecting) -> Self {
        let namespace = namespace(plane, prefix);
        let live = LiveClient::of(&admin(plane), Kinds::kubernetes());
        let of = |selecting: Selecting| selecting.namespaces([namespace.clone()]);
        let cache = Cache::builder(live)
            .kind::<Pod>(KindOptions::typed().selecting(of(selecting.clone())))
            .kind::<ConfigMap>(KindOptions::typed().selecting(of(selecting)))
            .write_timeout(LIMIT)
            .build()
            .unwrap();
        cache.start();
        cache.wait_synced(LIMIT).await.unwrap();
        Self {
            client: CachedClient::new(cache).read_your_writes(),
            namespace,
        }
    }

    fn key(&self, name: &str) -> ObjectKey {
        ObjectKey::namespaced(&self.namespace, name)
    }

    fn pod(&self, name: &str, labels: &Value) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": self.namespace, "name": name, "labels": labels},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        })
    }

    async fn get(&self, name: &str) -> Option<Value> {
        let found = self.client.find::<Pod>(&self.key(name)).await.unwrap();
        found.map(|pod| serde_json::to_value(&*pod).unwrap())
    }

    /// The same by a list of dynamic objects.
    async fn list(&self, name: &str) -> Option<Value> {
        let of = ListOptions::all()
            .in_namespace(&self.namespace)
            .fields(format!("metadata.name={name}"));
        let list = self.client.read_all::<DynamicObject>(&pods(), &of).await.unwrap();
        list.entries
            .first()
            .map(|entry| serde_json::to_value(&*entry.object).unwrap())
    }

    async fn both(&self, name: &str, shows: impl Fn(Option<&Value>) -> bool) {
        // One of them is the first to wait.
        if name.len().is_multiple_of(2) {
            assert!(shows(self.get(name).await.as_ref()), "get of {name}");
        }
        assert!(shows(self.list(name).await.as_ref()), "list of {name}");
        assert!(shows(self.get(name).await.as_ref()), "get of {name}");
    }
}

fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

fn text<'a>(seen: Option<&'a Value>, pointer: &str) -> Option<&'a str> {
    seen?.pointer(pointer)?.as_str()
}

#[tokio::test(flavor = "multi_thread")]
async fn t35_own_writes_are_read() {
    let plane = shared().await;
    let world = World::new(plane, "own-writes", Selecting::inherit()).await;
    let client = &world.client;
    let (plain, apply) = (WriteOptions::of("test"), WriteOptions::of("test").force());
    for round in 0..10 {
        let name = format!("p{}{round}", "x".repeat(round % 2));
        let key = world.key(&name);
        client
            .create(&world.pod(&name, &json!({"l": "1"})), &plain)
            .await
            .unwrap();
        world
            .both(&name, |seen| text(seen, "/metadata/labels/l") == Some("1"))
            .await;
        let mut pod = (*client.get::<Pod>(&key).await.unwrap()).clone();
        pod.metadata.labels = Some([("l".to_owned(), "2".to_owned())].into());
        client.update(&pod, &plain).await.unwrap();
        world
            .both(&name, |seen| text(seen, "/metadata/labels/l") == Some("2"))
            .await;
        let patch = Patch::Strategic(json!({"metadata": {"labels": {"l": "3"}}}));
        client.patch::<Pod>(&key, patch, &plain).await.unwrap();
        world
            .both(&name, |seen| text(seen, "/metadata/labels/l") == Some("3"))
            .await;
        client
            .apply(&world.pod(&name, &json!({"l": "4"})), &apply)
            .await
            .unwrap();
        world
            .both(&name, |seen| text(seen, "/metadata/labels/l") == Some("4"))
            .await;
        let patch = Patch::Merge(json!({"status": {"message": "m1"}}));
        client.patch_status::<Pod>(&key, patch, &plain).await.unwrap();
        world
            .both(&name, |seen| text(seen, "/status/message") == Some("m1"))
            .await;
        let mut pod = (*client.get::<Pod>(&key).await.unwrap()).clone();
        pod.status.get_or_insert_default().message = Some("m2".to_owned());
        client.update_status(&pod, &plain).await.unwrap();
        world
            .both(&name, |seen| text(seen, "/status/message") == Some("m2"))
            .await;
        if round % 2 == 0 {
            add_finalizer(client, &pods(), &key, "example.org/f")
                .await
                .unwrap();
            client
                .delete::<Pod>(&key, &DeleteOptions::default())
                .await
                .unwrap();
            world
                .both(&name, |seen| text(seen, "/metadata/deletionTimestamp").is_some())
                .await;
            assert!(
                remove_finalizer(client, &pods(), &key, "example.org/f")
                    .await
                    .unwrap()
            );
        } else {
            client
                .delete::<Pod>(&key, &DeleteOptions::default())
                .await
                .unwrap();
        }
        world.both(&name, |seen| seen.is_none()).await;
        // T43: a new incarnation at once.
        let made: Value = client
            .create(&world.pod(&name, &json!({})), &plain)
            .await
            .unwrap();
        let uid = text(Some(&made), "/metadata/uid");
        world.both(&name, |seen| text(seen, "/metadata/uid") == uid).await;
    }
    let all = Selectors::all();
    client
        .delete_all::<Pod>(Some(&world.namespace), &all, &DeleteOptions::default())
        .await
        .unwrap();
    let of = ListOptions::all().in_namespace(&world.namespace);
    assert!(client.list::<Pod>(&of).await.unwrap().entries.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn t37_t38_dry_runs_and_objects_outside_the_selector_are_not_waited_for() {
    let plane = shared().await;
    let world = World::new(plane, "outside", Selecting::inherit().labels("tier=x")).await;
    let client = &world.client;
    let plain = WriteOptions::default();
    let soon = Duration::from_secs(20);
    let dry = DryRun::new(client.clone());
    dry.create(&world.pod("dry", &json!({"tier": "x"})), &plain)
        .await
        .unwrap();
    client
        .create(&world.pod("in", &json!({"tier": "x"})), &plain)
        .await
        .unwrap();
    dry.delete::<Pod>(&world.key("in"), &DeleteOptions::default())
        .await
        .unwrap();
    client
        .create(&world.pod("out", &json!({"tier": "y"})), &plain)
        .await
        .unwrap();
    let read = async {
        assert!(world.get("dry").await.is_none() && world.get("out").await.is_none());
        assert!(world.get("in").await.is_some());
        let leaves = Patch::Merge(json!({"metadata": {"labels": {"tier": "z"}}}));
        client
            .patch::<Pod>(&world.key("in"), leaves, &plain)
            .await
            .unwrap();
        assert!(world.list("in").await.is_none() && world.get("in").await.is_none());
    };
    tokio::time::timeout(soon, read).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn t31_an_apply_conflicts_unless_it_is_forced() {
    let plane = shared().await;
    let world = World::new(plane, "apply", Selecting::inherit()).await;
    let config = |value: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": world.namespace, "name": "a"},
            "data": {"key": value}})
    };
    world
        .client
        .apply(&config("1"), &WriteOptions::of("one"))
        .await
        .unwrap();
    let error: Error = world
        .client
        .apply(&config("2"), &WriteOptions::of("two"))
        .await
        .unwrap_err();
    assert!(error.is_conflict(), "{error}");
    world
        .client
        .apply(&config("2"), &WriteOptions::of("two").force())
        .await
        .unwrap();
    let read = world.client.get::<ConfigMap>(&world.key("a")).await.unwrap();
    assert_eq!(read.data.as_ref().unwrap()["key"], "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn t32_subresources() {
    let plane = shared().await;
    let world = World::new(plane, "subresources", Selecting::inherit()).await;
    let plain = WriteOptions::default();
    let live = world.client.client().live().client().clone();
    let client = &world.client;
    let in_namespace = |name: &str| json!({"namespace": world.namespace, "name": name});

    let deployments = live.typed::<Deployment>().in_namespace(&world.namespace);
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let deployment = json!({"metadata": in_namespace("d"), "spec": {"replicas": 1,
        "selector": {"matchLabels": {"a": "b"}}, "template": template}});
    deployments.create(&deployment, &plain).await.unwrap();
    assert_eq!(deployments.scale("d").await.unwrap().wanted, 1);
    assert_eq!(deployments.set_scale("d", 3, &plain).await.unwrap().wanted, 3);
    assert_eq!(deployments.get("d").await.unwrap().object.spec.replicas, Some(3));

    let accounts = live.typed::<ServiceAccount>().in_namespace(&world.namespace);
    accounts
        .create(&json!({"metadata": in_namespace("s")}), &plain)
        .await
        .unwrap();
    let token = accounts
        .token("s", &TokenOptions::default().expires_in(600))
        .await
        .unwrap();
    assert_eq!(token.token.split('.').count(), 3);

    let pods_here = live.typed::<Pod>().in_namespace(&world.namespace);
    client.create(&world.pod("p", &json!({})), &plain).await.unwrap();
    pods_here.bind("p", "nowhere", &plain).await.unwrap();
    let bound = pods_here.get("p").await.unwrap();
    assert_eq!(bound.object.spec.unwrap().node_name.as_deref(), Some("nowhere"));
    assert!(
        pods_here
            .bind("p", "elsewhere", &plain)
            .await
            .unwrap_err()
            .is_conflict()
    );
    client.create(&world.pod("q", &json!({})), &plain).await.unwrap();
    pods_here
        .evict("q", &DeleteOptions::default().grace_period(0))
        .await
        .unwrap();
    assert!(pods_here.find("q").await.unwrap().is_none());
    // Through the client that waits for own writes: an eviction is not waited for, and fails nothing.
    let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": in_namespace("p")});
    let write = Write::to(pods(), &world.key("p"), WriteVerb::Create(body), plain);
    client.write(write.at("eviction")).await.unwrap();
    world.get("p").await;
}
