//! Strategic merge patches.

use informer_core::Resource;
use informer_testkit::{FakeApi, Patch};
use serde_json::{Value, json};

use crate::support::configmaps;

fn deployments() -> Resource {
    Resource::namespaced("apps", "v1", "deployments", "Deployment")
}

/// A deployment with these containers.
fn with(containers: Value) -> FakeApi {
    let mut api = FakeApi::with_builtins();
    let object =
        json!({"metadata": {"name": "d"}, "spec": {"template": {"spec": {"containers": containers}}}});
    api.create(&deployments(), object).unwrap();
    api
}

fn patched(api: &mut FakeApi, spec: Value) -> Value {
    let patch = Patch::Strategic(json!({"spec": {"template": {"spec": spec}}}));
    let object = api.patch(&deployments(), Some("default"), "d", &patch).unwrap();
    object["spec"]["template"]["spec"].clone()
}

#[test]
fn items_are_merged_by_their_key() {
    let mut api =
        with(json!([{"name": "one", "image": "i:1", "args": ["x"]}, {"name": "two", "image": "j:1"}]));
    let patch = json!({"containers": [{"name": "two", "image": "j:2"}, {"name": "one", "args": ["y", "z"]}]});
    assert_eq!(
        patched(&mut api, patch)["containers"],
        json!([{"name": "two", "image": "j:2"}, {"name": "one", "image": "i:1", "args": ["y", "z"]}]),
        "in the patch's order; a list without a key is replaced"
    );
}

#[test]
fn new_items_come_before_those_that_the_patch_does_not_name() {
    let mut api = with(json!([{"name": "one"}]));
    assert_eq!(
        patched(&mut api, json!({"containers": [{"name": "new"}]}))["containers"],
        json!([{"name": "new"}, {"name": "one"}])
    );
}

#[test]
fn directives_delete_replace_and_order() {
    let mut api = with(json!([{"name": "one"}, {"name": "two"}, {"name": "three"}]));
    let patch = json!({"containers": [{"name": "two", "$patch": "delete"}]});
    assert_eq!(
        patched(&mut api, patch)["containers"],
        json!([{"name": "one"}, {"name": "three"}])
    );
    let patch = json!({
        "$setElementOrder/containers": [{"name": "three"}, {"name": "one"}],
        "containers": [{"name": "one", "image": "i"}],
    });
    assert_eq!(
        patched(&mut api, patch)["containers"],
        json!([{"name": "three"}, {"name": "one", "image": "i"}])
    );
    let patch = json!({"containers": [{"$patch": "replace"}, {"name": "only"}]});
    assert_eq!(patched(&mut api, patch)["containers"], json!([{"name": "only"}]));
    let patch = json!({"nodeSelector": {"a": "b"}, "volumes": [{"name": "v", "emptyDir": {}}]});
    patched(&mut api, patch);
    let patch = json!({"nodeSelector": {"$patch": "delete"}, "volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}]});
    let spec = patched(&mut api, patch);
    assert_eq!(spec["nodeSelector"], json!(null));
    assert_eq!(spec["volumes"], json!([{"name": "v", "hostPath": {"path": "/"}}]));
}

#[test]
fn values_are_added_and_taken_away_one_by_one() {
    let mut api = FakeApi::with_builtins();
    let object = json!({"metadata": {"name": "a", "finalizers": ["example.com/a", "example.com/b"]}});
    api.create(&configmaps(), object).unwrap();
    let patch = Patch::Strategic(json!({"metadata": {
        "$deleteFromPrimitiveList/finalizers": ["example.com/a"],
        "finalizers": ["example.com/c"],
    }}));
    let object = api.patch(&configmaps(), Some("default"), "a", &patch).unwrap();
    assert_eq!(
        object["metadata"]["finalizers"],
        json!(["example.com/c", "example.com/b"])
    );
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let mut api = with(json!([{"name": "one"}]));
    let mut refused = |patch: Value| {
        let patch = Patch::Strategic(patch);
        api.patch(&deployments(), Some("default"), "d", &patch)
            .unwrap_err()
            .code()
    };
    assert_eq!(
        refused(json!({"spec": {"template": {"spec": {"containers": [{"image": "i"}]}}}})),
        500
    );
    assert_eq!(refused(json!({"metadata": {"$patch": "dance"}})), 500);
    assert_eq!(refused(json!([])), 400);
}
