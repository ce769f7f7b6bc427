//! Tables, as `kubectl get` asks for them.

use std::time::Duration;

use http::Method;
use informer_core::Resource;
use informer_testkit::{BodyPoll, FakeApi, Reply};
use serde_json::{Value, json};

use crate::support::{Site, configmaps, named, pods};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

fn table(site: &mut Site, uri: &str) -> Value {
    let response = site.request(Method::GET, uri, &[("accept", TABLE)], "");
    let table: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(
        (&table["kind"], &table["apiVersion"]),
        (&json!("Table"), &json!("meta.k8s.io/v1"))
    );
    table
}

fn heads(table: &Value) -> Vec<&str> {
    let columns = table["columnDefinitions"].as_array().unwrap();
    columns
        .iter()
        .filter(|column| column["priority"] == 0)
        .map(|column| column["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_list_of_pods_is_what_people_want_to_see() {
    let mut site = Site::new();
    let running = json!({"restartCount": 2, "ready": true, "state": {"running": {}}, "lastState": {"terminated": {"finishedAt": "2026-01-01T00:00:30Z"}}});
    let waiting =
        json!({"restartCount": 1, "ready": false, "state": {"waiting": {"reason": "CrashLoopBackOff"}}});
    let pod = |name: &str, statuses: Value| {
        json!({
            "metadata": {"name": name}, "spec": {"nodeName": "n1", "containers": [{"name": "a"}, {"name": "b"}]},
            "status": {"phase": "Running", "containerStatuses": statuses, "podIPs": [{"ip": "10.1.2.3"}]},
        })
    };
    site.api
        .put(&pods(), pod("good", json!([running, running])))
        .unwrap();
    site.api
        .put(&pods(), pod("bad", json!([running, waiting])))
        .unwrap();
    site.clock.advance(Duration::from_secs(90));
    let table = table(&mut site, "/api/v1/namespaces/default/pods");
    assert_eq!(heads(&table), ["Name", "Ready", "Status", "Restarts", "Age"]);
    assert_eq!(
        table["rows"][0]["cells"],
        json!([
            "bad",
            "1/2",
            "CrashLoopBackOff",
            "3 (60s ago)",
            "90s",
            "10.1.2.3",
            "n1",
            "<none>",
            "<none>"
        ])
    );
    assert_eq!(table["rows"][1]["cells"][1], "2/2");
    assert_eq!(table["rows"][1]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(table["rows"][1]["object"]["metadata"]["name"], "good");
    assert_eq!(
        table["metadata"]["resourceVersion"],
        site.api.revision().to_string()
    );
}

#[test]
fn rows_bring_what_is_asked_for() {
    let mut site = Site::new();
    site.api.create(&configmaps(), named("a")).unwrap();
    let uri = "/api/v1/namespaces/default/configmaps/a";
    let none = table(&mut site, &format!("{uri}?includeObject=None"));
    assert_eq!(none["rows"], json!([{"cells": ["a", "0", "0s"], "object": null}]));
    let whole = table(&mut site, &format!("{uri}?includeObject=Object"));
    assert_eq!(whole["rows"][0]["object"]["kind"], "ConfigMap");
}

#[test]
fn custom_resources_have_the_columns_of_their_definition() {
    let mut api = FakeApi::with_builtins();
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let definition = json!({"metadata": {"name": "things.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true, "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Ready", "type": "string", "jsonPath": r#".status.conditions[?(@.type=="Ready")].status"#},
            {"name": "Words", "type": "string", "priority": 2, "jsonPath": ".spec.words"},
            {"name": "Odd", "type": "integer", "jsonPath": ".spec.words", "format": "int64"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ]}],
    }});
    api.create(&definitions, definition).unwrap();
    let things = Resource::namespaced("example.com", "v1", "things", "Thing");
    let conditions = json!([{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]);
    let thing = json!({
        "metadata": {"name": "t"}, "spec": {"size": 3, "words": ["a", 1]}, "status": {"conditions": conditions},
    });
    api.create(&things, thing).unwrap();
    let mut site = Site::of(api);
    let table = table(&mut site, "/apis/example.com/v1/things");
    assert_eq!(heads(&table), ["Name", "Size", "Ready", "Odd", "Age"]);
    assert_eq!(
        table["rows"][0]["cells"],
        json!(["t", 3, "True", "[a 1]", null, "0s"])
    );
    let column = |at: usize, field: &str| table["columnDefinitions"][at][field].clone();
    assert_eq!(
        (column(1, "type"), column(3, "priority"), column(4, "format")),
        (json!("integer"), json!(2), json!("int64"))
    );
}

#[test]
fn a_watch_names_its_columns_once() {
    let mut site = Site::new();
    for name in ["a", "b"] {
        site.api.create(&configmaps(), named(name)).unwrap();
    }
    let now = informer_core::Clock::now(&site.clock);
    let request = http::Request::get("/api/v1/configmaps?watch=true")
        .header("accept", TABLE)
        .body(bytes::Bytes::new())
        .unwrap();
    let Reply::Streaming(_, id) = site.api.handle(now, request) else {
        panic!("a watch streams");
    };
    for (name, n_columns) in [("a", Some(3)), ("b", None)] {
        let BodyPoll::Chunk(line) = site.api.poll_body(now, id) else {
            panic!("the state comes first");
        };
        let event: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(event["type"], "ADDED");
        assert_eq!(event["object"]["rows"][0]["cells"][0], name);
        assert_eq!(
            event["object"]["columnDefinitions"].as_array().map(Vec::len),
            n_columns
        );
    }
}
