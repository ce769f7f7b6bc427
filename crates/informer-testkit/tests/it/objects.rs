//! Creating, updating, patching and deleting.

use std::time::Duration;

use informer_core::{Clock as _, Resource};
use informer_testkit::{DeleteOptions, FakeApi, ListOptions, ManualClock, Patch, WatchOptions};
use serde_json::json;

use crate::support::{configmaps, name, named, names, pods, told, version};

fn deployments() -> Resource {
    Resource::namespaced("apps", "v1", "deployments", "Deployment")
}

#[test]
fn a_created_object_gets_what_the_system_sets() {
    let clock = ManualClock::new();
    let mut api = FakeApi::with_builtins();
    api.tick(clock.now());
    clock.advance(Duration::from_secs(61));
    api.tick(clock.now());
    let object = json!({"metadata": {
        "name": "a", "uid": "mine", "creationTimestamp": "1999-01-01T00:00:00Z", "generation": 7, "deletionTimestamp": "1999-01-01T00:00:00Z",
    }});
    let created = api.create(&configmaps(), object).unwrap();
    let meta = &created["metadata"];
    assert_eq!(
        (&created["kind"], &created["apiVersion"]),
        (&json!("ConfigMap"), &json!("v1"))
    );
    assert_eq!(meta["namespace"], "default");
    assert_eq!(meta["creationTimestamp"], "2026-01-01T00:01:01Z");
    let uid = meta["uid"].as_str().unwrap();
    assert!(uid.len() == 36 && uid != "mine", "{uid}");
    assert_eq!(meta["resourceVersion"], api.revision().to_string());
    assert_eq!(meta["deletionTimestamp"], json!(null));
    assert_eq!(meta["generation"], 7, "nobody counts those of config maps");
    assert_eq!(api.get(&configmaps(), Some("default"), "a").unwrap(), created);
}

#[test]
fn a_create_of_what_exists_is_refused() {
    let mut api = FakeApi::with_builtins();
    api.create(&configmaps(), named("a")).unwrap();
    let before = api.revision();
    let error = api.create(&configmaps(), named("a")).unwrap_err();
    assert_eq!((error.code(), error.reason()), (409, "AlreadyExists"));
    assert_eq!(error.message(), "configmaps \"a\" already exists");
    assert_eq!(api.revision(), before, "a refused write has no version");
}

#[test]
fn names_are_generated_and_checked() {
    let mut api = FakeApi::with_builtins();
    let mut generated = Vec::new();
    for _ in 0..2 {
        let object = json!({"metadata": {"generateName": "web-"}});
        generated.push(name(&api.create(&pods(), object).unwrap()).to_owned());
    }
    assert!(
        generated
            .iter()
            .all(|name| name.len() == 9 && name.starts_with("web-")),
        "{generated:?}"
    );
    assert_ne!(generated[0], generated[1]);

    let error = api.create(&pods(), json!({"metadata": {}})).unwrap_err();
    assert_eq!((error.code(), error.reason()), (422, "Invalid"));
    assert_eq!(
        error.message(),
        "Pod \"\" is invalid: metadata.name: Required value: name or generateName is required"
    );
    for bad in ["Upper", "-edge", "under_score", "a..b"] {
        let error = api.create(&pods(), named(bad)).unwrap_err();
        assert_eq!(error.code(), 422, "{bad}");
    }
    let roles = Resource::namespaced("rbac.authorization.k8s.io", "v1", "roles", "Role");
    api.create(&roles, named("system:Reader")).unwrap();
}

#[test]
fn an_update_needs_the_version_it_began_with() {
    let mut api = FakeApi::with_builtins();
    let mut first = api.create(&configmaps(), named("a")).unwrap();
    let stale = first.clone();
    first["data"] = json!({"k": "1"});
    let second = api.update(&configmaps(), first).unwrap();
    assert!(version(&second) > version(&stale));

    let error = api.update(&configmaps(), stale).unwrap_err();
    assert_eq!((error.code(), error.reason()), (409, "Conflict"));
    assert_eq!(
        error.message(),
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version \
         and try again"
    );
    // Without a version the last write wins, for a built-in kind.
    let unconditional = json!({"metadata": {"name": "a"}, "data": {"k": "2"}});
    api.update(&configmaps(), unconditional).unwrap();

    let error = api
        .update(&configmaps(), json!({"metadata": {"name": "a", "uid": "other"}}))
        .unwrap_err();
    assert_eq!(error.code(), 409);
    assert!(
        error
            .message()
            .contains("Precondition failed: UID in precondition: other"),
        "{error}"
    );
    assert_eq!(
        api.update(&configmaps(), named("missing")).unwrap_err().code(),
        404
    );
}

