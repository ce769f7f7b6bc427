//! Owners, finalizers, create or update.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use informer_client::{
    Error, Intercepted, Interceptor, Outcome, OwnerObject, Patch, ReadClient, ReadClientExt, Write,
    WriteClient, WriteClientExt, WriteOptions, Written, add_finalizer, contains_finalizer, controller_of,
    create_or_patch, create_or_update, finalizer_patch, insert_finalizer, merge_patch, owners_of,
    remove_finalizer, take_finalizer,
};
use informer_core::{BoxFuture, Resource};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use serde_json::json;

use crate::access::{config, key, live};

fn configs() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

fn owner(name: &str, uid: &str) -> OwnerObject {
    let mut object = config(name, "1");
    object.metadata.uid = Some(uid.to_owned());
    OwnerObject::of(configs(), &object).unwrap()
}

#[test]
fn a_controller_is_set_once_and_another_one_is_a_conflict() {
    let mut child = config("child", "1");
    let parent = owner("parent", "u1");
    parent.control(&mut child).unwrap();
    assert!(parent.controls(&child).unwrap() && parent.owns(&child).unwrap());
    let reference = controller_of(&child).unwrap().unwrap();
    assert_eq!(
        (reference.api_version.as_str(), reference.block_owner_deletion),
        ("v1", Some(true))
    );
    let other = owner("other", "u2");
    let error = other.control(&mut child).unwrap_err();
    assert_eq!(
        error.to_string(),
        "\"child\" is already controlled by ConfigMap \"parent\""
    );
    assert_eq!(error.already_controlled_by().unwrap().uid, "u1");
    other.own(&mut child).unwrap();
    assert!(other.owns(&child).unwrap() && !other.controls(&child).unwrap());
    // The same owner, made anew, takes the place of its reference.
    owner("parent", "u3").without_block().control(&mut child).unwrap();
    let owners = owners_of(&child).unwrap();
    assert_eq!(
        (
            owners.len(),
            owners[0].uid.as_str(),
            owners[0].block_owner_deletion
        ),
        (2, "u3", None)
    );
    assert!(parent.disown(&mut child).unwrap() && !parent.disown(&mut child).unwrap());
    assert!(other.disown(&mut child).unwrap());
    assert_eq!(child, config("child", "1"));
}

#[test]
fn owners_in_another_namespace_are_refused() {
    let parent = owner("parent", "u1");
    let mut child = config("child", "1");
    child.metadata.namespace = Some("other".to_owned());
    let error = parent.control(&mut child).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an object in namespace \"other\" cannot be owned by configmaps in namespace \"default\""
    );
    let error = parent.own(&mut Node::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an object without a namespace cannot be owned by configmaps in namespace \"default\""
    );
    // A cluster-wide owner may own everywhere.
    let node = json!({"metadata": {"name": "n1", "uid": "u"}});
    let node = OwnerObject::of(Resource::cluster("", "v1", "nodes", "Node"), &node).unwrap();
    node.control(&mut child).unwrap();
    let error = OwnerObject::of(configs(), &config("unborn", "1")).unwrap_err();
    assert_eq!(error.to_string(), "an owner of configmaps has no uid");
}

#[test]
fn finalizers_of_an_object_at_hand() {
    let mut object = config("a", "1");
    assert!(insert_finalizer(&mut object, "example.org/one").unwrap());
    assert!(!insert_finalizer(&mut object, "example.org/one").unwrap());
    assert!(contains_finalizer(&object, "example.org/one").unwrap());
    assert!(take_finalizer(&mut object, "example.org/one").unwrap());
    assert!(!take_finalizer(&mut object, "example.org/one").unwrap());
    assert_eq!(object, config("a", "1"));
    assert!(finalizer_patch(&object, "example.org/one", true).is_err());
}

/// Somebody adds a finalizer of their own just before the first write gets through.
struct Meddler(AtomicBool);

