//! What a deletion is asked with, what it answers, and what else it touches: propagation, events of two groups, scale, versions.

use http::Method;
use informer_core::Resource;
use informer_testkit::{DeleteOptions, FakeApi, Patch, Propagation, WatchOptions};
use serde_json::json;

use crate::support::{Site, configmaps, name, named, version};

#[test]
fn propagation_holds_an_object_by_a_finalizer() {
    for (policy, finalizer) in [
        (Propagation::Foreground, "foregroundDeletion"),
        (Propagation::Orphan, "orphan"),
    ] {
        let mut api = FakeApi::with_builtins();
        api.create(&configmaps(), named("a")).unwrap();
        let mut options = DeleteOptions::default();
        options.propagation = Some(policy);
        let held = api
            .delete_with(&configmaps(), Some("default"), "a", &options)
            .unwrap();
        assert_eq!(held["metadata"]["finalizers"], json!([finalizer]));
        options.propagation = Some(Propagation::Background);
        api.delete_with(&configmaps(), Some("default"), "a", &options)
            .unwrap();
        assert_eq!(api.count(&configmaps()), 0, "another mind about it");
    }
}

#[test]
fn the_last_finalizer_takes_the_object_with_it() {
    let mut api = FakeApi::with_builtins();
    let object = json!({"metadata": {"name": "a", "finalizers": ["example.com/one"]}});
    api.create(&configmaps(), object).unwrap();
    let held = api.delete(&configmaps(), Some("default"), "a").unwrap();
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(api.revision()))
        .unwrap();
    let last = Patch::Merge(json!({"metadata": {"finalizers": null}, "data": {"last": "words"}}));
    let answer = api.patch(&configmaps(), Some("default"), "a", &last).unwrap();
    assert_eq!(version(&answer), version(&held), "the version before the removal");
    assert_eq!(answer["data"], json!({"last": "words"}));
    let events = api.drain_watch(watch);
    assert_eq!(events.len(), 1);
    let gone = &events[0]["object"];
    assert_eq!((&events[0]["type"], name(gone)), (&json!("DELETED"), "a"));
    assert!(version(gone) > version(&held));
    assert_eq!(gone["data"], json!(null), "nobody ever stored the last words");
}

#[test]
fn options_are_in_the_body_or_else_in_the_query() {
    let mut site = Site::new();
    let path = "/api/v1/namespaces/default/configmaps/a";
    let mut delete = |query: &str, body: &str| {
        let _there = site.api.create(&configmaps(), named("a"));
        let (status, _) = site.call(Method::DELETE, &format!("{path}?{query}"), body);
        (status, site.api.count(&configmaps()))
    };
    assert_eq!(delete("dryRun=All", ""), (200, 1));
    assert_eq!(delete("", r#"{"dryRun": ["All"]}"#), (200, 1));
    assert_eq!(delete("dryRun=Some", ""), (422, 1));
    assert_eq!(delete("propagationPolicy=Sometimes", ""), (422, 1));
    assert_eq!(
        delete("", r#"{"kind": "ConfigMap", "apiVersion": "v1"}"#),
        (400, 1)
    );
    assert_eq!(
        delete("dryRun=All", "{}"),
        (200, 0),
        "with a body, the query is not looked at"
    );
}

#[test]
fn events_of_both_groups_are_the_same_objects() {
    let mut api = FakeApi::with_builtins();
    let old = Resource::namespaced("", "v1", "events", "Event");
    let new = Resource::namespaced("events.k8s.io", "v1", "events", "Event");
    let object = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p"}, "message": "it did", "count": 3});
    let created = api.create(&old, object).unwrap();
    let told = api.get(&new, Some("default"), "e").unwrap();
    assert_eq!(told["apiVersion"], "events.k8s.io/v1");
    assert_eq!(told["metadata"], created["metadata"]);
    assert_eq!(
        (
            &told["regarding"]["name"],
            &told["note"],
            &told["deprecatedCount"]
        ),
        (&json!("p"), &json!("it did"), &json!(3))
    );
    assert_eq!(told["involvedObject"], json!(null));

    let patch = Patch::Merge(json!({"note": "it did not"}));
    api.patch(&new, Some("default"), "e", &patch).unwrap();
    let told = api.get(&old, Some("default"), "e").unwrap();
    assert_eq!(told["message"], "it did not");
    let mut site = Site::of(api);
    for path in [
        "/api/v1/events?fieldSelector=involvedObject.name%3Dp",
        "/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp",
    ] {
        let (status, list) = site.get(path);
        assert_eq!((status, name(&list["items"][0])), (200, "e"), "{path}");
    }
}

#[test]
fn workloads_are_scaled() {
    let mut site = Site::new();
    let deployments = Resource::namespaced("apps", "v1", "deployments", "Deployment");
    let object =
        json!({"metadata": {"name": "d"}, "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}}});
    site.api.create(&deployments, object).unwrap();
    let path = "/apis/apps/v1/namespaces/default/deployments/d/scale";
    let (status, scale) = site.get(path);
    assert_eq!((status, &scale["kind"]), (200, &json!("Scale")));
    assert_eq!(
        (&scale["spec"]["replicas"], &scale["status"]["selector"]),
        (&json!(1), &json!("a=b"))
    );
    let mut more = scale;
    more["spec"]["replicas"] = json!(3);
    assert_eq!(site.call(Method::PUT, path, &more.to_string()).0, 200);
    assert_eq!(
        site.call(Method::PUT, path, &more.to_string()).0,
        409,
        "of an old version"
    );
    let object = site.api.get(&deployments, Some("default"), "d").unwrap();
    assert_eq!(
        (&object["spec"]["replicas"], &object["metadata"]["generation"]),
        (&json!(3), &json!(2))
    );
}

#[test]
fn the_last_served_version_can_be_switched_off_and_on() {
    let mut site = Site::new();
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let definition = json!({"metadata": {"name": "things.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true}],
    }});
    site.api.create(&definitions, definition).unwrap();
    let things = Resource::namespaced("example.com", "v1", "things", "Thing");
    site.api.create(&things, named("t")).unwrap();
    let serve = |site: &mut Site, served: bool| {
        let patch = json!([{"op": "replace", "path": "/spec/versions/0/served", "value": served}]);
        site.api
            .patch(&definitions, None, "things.example.com", &Patch::Json(patch))
            .unwrap();
        site.get("/apis/example.com/v1/namespaces/default/things/t").0
    };
    assert_eq!(serve(&mut site, false), 404);
    assert_eq!(serve(&mut site, true), 200, "its objects were there all the time");
}

#[test]
fn definitions_are_named_after_what_they_define_and_have_one_stored_version() {
    let mut api = FakeApi::with_builtins();
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let mut refused = |name: &str, storage: bool| {
        let definition = json!({"metadata": {"name": name}, "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": storage}],
        }});
        api.create(&definitions, definition).map_err(|error| error.code())
    };
    assert_eq!(refused("other.example.com", true).unwrap_err(), 422);
    assert_eq!(refused("things.example.com", false).unwrap_err(), 422);
    let definition = refused("things.example.com", true).unwrap();
    assert_eq!(definition["spec"]["names"]["listKind"], "ThingList");
}
