//! The HTTP face: paths, bodies, statuses.

use bytes::Bytes;
use http::{Method, Request};
use informer_core::Clock as _;
use informer_testkit::{BodyPoll, HeadPoll, Reply, Verb};
use serde_json::{Value, json};

use crate::support::{Site, configmaps, labelled, named, pods};

const CONFIGMAPS: &str = "/api/v1/namespaces/default/configmaps";
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

#[test]
fn the_whole_life_of_an_object() {
    let mut site = Site::new();
    let (status, created) = site.call(
        Method::POST,
        CONFIGMAPS,
        r#"{"metadata": {"name": "a"}, "data": {"k": "1"}}"#,
    );
    assert_eq!((status, &created["kind"]), (201, &json!("ConfigMap")));
    let path = format!("{CONFIGMAPS}/a");
    assert_eq!(site.get(&path), (200, created.clone()));

    let mut changed = created.clone();
    changed["data"]["k"] = json!("2");
    let (status, updated) = site.call(Method::PUT, &path, &changed.to_string());
    assert_eq!((status, &updated["data"]["k"]), (200, &json!("2")));
    let (status, conflict) = site.call(Method::PUT, &path, &created.to_string());
    assert_eq!((status, &conflict["reason"]), (409, &json!("Conflict")));

    let merge = [("content-type", "application/merge-patch+json")];
    let response = site.request(Method::PATCH, &path, &merge, r#"{"data": {"k": null}}"#);
    let patched: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(patched["data"], json!({}));

    let (status, gone) = site.call(Method::DELETE, &path, "");
    assert_eq!(
        (status, &gone["kind"], &gone["status"]),
        (200, &json!("Status"), &json!("Success"))
    );
    assert_eq!(
        gone["details"],
        json!({"name": "a", "kind": "configmaps", "uid": created["metadata"]["uid"]})
    );
    let (status, missing) = site.get(&path);
    assert_eq!(status, 404);
    assert_eq!(
        missing,
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "configmaps \"a\" not found",
            "reason": "NotFound", "details": {"name": "a", "kind": "configmaps"}, "code": 404,
        })
    );
}

#[test]
fn items_of_built_in_lists_do_not_say_their_kind_and_those_of_custom_ones_do() {
    let mut site = Site::new();
    site.api.create(&configmaps(), named("a")).unwrap();
    let response = site.request(Method::GET, CONFIGMAPS, &[], "");
    let text = String::from_utf8(response.body().to_vec()).unwrap();
    assert!(
        text.starts_with(r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":""#),
        "{text}"
    );
    let list: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&list["items"][0]["kind"], &list["items"][0]["metadata"]["name"]),
        (&json!(null), &json!("a"))
    );

    let definition = json!({"metadata": {"name": "things.example.com"}, "spec": {
        "group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true}],
    }});
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(site.call(Method::POST, path, &definition.to_string()).0, 201);
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}});
    assert_eq!(
        site.call(Method::POST, "/apis/example.com/v1/things", &thing.to_string())
            .0,
        201
    );
    let response = site.request(Method::GET, "/apis/example.com/v1/things", &[], "");
    let text = String::from_utf8(response.body().to_vec()).unwrap();
    assert!(
        text.starts_with(
            r#"{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Thing","#
        ),
        "{text}"
    );
    assert!(
        text.find("\"items\"") < text.find("\"resourceVersion\":\""),
        "the version comes after the items"
    );
}

#[test]
fn metadata_only_on_request() {
    let mut site = Site::new();
    let object = json!({"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"big": "value"}});
    site.api.create(&configmaps(), object).unwrap();
    let response = site.request(Method::GET, CONFIGMAPS, &[("accept", METADATA_LIST)], "");
    let list: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("PartialObjectMetadataList"), &json!("meta.k8s.io/v1"))
    );
    let item = &list["items"][0];
    assert_eq!(
        (&item["kind"], &item["data"], &item["metadata"]["labels"]["x"]),
        (&json!("PartialObjectMetadata"), &json!(null), &json!("y"))
    );
    let response = site.request(
        Method::GET,
        &format!("{CONFIGMAPS}/a"),
        &[("accept", METADATA)],
        "",
    );
    let item: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(
        (&item["kind"], &item["data"]),
        (&json!("PartialObjectMetadata"), &json!(null))
    );
}

#[test]
fn what_a_client_accepts_decides() {
    let mut site = Site::new();
    for (accept, status) in [
        ("*/*", 200),
        ("application/vnd.kubernetes.protobuf", 200),
        ("application/vnd.kubernetes.protobuf,application/json", 200),
        (
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
            200,
        ),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", 200),
        ("application/json;as=Table;v=v9;g=meta.k8s.io", 406),
        (METADATA, 406),
        ("text/html", 406),
    ] {
        let response = site.request(Method::GET, CONFIGMAPS, &[("accept", accept)], "");
        assert_eq!(response.status().as_u16(), status, "{accept}");
        assert_eq!(response.headers()["content-type"], "application/json", "{accept}");
    }
}