impl Interceptor for Meddler {
    fn write<'a>(&'a self, write: Write, next: &'a dyn WriteClient) -> BoxFuture<'a, Result<Written, Error>> {
        Box::pin(async move {
            if !self.0.swap(true, Ordering::Relaxed) {
                let theirs = json!({"metadata": {"finalizers": ["example.org/theirs"]}});
                let verb = informer_client::WriteVerb::Patch(Patch::Merge(theirs));
                let to = Write::to(
                    write.resource.clone(),
                    &write.key(),
                    verb,
                    WriteOptions::default(),
                );
                next.write(to).await?;
            }
            next.write(write).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_is_added_and_taken_off_without_losing_another_one() {
    let (_, client) = live();
    client
        .create(&config("a", "1"), &WriteOptions::default())
        .await
        .unwrap();
    let meddled = Arc::new(Intercepted::new(client.clone(), Meddler(AtomicBool::new(false))));
    assert!(
        add_finalizer(&meddled, &configs(), &key("a"), "example.org/ours")
            .await
            .unwrap()
    );
    assert!(
        !add_finalizer(&meddled, &configs(), &key("a"), "example.org/ours")
            .await
            .unwrap()
    );
    let read = client.get::<ConfigMap>(&key("a")).await.unwrap();
    assert_eq!(
        read.metadata.finalizers.as_deref().unwrap(),
        ["example.org/theirs", "example.org/ours"]
    );
    let meddled = Intercepted::new(client.clone(), Meddler(AtomicBool::new(true)));
    assert!(
        remove_finalizer(&meddled, &configs(), &key("a"), "example.org/ours")
            .await
            .unwrap()
    );
    assert!(
        !remove_finalizer(&meddled, &configs(), &key("a"), "example.org/ours")
            .await
            .unwrap()
    );
    assert!(
        !remove_finalizer(&meddled, &configs(), &key("none"), "example.org/ours")
            .await
            .unwrap()
    );
    assert!(
        add_finalizer(&meddled, &configs(), &key("none"), "example.org/ours")
            .await
            .unwrap_err()
            .is_not_found()
    );
    let read = client.get::<ConfigMap>(&key("a")).await.unwrap();
    assert_eq!(
        read.metadata.finalizers.as_deref().unwrap(),
        ["example.org/theirs"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_is_created_or_updated_or_left_alone() {
    let (api, client) = live();
    let options = WriteOptions::default();
    let set = |value: &'static str| {
        move |object: &mut ConfigMap| {
            object
                .data
                .get_or_insert_default()
                .insert("key".to_owned(), value.to_owned());
            Ok(())
        }
    };
    let mut wanted = config("a", "");
    wanted.data = None;
    let (outcome, object) = create_or_update(&client, wanted.clone(), set("1"), &options)
        .await
        .unwrap();
    assert_eq!(
        (outcome, object.data.unwrap()["key"].as_str()),
        (Outcome::Created, "1")
    );
    let before = api.with(|api| api.revision());
    let (outcome, _) = create_or_update(&client, wanted.clone(), set("1"), &options)
        .await
        .unwrap();
    assert_eq!(
        (outcome, api.with(|api| api.revision())),
        (Outcome::Unchanged, before)
    );
    let (outcome, object) = create_or_update(&client, wanted.clone(), set("2"), &options)
        .await
        .unwrap();
    assert_eq!(
        (outcome, object.data.unwrap()["key"].as_str()),
        (Outcome::Updated, "2")
    );
    let rename = |object: &mut ConfigMap| {
        object.metadata.name = Some("b".to_owned());
        Ok(())
    };
    let error = create_or_update(&client, wanted.clone(), rename, &options)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "default/a was renamed to default/b while it was changed"
    );
    let fail = |_: &mut ConfigMap| Err(Error::refused("not today"));
    let error = create_or_update(&client, wanted, fail, &options)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "not today");
}

#[tokio::test(start_paused = true)]
async fn an_object_and_its_status_are_patched_where_they_differ() {
    let (_, client) = live();
    let options = WriteOptions::default();
    let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}}))
    .unwrap();
    let change = |label: Option<&'static str>, message: Option<&'static str>| {
        move |pod: &mut Pod| {
            if let Some(label) = label {
                pod.metadata
                    .labels
                    .get_or_insert_default()
                    .insert("l".to_owned(), label.to_owned());
            }
            if let Some(message) = message {
                pod.status.get_or_insert_default().message = Some(message.to_owned());
            }
            Ok(())
        }
    };
    let mut outcomes = Vec::new();
    for (label, message) in [
        (Some("1"), None),
        (Some("1"), None),
        (Some("2"), None),
        (None, Some("m")),
        (Some("3"), Some("n")),
    ] {
        let change = change(label, message);
        let (outcome, object) = create_or_patch(&client, pod.clone(), change, &options)
            .await
            .unwrap();
        outcomes.push(outcome);
        if let Some(message) = message {
            assert_eq!(object.status.unwrap().message.as_deref(), Some(message));
        }
    }
    use Outcome::{Created, Unchanged, Updated, UpdatedStatus, UpdatedWithStatus};
    assert_eq!(
        outcomes,
        [Created, Unchanged, Updated, UpdatedStatus, UpdatedWithStatus]
    );
    let read = client.get::<Pod>(&key("p")).await.unwrap();
    assert_eq!(read.metadata.labels.as_ref().unwrap()["l"], "3");
    assert_eq!(
        ReadClient::kinds(&client).of::<Pod>().unwrap().kind.as_ref(),
        "Pod"
    );
}

#[test]
fn a_merge_patch_holds_what_differs() {
    let before = json!({"a": {"b": 1, "c": [1]}, "d": 1, "e": 1});
    let after = json!({"a": {"b": 2, "c": [1]}, "e": 1, "f": {}});
    let patch = merge_patch(&before, &after).unwrap().unwrap();
    assert_eq!(*patch.body(), json!({"a": {"b": 2}, "d": null, "f": {}}));
    assert!(merge_patch(&before, &before).unwrap().is_none());
}
