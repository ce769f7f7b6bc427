//! Server-side apply: fields and their managers.

use informer_core::Resource;
use informer_testkit::{FakeApi, Patch, WatchOptions};
use serde_json::{Value, json};

use crate::support::{configmaps, named, version};

fn deployments() -> Resource {
    Resource::namespaced("apps", "v1", "deployments", "Deployment")
}

fn data(value: Value) -> Value {
    json!({"metadata": {"name": "a"}, "data": value})
}

fn managers(object: &Value) -> Vec<(&str, &str, String)> {
    let entries = object["metadata"]["managedFields"].as_array();
    entries
        .into_iter()
        .flatten()
        .map(|entry| {
            (
                entry["manager"].as_str().unwrap(),
                entry["operation"].as_str().unwrap(),
                entry["fieldsV1"].to_string(),
            )
        })
        .collect()
}

#[test]
fn what_is_applied_is_made_and_owned() {
    let mut api = FakeApi::with_builtins();
    let object = api
        .apply(&configmaps(), data(json!({"k": "1"})), "one", false)
        .unwrap();
    assert_eq!(object["data"], json!({"k": "1"}));
    assert_eq!(
        managers(&object),
        [("one", "Apply", r#"{"f:data":{"f:k":{}}}"#.to_owned())]
    );
    let again = api
        .apply(&configmaps(), data(json!({"k": "1"})), "one", false)
        .unwrap();
    assert_eq!(again, object, "the same again is no change");
}

#[test]
fn what_is_not_applied_any_more_goes_unless_somebody_else_has_it() {
    let mut api = FakeApi::with_builtins();
    let mut apply = |manager: &str, fields: Value| {
        let object = api.apply(&configmaps(), data(fields), manager, false).unwrap();
        object["data"].clone()
    };
    apply("one", json!({"k": "1", "l": "1"}));
    assert_eq!(
        apply("two", json!({"k": "1"})),
        json!({"k": "1", "l": "1"}),
        "shared"
    );
    assert_eq!(apply("one", json!({})), json!({"k": "1"}), "two still has k");
    assert_eq!(apply("two", json!({})), json!(null));
}

#[test]
fn other_values_of_what_others_own_are_conflicts_that_force_settles() {
    let mut api = FakeApi::with_builtins();
    api.apply(&configmaps(), data(json!({"k": "1", "l": "1"})), "one", false)
        .unwrap();
    let before = api.revision();
    let error = api
        .apply(&configmaps(), data(json!({"k": "2"})), "two", false)
        .unwrap_err();
    assert_eq!((error.code(), error.reason()), (409, "Conflict"));
    assert_eq!(
        error.message(),
        r#"Apply failed with 1 conflict: conflict with "one": .data.k"#
    );
    let status: Value = serde_json::from_slice(&error.to_json()).unwrap();
    assert_eq!(
        status["details"]["causes"],
        json!([{"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".data.k"}])
    );
    assert_eq!(api.revision(), before);

    let object = api
        .apply(&configmaps(), data(json!({"k": "2"})), "two", true)
        .unwrap();
    assert_eq!(object["data"], json!({"k": "2", "l": "1"}));
    // It is two's now: one gives up the rest, and nothing of two's.
    let object = api.apply(&configmaps(), data(json!({})), "one", false).unwrap();
    assert_eq!(object["data"], json!({"k": "2"}));
}

#[test]
fn an_update_takes_what_it_changes() {
    let mut api = FakeApi::with_builtins();
    api.apply(&configmaps(), data(json!({"k": "1", "l": "1"})), "one", false)
        .unwrap();
    let merge = Patch::Merge(json!({"data": {"k": "2"}}));
    let object = api.patch(&configmaps(), Some("default"), "a", &merge).unwrap();
    assert_eq!(
        managers(&object),
        [
            ("one", "Apply", r#"{"f:data":{"f:l":{}}}"#.to_owned()),
            ("unknown", "Update", r#"{"f:data":{"f:k":{}}}"#.to_owned()),
        ]
    );
    let error = api
        .apply(&configmaps(), data(json!({"k": "1", "l": "1"})), "one", false)
        .unwrap_err();
    assert_eq!(
        error.message(),
        r#"Apply failed with 1 conflict: conflict with "unknown" using v1: .data.k"#
    );
}

#[test]
fn what_was_there_before_the_first_apply_has_a_manager_then() {
    let mut api = FakeApi::with_builtins();
    let object = api.create(&configmaps(), data(json!({"k": "1"}))).unwrap();
    assert_eq!(
        object["metadata"]["managedFields"],
        json!(null),
        "not tracked yet"
    );
    let error = api
        .apply(&configmaps(), data(json!({"k": "2"})), "one", false)
        .unwrap_err();
    assert!(
        error.message().contains("\"before-first-apply\" using v1"),
        "{error}"
    );
    let object = api
        .apply(&configmaps(), data(json!({"k": "1"})), "one", false)
        .unwrap();
    assert_eq!(managers(&object).len(), 2);
}

#[test]
fn items_with_keys_are_owned_field_by_field() {
    let mut api = FakeApi::with_builtins();
    let deployment = |containers: Value| json!({"metadata": {"name": "d"}, "spec": {"template": {"spec": {"containers": containers}}}});
    let containers = |object: &Value| object["spec"]["template"]["spec"]["containers"].clone();
    let main = deployment(json!([{"name": "main", "image": "i:1", "args": ["x", "y"]}]));
    api.apply(&deployments(), main, "one", false).unwrap();
    let side =
        json!([{"name": "main", "env": [{"name": "A", "value": "1"}]}, {"name": "side", "image": "s:1"}]);
    let object = api.apply(&deployments(), deployment(side), "two", false).unwrap();
    assert_eq!(
        containers(&object),
        json!([
            {"name": "main", "image": "i:1", "args": ["x", "y"], "env": [{"name": "A", "value": "1"}]},
            {"name": "side", "image": "s:1"},
        ])
    );
    // A list without keys is one value.
    let args = deployment(json!([{"name": "main", "args": ["x"]}]));
    let error = api.apply(&deployments(), args, "two", false).unwrap_err();
    assert!(
        error
            .message()
            .ends_with(r#".spec.template.spec.containers[name="main"].args"#),
        "{error}"
    );
    let object = api
        .apply(&deployments(), deployment(json!([])), "two", true)
        .unwrap();
    assert_eq!(
        containers(&object),
        json!([{"name": "main", "image": "i:1", "args": ["x", "y"]}]),
        "what is not named any more goes, and nothing else"
    );
}

#[test]
fn an_item_goes_when_nobody_has_anything_of_it() {
    let mut api = FakeApi::with_builtins();
    let pod = |containers: Value| json!({"metadata": {"name": "d"}, "spec": {"template": {"spec": {"containers": containers}}}});
    api.apply(
        &deployments(),
        pod(json!([{"name": "main", "image": "i:1"}])),
        "one",
        false,
    )
    .unwrap();
    let both = json!([{"name": "side", "image": "s:1"}, {"name": "main", "command": ["c"]}]);
    api.apply(&deployments(), pod(both), "two", false).unwrap();
    let object = api
        .apply(&deployments(), json!({"metadata": {"name": "d"}}), "two", false)
        .unwrap();
    assert_eq!(
        object["spec"]["template"]["spec"]["containers"],
        json!([{"name": "main", "image": "i:1"}])
    );
}

#[test]
fn sets_are_owned_value_by_value() {
    let mut api = FakeApi::with_builtins();
    let object = |finalizers: Value| json!({"metadata": {"name": "a", "finalizers": finalizers}});
    api.apply(&configmaps(), object(json!(["example.com/one"])), "one", false)
        .unwrap();
    let both = api
        .apply(&configmaps(), object(json!(["example.com/two"])), "two", false)
        .unwrap();
    assert_eq!(
        both["metadata"]["finalizers"],
        json!(["example.com/one", "example.com/two"])
    );
    let rest = api.apply(&configmaps(), named("a"), "one", false).unwrap();
    assert_eq!(rest["metadata"]["finalizers"], json!(["example.com/two"]));
}

#[test]
fn lists_of_custom_resources_have_the_keys_of_their_schema() {
    let mut api = FakeApi::with_builtins();
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let parts = json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["id"],
        "items": {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}},
    });
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"parts": parts}}}});
    let definition = json!({"metadata": {"name": "things.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
    }});
    api.create(&definitions, definition).unwrap();
    let things = Resource::namespaced("example.com", "v1", "things", "Thing");
    let thing = |parts: Value| json!({"metadata": {"name": "t"}, "spec": {"parts": parts}});
    api.apply(&things, thing(json!([{"id": "a", "n": 1}])), "one", false)
        .unwrap();
    let object = api
        .apply(&things, thing(json!([{"id": "b", "n": 2}])), "two", false)
        .unwrap();
    assert_eq!(
        object["spec"]["parts"],
        json!([{"id": "a", "n": 1}, {"id": "b", "n": 2}])
    );
}

#[test]
fn an_apply_can_be_for_one_version_and_is_one_event() {
    let mut api = FakeApi::with_builtins();
    let first = api
        .apply(&configmaps(), data(json!({"k": "1"})), "one", false)
        .unwrap();
    let second = api
        .apply(&configmaps(), data(json!({"k": "2"})), "one", false)
        .unwrap();
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(version(&first)))
        .unwrap();
    let events = api.drain_watch(watch);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["object"], second);
    let stale = json!({"metadata": {"name": "a", "resourceVersion": version(&first).to_string()}, "data": {"k": "3"}});
    assert_eq!(
        api.apply(&configmaps(), stale, "one", false).unwrap_err().code(),
        409
    );
    assert_eq!(
        api.apply(&configmaps(), data(json!({})), "", false)
            .unwrap_err()
            .code(),
        422,
        "nobody is no manager"
    );
}
