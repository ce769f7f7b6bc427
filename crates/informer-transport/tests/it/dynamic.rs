//! Dynamic objects.

use informer_transport::DynamicObject;
use serde_json::{Value, json};

fn pod() -> DynamicObject {
    DynamicObject::from_value(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "5",
                     "labels": {"app/name": "web"}, "annotations": {"x": "y"}},
        "status": {"list": [{"ready": true}]},
    }))
    .unwrap()
}

#[test]
fn reads_at_pointers() {
    let pod = pod();
    assert_eq!(pod.get("/status/list/0/ready"), Some(&Value::Bool(true)));
    assert_eq!(pod.text("/metadata/labels/app~1name"), Some("web"));
    assert_eq!(pod.get("/status").unwrap(), &json!({"list": [{"ready": true}]}));
    for nowhere in ["", "status", "/nope", "/status/list/7", "/kind/x"] {
        assert_eq!(pod.get(nowhere), None, "{nowhere:?}");
    }
}

#[test]
fn reads_metadata() {
    let pod = pod();
    assert_eq!((pod.api_version(), pod.kind(), pod.name()), ("v1", "Pod", "a"));
    assert_eq!(
        (pod.namespace(), pod.uid(), pod.resource_version()),
        (Some("n"), "u", "5")
    );
    assert_eq!(
        (pod.label("app/name"), pod.label("x"), pod.annotation("x")),
        (Some("web"), None, Some("y"))
    );
    let empty = DynamicObject::default();
    assert_eq!(
        (empty.name(), empty.namespace(), empty.label("x")),
        ("", None, None)
    );
}

#[test]
fn sets_at_pointers_and_makes_the_way() {
    let mut object = DynamicObject::new("v1", "ConfigMap", "a");
    object.set("/data/a~1b", "x");
    object.set("/data/c", 1);
    object.set("/kind/deep", true);
    let expected = json!({"apiVersion": "v1", "kind": {"deep": true}, "metadata": {"name": "a"}, "data": {"a/b": "x", "c": 1}});
    assert_eq!(object.into_value(), expected);
}

#[test]
fn only_json_objects_are_objects() {
    assert!(DynamicObject::from_value(json!([])).is_none());
    assert!(serde_json::from_str::<DynamicObject>("3").is_err());
}
