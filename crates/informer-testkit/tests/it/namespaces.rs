//! The life of a namespace.

use http::Method;
use informer_core::Resource;
use informer_testkit::{FakeApi, Patch, WatchOptions};
use serde_json::{Value, json};

use crate::support::{Site, configmaps, named, told};

fn namespaces() -> Resource {
    Resource::cluster("", "v1", "namespaces", "Namespace")
}

fn there(name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "shop"}})
}

#[test]
fn a_new_namespace_has_a_label_a_finalizer_and_a_phase() {
    let mut api = FakeApi::with_builtins();
    let namespace = api.create(&namespaces(), named("shop")).unwrap();
    assert_eq!(
        namespace["metadata"]["labels"],
        json!({"kubernetes.io/metadata.name": "shop"})
    );
    assert_eq!(namespace["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(namespace["status"]["phase"], "Active");
    let relabelled = Patch::Merge(json!({"metadata": {"labels": null}}));
    let namespace = api.patch(&namespaces(), None, "shop", &relabelled).unwrap();
    assert_eq!(
        namespace["metadata"]["labels"],
        json!({"kubernetes.io/metadata.name": "shop"})
    );
}

#[test]
fn a_deleted_namespace_takes_its_contents_with_it() {
    let mut api = FakeApi::with_builtins();
    api.create(&namespaces(), named("shop")).unwrap();
    api.create(&configmaps(), there("a")).unwrap();
    api.create(&configmaps(), there("b")).unwrap();
    api.create(&configmaps(), named("elsewhere")).unwrap();
    let from = api.revision();
    let spaces = api
        .watch(&namespaces(), &WatchOptions::from_version(from))
        .unwrap();
    let maps = api
        .watch(&configmaps(), &WatchOptions::from_version(from))
        .unwrap();

    let answer = api.delete(&namespaces(), None, "shop").unwrap();
    assert_eq!(answer["status"]["phase"], "Terminating");
    assert_eq!(
        told(&api.drain_watch(spaces)),
        [
            format!("MODIFIED shop@{}", from + 1),
            format!("DELETED shop@{}", from + 4)
        ]
    );
    assert_eq!(
        told(&api.drain_watch(maps)),
        [
            format!("DELETED a@{}", from + 2),
            format!("DELETED b@{}", from + 3)
        ]
    );
    assert_eq!(api.count(&configmaps()), 1);
}

#[test]
fn finalizers_of_contents_and_of_its_own_hold_a_namespace() {
    let mut api = FakeApi::with_builtins();
    let own = json!({"metadata": {"name": "shop"}, "spec": {"finalizers": ["example.com/mine"]}});
    api.create(&namespaces(), own).unwrap();
    let mut held = there("held");
    held["metadata"]["finalizers"] = json!(["example.com/one"]);
    api.create(&configmaps(), held).unwrap();
    api.delete(&namespaces(), None, "shop").unwrap();
    let finalizers = |api: &FakeApi| {
        let namespace = api.get(&namespaces(), None, "shop");
        namespace.map(|it| it["spec"]["finalizers"].clone())
    };
    assert_eq!(
        finalizers(&api).unwrap(),
        json!(["example.com/mine", "kubernetes"]),
        "it is not empty"
    );
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    api.patch(&configmaps(), Some("shop"), "held", &free).unwrap();
    assert_eq!(finalizers(&api).unwrap(), json!(["example.com/mine"]), "it is");

    let mut site = Site::of(api);
    let body = json!({"metadata": {"name": "shop"}, "spec": {"finalizers": []}});
    let (status, _) = site.call(Method::PUT, "/api/v1/namespaces/shop/finalize", &body.to_string());
    assert_eq!(status, 200);
    assert_eq!(finalizers(&site.api).unwrap_err().code(), 404);
}

#[test]
fn requests_create_nothing_where_there_is_no_namespace_or_one_that_ends() {
    let mut site = Site::new();
    let path = "/api/v1/namespaces/shop/configmaps";
    let body = named("a").to_string();
    let (status, answer) = site.call(Method::POST, path, &body);
    assert_eq!(
        (status, &answer["message"]),
        (404, &json!("namespaces \"shop\" not found"))
    );
    let own = json!({"metadata": {"name": "shop"}, "spec": {"finalizers": ["example.com/mine"]}});
    site.api.create(&namespaces(), own).unwrap();
    assert_eq!(site.call(Method::POST, path, &body).0, 201);
    site.api.delete(&namespaces(), None, "shop").unwrap();
    let (status, answer) = site.call(Method::POST, path, &body);
    assert_eq!((status, &answer["reason"]), (403, &json!("Forbidden")));
    assert_eq!(answer["details"]["causes"][0]["reason"], "NamespaceTerminating");
    // Whoever owns the model may do what no client may.
    site.api.create(&configmaps(), there("late")).unwrap();
}

#[test]
fn some_namespaces_are_for_ever() {
    let mut api = FakeApi::with_builtins();
    for name in ["default", "kube-system", "kube-public"] {
        let error = api.delete(&namespaces(), None, name).unwrap_err();
        assert_eq!((error.code(), error.reason()), (403, "Forbidden"), "{name}");
    }
    api.delete(&namespaces(), None, "kube-node-lease").unwrap();
}