#[test]
fn bodies_that_cannot_be_read_are_refused() {
    let mut site = Site::new();
    let mut post = |content_type: &str, body: &str| {
        let response = site.request(Method::POST, CONFIGMAPS, &[("content-type", content_type)], body);
        let status: Value = serde_json::from_slice(response.body()).unwrap();
        (
            response.status().as_u16(),
            status["message"].as_str().unwrap_or("").to_owned(),
        )
    };
    let (status, message) = post("application/vnd.kubernetes.protobuf", "k8s\0");
    assert_eq!(status, 415);
    assert!(message.contains("does not read protobuf"), "{message}");
    assert_eq!(post("application/yaml", "metadata: {}").0, 415);
    assert_eq!(post("application/json", "{").0, 400);
    assert_eq!(post("application/json", "[]").0, 400);
    let (status, message) = post(
        "application/json",
        r#"{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}"#,
    );
    assert_eq!(status, 400);
    assert!(message.contains("cannot be handled as a ConfigMap"), "{message}");
    let (status, message) = post(
        "application/json",
        r#"{"apiVersion": "v2", "metadata": {"name": "a"}}"#,
    );
    assert_eq!(status, 400);
    assert!(
        message.contains("(v2) does not match the expected API version (v1)"),
        "{message}"
    );
    let (status, message) = post(
        "application/json",
        r#"{"metadata": {"name": "a", "namespace": "other"}}"#,
    );
    assert_eq!(
        (status, message.as_str()),
        (
            400,
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    );
    assert_eq!(
        post(
            "application/json; charset=utf-8",
            r#"{"metadata": {"name": "a"}}"#
        )
        .0,
        201
    );
    let (status, message) = post(
        "application/json",
        r#"{"metadata": {"name": "b", "resourceVersion": "5"}}"#,
    );
    assert_eq!(
        (status, message.as_str()),
        (500, "resourceVersion should not be set on objects to be created")
    );

    for kind in ["text/plain", "application/json"] {
        let response = site.request(
            Method::PATCH,
            &format!("{CONFIGMAPS}/a"),
            &[("content-type", kind)],
            "{}",
        );
        assert_eq!(response.status().as_u16(), 415, "{kind}");
    }
    let (status, message) = site.call(
        Method::PUT,
        &format!("{CONFIGMAPS}/a"),
        r#"{"metadata": {"name": "b"}}"#,
    );
    assert_eq!(status, 400);
    assert_eq!(
        message["message"],
        "the name of the object (b) does not match the name on the URL (a)"
    );
}

#[test]
fn paths_that_do_not_exist_and_methods_that_do_not_fit() {
    let mut site = Site::new();
    for (method, path, status) in [
        (Method::GET, "/api/v1/nothings", 404),
        (Method::GET, "/api/v1/pods/a", 404),
        (Method::GET, "/api/v1/namespaces/default/nodes", 404),
        (Method::GET, "/api/v1/namespaces/default/configmaps/a/status", 404),
        (Method::GET, "/api/v1/namespaces/default/pods/a/b/c", 404),
        (Method::POST, "/api/v1/pods", 405),
        (Method::DELETE, "/api/v1/pods", 405),
        (Method::PUT, CONFIGMAPS, 405),
        (Method::POST, "/api/v1/namespaces/default/configmaps/a", 405),
        (Method::POST, "/version", 404),
    ] {
        let response = site.request(method.clone(), path, &[], "{}");
        assert_eq!(response.status().as_u16(), status, "{method} {path}");
        let status: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        // The router does not know paths that are this long, or of nothing at all.
        let is_strange = matches!(path, "/version" | "/api/v1/namespaces/default/pods/a/b/c");
        let expected = if is_strange {
            &Value::Null
        } else {
            &json!("Status")
        };
        assert_eq!(
            &status["kind"], expected,
            "{method} {path}: built-in groups have a Status"
        );
    }
    assert_eq!(
        site.get("/api/v1/namespaces/default").0,
        200,
        "a namespace itself"
    );
    assert_eq!(site.get("/api/v1/namespaces/default/status").0, 200);
}

#[test]
fn cluster_wide_objects_and_status() {
    let mut site = Site::new();
    assert_eq!(
        site.call(Method::POST, "/api/v1/nodes", r#"{"metadata": {"name": "n1"}}"#)
            .0,
        201
    );
    let path = "/api/v1/nodes/n1/status";
    let (_, node) = site.get(path);
    let mut ready = node;
    ready["status"] = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    assert_eq!(site.call(Method::PUT, path, &ready.to_string()).0, 200);
    let (_, node) = site.get("/api/v1/nodes/n1");
    assert_eq!(node["status"]["conditions"][0]["type"], "Ready");
    assert_eq!(node["metadata"]["namespace"], json!(null));
}

#[test]
fn dry_runs_change_nothing() {
    let mut site = Site::new();
    let before = site.api.revision();
    let (status, object) = site.call(
        Method::POST,
        &format!("{CONFIGMAPS}?dryRun=All"),
        r#"{"metadata": {"name": "a"}}"#,
    );
    assert_eq!((status, &object["metadata"]["name"]), (201, &json!("a")));
    assert_eq!((site.api.revision(), site.api.count(&configmaps())), (before, 0));
}

#[test]
fn a_watch_streams_lines_until_it_is_closed() {
    let mut site = Site::new();
    site.api
        .create(&configmaps(), labelled("a", json!({"x": "y"})))
        .unwrap();
    let request = Request::get(format!(
        "{CONFIGMAPS}?watch=1&labelSelector=x%3Dy&resourceVersion=0"
    ))
    .body(Bytes::new())
    .unwrap();
    let now = site.clock.now();
    let Reply::Streaming(head, id) = site.api.handle(now, request) else {
        panic!("a watch streams");
    };
    assert_eq!(
        (head.status().as_u16(), &head.headers()["content-type"]),
        (200, &"application/json".parse().unwrap())
    );
    let BodyPoll::Chunk(line) = site.api.poll_body(now, id) else {
        panic!("the state comes first");
    };
    assert!(
        line.starts_with(br#"{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","#)
            && line.ends_with(b"}\n")
    );
    assert!(matches!(site.api.poll_body(now, id), BodyPoll::Pending(Some(_))));
    assert_eq!((site.api.n_watches(), site.api.n_exchanges()), (1, 1));
    site.api.close(id);
    assert_eq!((site.api.n_watches(), site.api.n_exchanges()), (0, 0));
}

#[test]
fn one_object_can_be_watched_in_the_old_way() {
    let mut site = Site::new();
    for name in ["a", "b"] {
        site.api.create(&configmaps(), named(name)).unwrap();
    }
    let now = site.clock.now();
    let (status, object) = site.get(&format!("{CONFIGMAPS}/b?watch=true"));
    assert_eq!(
        (status, &object["kind"]),
        (200, &json!("ConfigMap")),
        "where there is a name, `watch` is not looked at"
    );
    let request = Request::get("/api/v1/watch/namespaces/default/configmaps/b")
        .body(Bytes::new())
        .unwrap();
    let Reply::Streaming(_, id) = site.api.handle(now, request) else {
        panic!("a watch streams");
    };
    let BodyPoll::Chunk(line) = site.api.poll_body(now, id) else {
        panic!("the state comes first");
    };
    let event: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(event["object"]["metadata"]["name"], "b");
    assert!(matches!(site.api.poll_body(now, id), BodyPoll::Pending(_)));
}

#[test]
fn a_list_waits_for_its_version() {
    let mut site = Site::new();
    let wanted = site.api.revision() + 1;
    let request = || {
        let uri = format!("{CONFIGMAPS}?resourceVersion={wanted}&resourceVersionMatch=NotOlderThan");
        Request::get(uri).body(Bytes::new()).unwrap()
    };
    let now = site.clock.now();
    let Reply::Waiting(late, Some(until)) = site.api.handle(now, request()) else {
        panic!("the version is not there yet");
    };
    site.clock.advance_to(until);
    let HeadPoll::Ready(head) = site.api.poll_head(until, late) else {
        panic!("the wait is over");
    };
    assert_eq!(
        (head.status().as_u16(), &head.headers()["retry-after"]),
        (504, &"1".parse().unwrap())
    );

    let Reply::Waiting(lucky, _) = site.api.handle(until, request()) else {
        panic!("the version is not there yet");
    };
    site.api.create(&configmaps(), named("a")).unwrap();
    let HeadPoll::Ready(head) = site.api.poll_head(until, lucky) else {
        panic!("the version is there");
    };
    assert_eq!(head.status().as_u16(), 200);
}

#[test]
fn requests_are_logged() {
    let mut site = Site::new();
    site.get("/api/v1/namespaces/default/pods?limit=5&labelSelector=a+in+%28b%29");
    site.get("/version");
    let log: Vec<_> = site.api.request_log().iter().collect();
    assert_eq!(
        (log.len(), log[0].verb, log[1].verb),
        (2, Verb::List, Verb::Discovery)
    );
    assert_eq!(
        (
            log[0].param("labelSelector"),
            log[0].resource.as_str(),
            log[0].status
        ),
        (Some("a in (b)"), "pods", Some(200))
    );
    assert_eq!(site.api.request_log().of(Verb::List, "pods").count(), 1);
    site.api.clear_request_log();
    assert!(site.api.request_log().is_empty());
    assert_eq!(site.api.count(&pods()), 0);
}
