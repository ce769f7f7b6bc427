//! References to objects of every form.

use informer_client::DynamicObject;
use informer_core::{Decoded, Entry, Identity, ObjectKey, Stamp};
use informer_events::ObjectReference;
use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::json;

use crate::support::pods;

fn web() -> ObjectReference {
    let mut reference = ObjectReference::default();
    reference.api_version = "v1".to_owned();
    reference.kind = "Pod".to_owned();
    reference.namespace = "default".to_owned();
    reference.name = "web".to_owned();
    reference.uid = "u1".to_owned();
    reference
}

#[test]
fn every_form_of_object_gives_the_same() {
    let metadata = json!({"namespace": "default", "name": "web", "uid": "u1", "resourceVersion": "7"});
    let dynamic = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
    let typed: Pod = serde_json::from_value(dynamic.clone()).unwrap();
    let dynamic = DynamicObject::from_value(dynamic).unwrap();
    let identity = Identity {
        namespace: Some("default".into()),
        name: "web".into(),
        stamp: Stamp::new("7", "u1"),
    };
    let entry = Entry {
        key: ObjectKey::new(Some("default"), "web"),
        stamp: identity.stamp.clone(),
        object: std::sync::Arc::new(()),
        stale: false,
    };
    let decoded = Decoded {
        identity: identity.clone(),
        object: (),
    };
    assert_eq!(ObjectReference::from(&dynamic), web());
    assert_eq!(ObjectReference::typed(&typed), web());
    assert_eq!(ObjectReference::identified(&pods(), &identity), web());
    assert_eq!(ObjectReference::decoded(&pods(), &decoded), web());
    assert_eq!(ObjectReference::entry(&pods(), &entry), web());
    assert_eq!(
        ObjectReference::new(&pods(), Some("default"), "web").uid("u1"),
        web()
    );
}

#[test]
fn a_cluster_wide_object_has_no_namespace() {
    let node: Node = serde_json::from_value(json!({"metadata": {"name": "n1"}})).unwrap();
    let reference = ObjectReference::typed(&node);
    let written = serde_json::to_value(&reference).unwrap();
    assert_eq!(written, json!({"apiVersion": "v1", "kind": "Node", "name": "n1"}));
}

/// Upstream: client-go `TestGetFieldSelector`.
#[test]
fn the_events_about_an_object_can_be_selected() {
    assert_eq!(
        web().event_selector(),
        "regarding.apiVersion=v1,regarding.kind=Pod,regarding.name=web,regarding.uid=u1"
    );
    let mut by_name = ObjectReference::default();
    by_name.name = "web".to_owned();
    assert_eq!(by_name.event_selector(), "regarding.name=web");
    assert_eq!(ObjectReference::default().event_selector(), "");
}
