//! Each verb: what goes out, and what is made of the answer.

use informer_client::{DeleteOptions, DynamicObject, Patch, Propagation, Selectors, WriteOptions};
use informer_core::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::scripted::{Scripted, ok, run, status};

const POD: &str = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"5"},
    "spec":{"nodeName":"n1","containers":[]}}"#;

fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct MyPod {
    spec: MySpec,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MySpec {
    node_name: String,
}

#[test]
fn get_in_four_forms_of_object() {
    let (log, client) = Scripted::new([ok(POD), ok(POD), ok(POD), ok(POD)]);
    let typed = run(client.typed::<Pod>().in_namespace("ns").get("a")).unwrap();
    assert_eq!(typed.object.spec.unwrap().node_name.unwrap(), "n1");
    let own = run(client.objects::<MyPod>(pods()).in_namespace("ns").get("a")).unwrap();
    assert_eq!(own.object.spec.node_name, "n1");
    assert_eq!(log.header("accept"), "application/json");
    let dynamic = run(client.dynamic(pods()).in_namespace("ns").get("a")).unwrap();
    assert_eq!(dynamic.object.text("/spec/nodeName"), Some("n1"));
    let metadata = run(client.metadata(pods()).in_namespace("ns").get("a")).unwrap();
    assert_eq!(metadata.object.metadata.name, "a");
    assert!(
        log.header("accept")
            .contains("application/json;as=PartialObjectMetadata;")
    );
    for identity in [typed.identity, own.identity, dynamic.identity, metadata.identity] {
        assert_eq!(
            (identity.to_string().as_str(), identity.stamp.version.as_str()),
            ("ns/a", "5")
        );
    }
    assert_eq!(log.requests(), ["GET /api/v1/namespaces/ns/pods/a"; 4]);
}

#[test]
fn find_is_none_where_get_fails() {
    let (_, client) = Scripted::new([ok(POD), status(404, ""), status(403, "")]);
    let api = client.dynamic(pods()).in_namespace("ns");
    assert!(run(api.find("a")).unwrap().is_some());
    assert!(run(api.find("a")).unwrap().is_none());
    assert_eq!(run(api.find("a")).unwrap_err().code(), Some(403));
}

#[test]
fn create_gives_types_to_a_form_that_lacks_them() {
    let (log, client) = Scripted::new([status(201, POD), status(201, POD)]);
    let pod = MyPod {
        spec: MySpec {
            node_name: "n1".to_owned(),
        },
    };
    let api = client.objects::<MyPod>(pods()).in_namespace("ns");
    let created = run(api.create(&pod, &WriteOptions::of("me"))).unwrap();
    assert_eq!((created.object, &*created.identity.stamp.uid), (pod, "u"));
    let with_types = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
    run(api.create(&with_types, &WriteOptions::default())).unwrap();
    assert_eq!(
        log.requests(),
        [
            r#"POST /api/v1/namespaces/ns/pods?fieldManager=me {"apiVersion":"v1","kind":"Pod","spec":{"nodeName":"n1"}}"#,
            r#"POST /api/v1/namespaces/ns/pods {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#,
        ]
    );
    assert_eq!(log.header("content-type"), "application/json");
    assert!(run(api.create(&json!([]), &WriteOptions::default())).is_err());
}

#[test]
fn replace_and_its_status() {
    let (log, client) = Scripted::new([ok(POD), ok(POD)]);
    let api = client.dynamic(pods()).in_namespace("ns");
    let object = DynamicObject::new("v1", "Pod", "a");
    run(api.replace("a", &object, &WriteOptions::default())).unwrap();
    run(api.replace_status("a", &object, &WriteOptions::default().dry_run())).unwrap();
    let body = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#;
    assert_eq!(
        log.requests(),
        [
            format!("PUT /api/v1/namespaces/ns/pods/a {body}"),
            format!("PUT /api/v1/namespaces/ns/pods/a/status?dryRun=All {body}"),
        ]
    );
}

#[test]
fn patch_and_its_status() {
    let (log, client) = Scripted::new([ok(POD), ok(POD)]);
    let api = client.dynamic(pods()).in_namespace("ns");
    let merge = Patch::Merge(json!({"a": null}));
    run(api.patch("a", &merge, &WriteOptions::default())).unwrap();
    assert_eq!(log.header("content-type"), "application/merge-patch+json");
    let apply = Patch::Apply(json!({"b": 1}));
    run(api.patch_status("a", &apply, &WriteOptions::of("me").force())).unwrap();
    assert_eq!(log.header("content-type"), "application/apply-patch+yaml");
    assert_eq!(
        log.requests(),
        [
            r#"PATCH /api/v1/namespaces/ns/pods/a {"a":null}"#,
            r#"PATCH /api/v1/namespaces/ns/pods/a/status?fieldManager=me&force=true {"b":1}"#,
        ]
    );
}

#[test]
fn delete_tells_what_goes_on_existing() {
    let success = r#"{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"a"}}"#;
    let (log, client) = Scripted::new([ok(success), ok(POD)]);
    let api = client.typed::<Pod>().in_namespace("ns");
    assert!(run(api.delete("a", &DeleteOptions::default())).unwrap().is_none());
    let options = DeleteOptions::default()
        .propagation(Propagation::Background)
        .only_uid("u");
    let marked = run(api.delete("a", &options)).unwrap().unwrap();
    assert_eq!(marked.identity.to_string(), "ns/a");
    assert_eq!(
        log.requests(),
        [
            "DELETE /api/v1/namespaces/ns/pods/a {}",
            r#"DELETE /api/v1/namespaces/ns/pods/a {"propagationPolicy":"Background","preconditions":{"uid":"u"}}"#,
        ]
    );
}

#[test]
fn delete_collection_takes_selectors() {
    let (log, client) = Scripted::new([ok(r#"{"kind":"Status","status":"Success"}"#)]);
    let api = client.dynamic(pods()).in_namespace("ns");
    let selectors = Selectors::all().labels("app=web").fields("status.phase=Failed");
    run(api.delete_collection(&selectors, &DeleteOptions::default())).unwrap();
    assert_eq!(
        log.requests(),
        ["DELETE /api/v1/namespaces/ns/pods?labelSelector=app%3Dweb&fieldSelector=status.phase%3DFailed {}"]
    );
}

#[test]
fn types_of_k8s_openapi_know_their_kind() {
    let (_, client) = Scripted::new([]);
    assert_eq!(*client.typed::<Pod>().resource(), pods());
    assert_eq!(
        *client.typed::<Node>().resource(),
        Resource::cluster("", "v1", "nodes", "Node")
    );
    let deployments = Resource::namespaced("apps", "v1", "deployments", "Deployment");
    assert_eq!(
        *client
            .typed::<k8s_openapi::api::apps::v1::Deployment>()
            .resource(),
        deployments
    );
}

#[test]
fn cluster_wide_kinds_have_no_namespace() {
    let node = r#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}}"#;
    let (log, client) = Scripted::new([ok(node)]);
    let found = run(client.typed::<Node>().in_namespace("ns").get("n1")).unwrap();
    assert_eq!(
        (found.identity.namespace, log.requests()),
        (None, vec!["GET /api/v1/nodes/n1".to_owned()])
    );
}
