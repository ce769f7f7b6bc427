//! Custom resources come and go.

use informer_core::Resource;
use informer_testkit::{FakeApi, ListOptions, Patch, WatchEnd, WatchOptions, WatchPoll};
use serde_json::{Value, json};

use crate::support::{Site, named, names, told};

fn definitions() -> Resource {
    Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    )
}

fn widgets(version: &str) -> Resource {
    Resource::namespaced("example.com", version, "widgets", "Widget")
}

fn definition() -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {"name": "v1alpha1", "served": true, "storage": false},
                {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "selectableFields": [{"jsonPath": ".spec.color"}]},
                {"name": "v0", "served": false, "storage": false},
            ],
        },
    })
}

#[test]
fn a_definition_serves_its_versions() {
    let mut api = FakeApi::with_builtins();
    assert_eq!(api.create(&widgets("v1"), named("a")).unwrap_err().code(), 404);
    let watch = api
        .watch(&definitions(), &WatchOptions::from_version(api.revision()))
        .unwrap();
    api.create(&definitions(), definition()).unwrap();
    let events = api.drain_watch(watch);
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["ADDED", "MODIFIED"], "its status follows");
    let conditions = events[1]["object"]["status"]["conditions"].as_array().unwrap();
    assert!(
        conditions
            .iter()
            .any(|it| it["type"] == "Established" && it["status"] == "True")
    );

    let created = api
        .create(
            &widgets("v1"),
            json!({"metadata": {"name": "a"}, "spec": {"color": "red"}}),
        )
        .unwrap();
    assert_eq!(created["metadata"]["generation"], 1);
    let other = api.get(&widgets("v1alpha1"), Some("default"), "a").unwrap();
    assert_eq!(
        (&other["apiVersion"], &other["spec"]),
        (&json!("example.com/v1alpha1"), &json!({"color": "red"}))
    );
    assert_eq!(
        api.list(&widgets("v0"), &ListOptions::default())
            .unwrap_err()
            .code(),
        404
    );
    let red = api
        .list(&widgets("v1"), &ListOptions::default().fields("spec.color=red"))
        .unwrap();
    assert_eq!(names(&red.items), ["a"]);
}

#[test]
fn custom_resources_have_no_unconditional_update() {
    let mut api = FakeApi::with_builtins();
    api.create(&definitions(), definition()).unwrap();
    api.create(&widgets("v1"), named("a")).unwrap();
    let error = api.update(&widgets("v1"), named("a")).unwrap_err();
    assert_eq!((error.code(), error.reason()), (422, "Invalid"));
    assert!(
        error
            .message()
            .contains("metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
        "{error}"
    );
}

#[test]
fn a_watch_hears_the_deletes_then_ends_and_then_there_is_nothing() {
    let mut site = Site::new();
    let api = &mut site.api;
    api.create(&definitions(), definition()).unwrap();
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/never"]}});
    api.create(&widgets("v1"), held).unwrap();
    api.create(&widgets("v1"), named("free")).unwrap();
    let from = api.revision();
    let watch = api
        .watch(&widgets("v1"), &WatchOptions::from_version(from))
        .unwrap();
    api.delete(&definitions(), None, "widgets.example.com").unwrap();
    assert_eq!(
        told(&api.drain_watch(watch)),
        [
            // The mark on the definition is the version before.
            format!("DELETED free@{}", from + 2),
            format!("DELETED held@{}", from + 3)
        ]
    );
    assert_eq!(
        api.poll_watch(watch),
        WatchPoll::End(WatchEnd::Unknown),
        "it has ended"
    );
    let (status, _) = site.get("/apis/example.com/v1/namespaces/default/widgets");
    assert_eq!(status, 404);
    let (status, _) = site.get("/apis/example.com/v1");
    assert_eq!(status, 404);
}

#[test]
fn a_watch_whose_history_is_gone_says_so_once_and_ends_with_its_kind() {
    let mut api = FakeApi::with_builtins();
    api.create(&definitions(), definition()).unwrap();
    api.create(&widgets("v1"), named("a")).unwrap();
    let from = api.revision();
    let watch = api
        .watch(&widgets("v1"), &WatchOptions::from_version(from))
        .unwrap();
    api.create(&widgets("v1"), named("b")).unwrap();
    api.compact(api.revision());
    api.delete(&definitions(), None, "widgets.example.com").unwrap();
    let events = api.drain_watch(watch);
    let codes: Vec<&Value> = events.iter().map(|event| &event["object"]["code"]).collect();
    assert_eq!(codes, [410]);
}

#[test]
fn a_definition_that_comes_back_starts_anew() {
    let mut api = FakeApi::with_builtins();
    api.create(&definitions(), definition()).unwrap();
    api.create(&widgets("v1"), named("a")).unwrap();
    let old = api.revision();
    api.delete(&definitions(), None, "widgets.example.com").unwrap();
    api.create(&definitions(), definition()).unwrap();
    assert_eq!(api.count(&widgets("v1")), 0);
    let watch = api
        .watch(&widgets("v1"), &WatchOptions::from_version(old))
        .unwrap();
    assert_eq!(
        api.drain_watch(watch)[0]["object"]["code"],
        410,
        "its history begins with it"
    );
}

#[test]
fn versions_come_and_go_with_the_definition() {
    let mut api = FakeApi::with_builtins();
    api.create(&definitions(), definition()).unwrap();
    assert!(api.list(&widgets("v2"), &ListOptions::default()).is_err());
    let patch = Patch::Json(
        json!([{"op": "add", "path": "/spec/versions/-", "value": {"name": "v2", "served": true, "storage": false}}]),
    );
    api.patch(&definitions(), None, "widgets.example.com", &patch)
        .unwrap();
    assert!(api.list(&widgets("v2"), &ListOptions::default()).is_ok());
    let patch = Patch::Json(json!([{"op": "replace", "path": "/spec/versions/0/served", "value": false}]));
    api.patch(&definitions(), None, "widgets.example.com", &patch)
        .unwrap();
    assert!(
        api.list(&widgets("v1alpha1"), &ListOptions::default()).is_err(),
        "and one that is not served any more is gone"
    );
    assert!(api.list(&widgets("v1"), &ListOptions::default()).is_ok());
}
