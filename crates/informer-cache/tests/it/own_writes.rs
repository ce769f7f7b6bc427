//! T35: every write against every read, with a watch that is held back.

use informer_cache::{CachedClient, ReadYourWrites};
use informer_client::{
    DeleteOptions, DynamicObject, ListOptions, Patch, ReadClient, ReadClientExt, WriteClientExt, WriteOptions,
};
use informer_core::BoxFuture;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use serde_json::{Value, json};

use crate::support::{World, key, pods, waits};

pub(crate) fn config(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"namespace": "default", "name": name}})).unwrap()
}

fn pod(extra: Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default", "name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    for (name, value) in extra.as_object().unwrap() {
        match (pod.get_mut(name).and_then(Value::as_object_mut), value) {
            (Some(there), Value::Object(more)) => there.extend(more.clone()),
            _ => pod[name] = value.clone(),
        }
    }
    pod
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Create,
    Update,
    Patch,
    Apply,
    UpdateStatus,
    PatchStatus,
    ApplyStatus,
    Delete,
    DeleteWithFinalizer,
    TakeLastFinalizer,
    DeleteAll,
}

const ALL: [Op; 11] = [
    Op::Create,
    Op::Update,
    Op::Patch,
    Op::Apply,
    Op::UpdateStatus,
    Op::PatchStatus,
    Op::ApplyStatus,
    Op::Delete,
    Op::DeleteWithFinalizer,
    Op::TakeLastFinalizer,
    Op::DeleteAll,
];

impl Op {
    fn prepare(self, world: &World) {
        let finalized = json!({"metadata": {"finalizers": ["example.org/f"], "labels": {"l": "old"}}});
        match self {
            Self::Create => {}
            Self::DeleteWithFinalizer => drop(world.put(&pods(), pod(finalized))),
            Self::TakeLastFinalizer => {
                world.put(&pods(), pod(finalized));
                world
                    .api
                    .with(|api| api.delete(&pods(), Some("default"), "a"))
                    .unwrap();
            }
            _ => drop(world.put(&pods(), pod(json!({"metadata": {"labels": {"l": "old"}}})))),
        }
    }

    async fn write(self, client: &ReadYourWrites) {
        let options = WriteOptions::of("me").force();
        let plain = WriteOptions::of("me");
        let labelled = pod(json!({"metadata": {"labels": {"l": "new"}}}));
        let status = pod(json!({"status": {"message": "new"}}));
        match self {
            Self::Create => drop(client.create(&labelled, &plain).await.unwrap()),
            Self::Update => drop(client.update(&labelled, &plain).await.unwrap()),
            Self::Patch => {
                let patch = Patch::Merge(json!({"metadata": {"labels": {"l": "new"}}}));
                client.patch::<Pod>(&key("a"), patch, &plain).await.unwrap();
            }
            Self::Apply => drop(client.apply(&labelled, &options).await.unwrap()),
            Self::UpdateStatus => drop(client.update_status(&status, &plain).await.unwrap()),
            Self::PatchStatus => {
                let patch = Patch::Merge(json!({"status": {"message": "new"}}));
                client
                    .patch_status::<Pod>(&key("a"), patch, &plain)
                    .await
                    .unwrap();
            }
            Self::ApplyStatus => {
                let status = json!({"apiVersion": "v1", "kind": "Pod",
                    "metadata": {"namespace": "default", "name": "a"}, "status": {"message": "new"}});
                client.apply_status(&status, &options).await.unwrap();
            }
            Self::Delete | Self::DeleteWithFinalizer => {
                client
                    .delete::<Pod>(&key("a"), &DeleteOptions::default())
                    .await
                    .unwrap();
            }
            Self::TakeLastFinalizer => {
                let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
                client.patch::<Pod>(&key("a"), patch, &plain).await.unwrap();
            }
            Self::DeleteAll => {
                let selectors = informer_client::Selectors::all().labels("l=old");
                client
                    .delete_all::<Pod>(Some("default"), &selectors, &DeleteOptions::default())
                    .await
                    .unwrap();
            }
        }
    }

    /// Whether a read shows the write.
    fn is_shown(self, seen: Option<&Value>) -> bool {
        let at = |pointer: &str| seen.and_then(|pod| pod.pointer(pointer)).and_then(Value::as_str);
        match self {
            Self::Create | Self::Update | Self::Patch | Self::Apply => {
                at("/metadata/labels/l") == Some("new")
            }
            Self::UpdateStatus | Self::PatchStatus | Self::ApplyStatus => {
                at("/status/message") == Some("new")
            }
            Self::DeleteWithFinalizer => at("/metadata/deletionTimestamp").is_some(),
            Self::Delete | Self::TakeLastFinalizer | Self::DeleteAll => seen.is_none(),
        }
    }
}

