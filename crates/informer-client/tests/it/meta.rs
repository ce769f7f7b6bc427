//! Metadata strategies: the same object in three forms reads the same.

use bytes::Bytes;
use informer_client::{DynamicMeta, K8s, PartialMeta};
use informer_core::{Meta, MetaFields, Resource};
use informer_transport::{Codec, DynamicCodec, JsonCodec, MetadataCodec};
use k8s_openapi::api::core::v1::Pod;

const POD: &str = r#"{"metadata":{"name":"a","generation":3,"labels":{"app":"web"},"deletionTimestamp":"2024-01-02T00:00:00Z",
    "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u1","controller":true},
                       {"apiVersion":"v1","kind":"Node","name":"n","uid":"u2"}]}}"#;

const BARE: &str =
    r#"{"metadata":{"name":"b","labels":null,"ownerReferences":null,"deletionTimestamp":null}}"#;

fn read<K>(meta: &impl Meta<K>, object: &K) -> String {
    assert_eq!(meta.fields(), MetaFields::all());
    let mut text = format!(
        "{:?} {:?} {:?} {}",
        meta.label(object, "app"),
        meta.label(object, "none"),
        meta.generation(object),
        meta.deleting(object)
    );
    meta.owners(object, &mut |owner| {
        text += &format!(
            " {}/{} {} {} {}",
            owner.api_version, owner.kind, owner.name, owner.uid, owner.controller
        );
    });
    text
}

fn check(json: &'static str, expected: &str) {
    let bytes = || Bytes::from_static(json.as_bytes());
    let typed = JsonCodec::<Pod>::new().decode(bytes()).unwrap().object;
    assert_eq!(read(&K8s, &typed), expected);
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let dynamic = DynamicCodec::new(&pods).decode(bytes()).unwrap().object;
    assert_eq!(read(&DynamicMeta, &dynamic), expected);
    let partial = MetadataCodec::new().decode(bytes()).unwrap().object;
    assert_eq!(read(&PartialMeta, &partial), expected);
}

#[test]
fn three_forms_read_the_same() {
    check(
        POD,
        "Some(\"web\") None Some(3) true apps/v1/ReplicaSet r u1 true v1/Node n u2 false",
    );
    check(BARE, "None None None false");
}