/// Leases are created by an update too; but not one that was made from a lease that is gone (kube-apiserver checks the uid first).
#[test]
fn an_update_that_may_create_does_not_bring_back_what_was_deleted() {
    let leases = Resource::namespaced("coordination.k8s.io", "v1", "leases", "Lease");
    let mut api = FakeApi::with_builtins();
    let old = api.update(&leases, named("a")).unwrap();
    api.delete(&leases, Some("default"), "a").unwrap();
    let error = api.update(&leases, old).unwrap_err();
    assert_eq!((error.code(), error.reason()), (409, "Conflict"));
    assert!(
        error
            .message()
            .contains("Precondition failed: UID in precondition"),
        "{error}"
    );
    api.update(&leases, named("a")).unwrap();
}

#[test]
fn an_update_that_changes_nothing_is_no_change() {
    let mut api = FakeApi::with_builtins();
    let object = api.create(&configmaps(), named("a")).unwrap();
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(api.revision()))
        .unwrap();
    assert_eq!(api.update(&configmaps(), object.clone()).unwrap(), object);
    assert!(api.drain_watch(watch).is_empty());
}

#[test]
fn an_update_cannot_touch_what_the_system_sets() {
    let mut api = FakeApi::with_builtins();
    let mut object = api
        .create(
            &deployments(),
            json!({"metadata": {"name": "d"}, "spec": {"replicas": 1}}),
        )
        .unwrap();
    let created = object["metadata"]["creationTimestamp"].clone();
    object["metadata"]["creationTimestamp"] = json!("1999-01-01T00:00:00Z");
    object["metadata"]["generation"] = json!(40);
    object["metadata"]["labels"] = json!({"a": "b"});
    let object = api.update(&deployments(), object).unwrap();
    assert_eq!(object["metadata"]["creationTimestamp"], created);
    assert_eq!(
        object["metadata"]["generation"], 1,
        "a label is no change of the spec"
    );
}