/// How it is read.
#[derive(Debug, Clone, Copy)]
enum Form {
    Typed,
    Dynamic,
    Metadata,
}

async fn get<C: ReadClient>(client: &C, form: Form) -> Option<Value> {
    let key = key("a");
    match form {
        Form::Typed => client
            .find::<Pod>(&key)
            .await
            .ok()
            .unwrap()
            .map(|pod| serde_json::to_value(&*pod).unwrap()),
        Form::Dynamic => {
            let found = client.read::<DynamicObject>(&pods(), &key).await.ok().unwrap();
            found.map(|entry| serde_json::to_value(&*entry.object).unwrap())
        }
        Form::Metadata => {
            let found = client
                .read::<informer_client::PartialMetadata>(&pods(), &key)
                .await
                .ok()
                .unwrap();
            found.map(|entry| serde_json::to_value(&*entry.object).unwrap())
        }
    }
}

async fn list<C: ReadClient>(client: &C, form: Form) -> Option<Value> {
    let of = ListOptions::all().in_namespace("default");
    let mut found: Vec<Value> = match form {
        Form::Typed => {
            let list = client.list::<Pod>(&of).await.ok().unwrap();
            list.objects()
                .map(|pod| serde_json::to_value(&**pod).unwrap())
                .collect()
        }
        Form::Dynamic => {
            let list = client.read_all::<DynamicObject>(&pods(), &of).await.ok().unwrap();
            list.objects()
                .map(|pod| serde_json::to_value(&**pod).unwrap())
                .collect()
        }
        Form::Metadata => {
            let list = client
                .read_all::<informer_client::PartialMetadata>(&pods(), &of)
                .await
                .ok()
                .unwrap();
            list.objects()
                .map(|pod| serde_json::to_value(&**pod).unwrap())
                .collect()
        }
    };
    found.pop()
}

async fn check(op: Op, is_list: bool, first: Form, form: Form) {
    fn read<C: ReadClient>(client: &C, is_list: bool, form: Form) -> BoxFuture<'_, Option<Value>> {
        if is_list {
            Box::pin(list(client, form))
        } else {
            Box::pin(get(client, form))
        }
    }
    let what = format!("{op:?}, list {is_list}, held {first:?}, read {form:?}");
    let world = World::new();
    op.prepare(&world);
    let cached: CachedClient = world.client(world.builder());
    let client = cached.clone().read_your_writes();
    read(&cached, is_list, first).await;
    world.gate.hold("/");
    op.write(&client).await;
    let before = read(&cached, is_list, form).await;
    assert!(!op.is_shown(before.as_ref()), "the watch is not behind: {what}");
    let mut reading = read(&client, is_list, form);
    assert!(waits(&mut reading).await, "does not wait: {what}");
    world.gate.release();
    let seen = tokio::time::timeout(crate::support::secs(5), reading).await;
    let seen = seen.unwrap_or_else(|_| panic!("waits on: {what}"));
    assert!(
        op.is_shown(seen.as_ref()),
        "does not show the write: {what}: {seen:?}"
    );
    // And it goes on without waiting.
    world.gate.hold("/");
    let mut again = read(&client, is_list, form);
    assert!(!waits(&mut again).await, "waits again: {what}");
}

#[tokio::test(start_paused = true)]
async fn t35_every_write_is_seen_by_every_read() {
    for op in ALL {
        for is_list in [false, true] {
            check(op, is_list, Form::Typed, Form::Typed).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn t36_whatever_the_form_that_is_held_and_read() {
    for op in ALL {
        for is_list in [false, true] {
            check(op, is_list, Form::Dynamic, Form::Dynamic).await;
            check(op, is_list, Form::Dynamic, Form::Typed).await;
            check(op, is_list, Form::Typed, Form::Dynamic).await;
            let has_status = matches!(op, Op::UpdateStatus | Op::PatchStatus | Op::ApplyStatus);
            if !has_status {
                check(op, is_list, Form::Metadata, Form::Metadata).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn t36_dynamic_writes_are_seen_by_dynamic_reads() {
    let world = World::new();
    let cached = world.client(world.builder());
    let client = cached.clone().read_your_writes();
    cached
        .read_all::<DynamicObject>(&pods(), &ListOptions::all())
        .await
        .unwrap();
    world.gate.hold("/");
    let object = DynamicObject::from_value(pod(json!({}))).unwrap();
    client.create(&object, &WriteOptions::default()).await.unwrap();
    let (resource, key) = (pods(), key("a"));
    let mut reading = Box::pin(client.read::<DynamicObject>(&resource, &key));
    assert!(waits(&mut reading).await);
    world.gate.release();
    assert!(reading.await.unwrap().is_some());
}