#[test]
fn main_resource_and_status_write_their_own_part() {
    let mut api = FakeApi::with_builtins();
    let object = json!({"metadata": {"name": "d"}, "spec": {"replicas": 1}, "status": {"replicas": 9}});
    let mut object = api.create(&deployments(), object).unwrap();
    assert_eq!(object["status"], json!(null), "a create does not set the status");

    object["status"] = json!({"replicas": 1});
    object["spec"]["replicas"] = json!(5);
    let mut object = api.update_status(&deployments(), object).unwrap();
    assert_eq!(
        (&object["spec"]["replicas"], &object["status"]["replicas"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(object["metadata"]["generation"], 1);

    object["status"] = json!({"replicas": 7});
    object["spec"]["replicas"] = json!(2);
    let object = api.update(&deployments(), object).unwrap();
    assert_eq!(
        (&object["spec"]["replicas"], &object["status"]["replicas"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(object["metadata"]["generation"], 2);

    let pod = api.create(&pods(), named("p")).unwrap();
    assert_eq!(pod["status"]["phase"], "Pending");
}

#[test]
fn patches_merge_or_apply_operations() {
    let mut api = FakeApi::with_builtins();
    let object = json!({"metadata": {"name": "a"}, "data": {"keep": "1", "drop": "2"}});
    let created = api.create(&configmaps(), object).unwrap();
    let patch = |api: &mut FakeApi, patch: Patch| api.patch(&configmaps(), Some("default"), "a", &patch);

    let merge = Patch::Merge(json!({"data": {"drop": null, "new": "3"}}));
    let patched = patch(&mut api, merge.clone()).unwrap();
    assert_eq!(patched["data"], json!({"keep": "1", "new": "3"}));
    assert_eq!(
        patch(&mut api, merge).unwrap(),
        patched,
        "the same again changes nothing"
    );

    let operations = json!([{"op": "test", "path": "/data/keep", "value": "1"}, {"op": "move", "from": "/data/new", "path": "/data/old"}]);
    let patched = patch(&mut api, Patch::Json(operations.clone())).unwrap();
    assert_eq!(patched["data"], json!({"keep": "1", "old": "3"}));
    let error = patch(&mut api, Patch::Json(operations)).unwrap_err();
    assert_eq!((error.code(), error.reason()), (422, "Invalid"));

    let stale =
        json!({"metadata": {"resourceVersion": created["metadata"]["resourceVersion"]}, "data": {"x": "y"}});
    assert_eq!(patch(&mut api, Patch::Merge(stale)).unwrap_err().code(), 409);
    assert_eq!(
        patch(&mut api, Patch::Merge(json!({"metadata": {"name": "b"}})))
            .unwrap_err()
            .code(),
        400
    );
    assert_eq!(
        patch(&mut api, Patch::Json(json!({"not": "a list"})))
            .unwrap_err()
            .code(),
        400
    );
}

#[test]
fn finalizers_hold_a_deleted_object() {
    let mut api = FakeApi::with_builtins();
    let object = json!({"metadata": {"name": "a", "finalizers": ["example.com/one", "example.com/two"]}});
    let from = api.revision();
    api.create(&configmaps(), object).unwrap();
    let marked = api.delete(&configmaps(), Some("default"), "a").unwrap();
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(
        api.delete(&configmaps(), Some("default"), "a").unwrap(),
        marked,
        "marking again changes nothing"
    );

    let more = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/one", "example.com/three"]}}));
    let error = api.patch(&configmaps(), Some("default"), "a", &more).unwrap_err();
    assert_eq!(error.code(), 422);
    assert!(
        error.message().contains("no new finalizers can be added"),
        "{error}"
    );

    for left in [json!(["example.com/two"]), json!([])] {
        let fewer = Patch::Merge(json!({"metadata": {"finalizers": left}}));
        api.patch(&configmaps(), Some("default"), "a", &fewer).unwrap();
    }
    assert_eq!(
        api.get(&configmaps(), Some("default"), "a").unwrap_err().code(),
        404
    );
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(from))
        .unwrap();
    let events = told(&api.drain_watch(watch));
    let at = |n: u64| from + n;
    assert_eq!(
        events,
        [
            format!("ADDED a@{}", at(1)),
            format!("MODIFIED a@{}", at(2)),
            format!("MODIFIED a@{}", at(3)),
            format!("DELETED a@{}", at(4)),
        ]
    );
}

#[test]
fn preconditions_guard_a_deletion() {
    let mut api = FakeApi::with_builtins();
    let object = api.create(&configmaps(), named("a")).unwrap();
    let mut options = DeleteOptions::default();
    options.uid = Some("other".into());
    let error = api
        .delete_with(&configmaps(), Some("default"), "a", &options)
        .unwrap_err();
    assert_eq!((error.code(), error.reason()), (409, "Conflict"));
    assert!(
        error
            .message()
            .contains("the UID in the precondition (other) does not match"),
        "{error}"
    );

    options.uid = object["metadata"]["uid"].as_str().map(str::to_owned);
    options.version = Some("1".into());
    assert_eq!(
        api.delete_with(&configmaps(), Some("default"), "a", &options)
            .unwrap_err()
            .code(),
        409
    );
    options.version = object["metadata"]["resourceVersion"].as_str().map(str::to_owned);
    options.dry_run = true;
    api.delete_with(&configmaps(), Some("default"), "a", &options)
        .unwrap();
    options.dry_run = false;
    api.delete_with(&configmaps(), Some("default"), "a", &options)
        .unwrap();
    assert_eq!(api.count(&configmaps()), 0);
}

#[test]
fn a_collection_is_deleted_by_selector() {
    let mut api = FakeApi::with_builtins();
    for (name, color) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        api.create(
            &configmaps(),
            json!({"metadata": {"name": name, "labels": {"color": color}}}),
        )
        .unwrap();
    }
    api.create(
        &configmaps(),
        json!({"metadata": {"name": "d", "namespace": "kube-system", "labels": {"color": "red"}}}),
    )
    .unwrap();
    let red = ListOptions::in_namespace("default").labels("color=red");
    assert_eq!(api.delete_collection(&configmaps(), &red).unwrap(), 2);
    assert_eq!(names(&api.all(&configmaps())), ["b", "d"]);
}

#[test]
fn a_name_that_is_used_again_is_another_object() {
    let mut api = FakeApi::with_builtins();
    let first = api.create(&pods(), named("a")).unwrap();
    api.delete(&pods(), Some("default"), "a").unwrap();
    let second = api.create(&pods(), named("a")).unwrap();
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);
}

#[test]
fn put_writes_whatever_is_there_and_whatever_is_not() {
    let mut api = FakeApi::with_builtins();
    let object =
        |phase: &str| json!({"metadata": {"name": "a", "resourceVersion": "1"}, "status": {"phase": phase}});
    api.put(&pods(), object("Running")).unwrap();
    let put = api.put(&pods(), object("Failed")).unwrap();
    assert_eq!(put["status"]["phase"], "Failed");
    assert_eq!(api.count(&pods()), 1);
}

#[test]
fn equal_seeds_give_equal_clusters() {
    let build = || {
        let mut api = FakeApi::with_builtins();
        for _ in 0..5 {
            api.create(&pods(), json!({"metadata": {"generateName": "p-"}}))
                .unwrap();
        }
        api.all(&pods())
    };
    assert_eq!(build(), build());
}
