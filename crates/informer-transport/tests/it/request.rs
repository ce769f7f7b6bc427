//! Requests as they go out.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use informer_core::{ListRequest, Resource, VersionMatch, WatchRequest};
use informer_transport::{DeleteOptions, Patch, Propagation, Query, RequestBuilder, Selectors, WriteOptions};
use serde_json::json;

fn pods() -> RequestBuilder {
    RequestBuilder::new(Resource::namespaced("", "v1", "pods", "Pod"))
}

fn deployments() -> RequestBuilder {
    RequestBuilder::new(Resource::namespaced("apps", "v1", "deployments", "Deployment"))
}

fn nodes() -> RequestBuilder {
    RequestBuilder::new(Resource::cluster("", "v1", "nodes", "Node"))
}

/// Method, URI, content type and body in one line.
fn line(request: &Request<Bytes>) -> String {
    let content = request.headers().get("content-type");
    let content = content.map(|value| format!(" {}", value.to_str().unwrap()));
    let body = String::from_utf8(request.body().to_vec()).unwrap();
    format!(
        "{} {}{} {body}",
        request.method(),
        request.uri(),
        content.unwrap_or_default()
    )
    .trim_end()
    .to_owned()
}

fn list(change: impl FnOnce(&mut ListRequest)) -> String {
    let mut request = ListRequest::default();
    change(&mut request);
    let query = Query::of_list(&Selectors::all(), &request);
    line(&pods().list(&query).unwrap())
}

fn watch(change: impl FnOnce(&mut WatchRequest)) -> String {
    let mut request = WatchRequest::default();
    change(&mut request);
    let query = Query::of_watch(&Selectors::all(), &request);
    line(&pods().watch(&query).unwrap())
}

#[test]
fn lists() {
    assert_eq!(list(|_| ()), "GET /api/v1/pods");
    assert_eq!(
        list(|it| it.version = Some("0".into())),
        "GET /api/v1/pods?resourceVersion=0"
    );
    assert_eq!(list(|it| it.version = Some("".into())), "GET /api/v1/pods");
    assert_eq!(
        list(|it| {
            it.limit = Some(500);
            it.version = Some("7".into());
            it.version_match = Some(VersionMatch::NotOlderThan);
        }),
        "GET /api/v1/pods?limit=500&resourceVersion=7&resourceVersionMatch=NotOlderThan"
    );
    assert_eq!(
        list(|it| {
            it.limit = Some(500);
            it.version = Some("7".into());
            it.version_match = Some(VersionMatch::Exact);
            it.token = Some("a b".into());
        }),
        "GET /api/v1/pods?limit=500&continue=a%20b",
        "a token holds its version"
    );
}

#[test]
fn watches() {
    assert_eq!(watch(|_| ()), "GET /api/v1/pods?watch=true");
    assert_eq!(
        watch(|it| {
            it.version = Some("r-7f".into());
            it.bookmarks = true;
            it.timeout = Some(Duration::from_millis(300_500));
        }),
        "GET /api/v1/pods?watch=true&resourceVersion=r-7f&allowWatchBookmarks=true&timeoutSeconds=301"
    );
    assert_eq!(
        watch(|it| it.initial_events = true),
        "GET /api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    assert_eq!(
        watch(|it| it.timeout = Some(Duration::ZERO)),
        "GET /api/v1/pods?watch=true&timeoutSeconds=1",
        "0 would be no limit"
    );
}

#[test]
fn selectors_go_with_lists_and_watches() {
    let selectors = Selectors::all()
        .labels("app=web,tier in (a, b)")
        .fields("spec.nodeName=n1")
        .extra("shardSelector", "x&y");
    let expected = "labelSelector=app%3Dweb%2Ctier%20in%20%28a%2C%20b%29&fieldSelector=spec.nodeName%3Dn1&shardSelector=x%26y";
    assert_eq!(
        Query::of_list(&selectors, &ListRequest::default()).to_string(),
        expected
    );
    let watch = Query::of_watch(&selectors, &WatchRequest::default());
    assert_eq!(watch.to_string(), format!("{expected}&watch=true"));
    assert_eq!(
        Selectors::all().labels("").fields(""),
        Selectors::all(),
        "an empty selector is none"
    );
}

#[test]
fn paths() {
    let query = Query::new();
    let uri = |builder: RequestBuilder| builder.list(&query).unwrap().uri().to_string();
    assert_eq!(uri(pods()), "/api/v1/pods");
    assert_eq!(uri(pods().namespace(Some("ns"))), "/api/v1/namespaces/ns/pods");
    assert_eq!(
        uri(deployments().namespace(Some("ns"))),
        "/apis/apps/v1/namespaces/ns/deployments"
    );
    assert_eq!(uri(nodes()), "/api/v1/nodes");
    assert_eq!(uri(nodes().namespace(Some("ns"))), "/api/v1/nodes");
}

#[test]
fn paths_are_those_of_the_resource() {
    for builder in [
        Resource::namespaced("", "v1", "pods", "Pod"),
        Resource::cluster("a.b", "v2", "xs", "X"),
    ] {
        for namespace in [None, Some("ns")] {
            let request = RequestBuilder::new(builder.clone())
                .namespace(namespace)
                .list(&Query::new());
            assert_eq!(request.unwrap().uri().path(), builder.path(namespace));
        }
    }
}

#[test]
fn writes() {
    let pods = pods().namespace(Some("ns"));
    let by_me = WriteOptions::of("me");
    let object = json!({"a": 1});
    let request = pods.create(&object, &WriteOptions::default()).unwrap();
    assert_eq!(
        line(&request),
        "POST /api/v1/namespaces/ns/pods application/json {\"a\":1}"
    );
    let request = pods
        .replace("x", None, &object, &by_me.clone().dry_run())
        .unwrap();
    assert_eq!(
        line(&request),
        "PUT /api/v1/namespaces/ns/pods/x?fieldManager=me&dryRun=All application/json {\"a\":1}"
    );
    let request = pods.replace("x", Some("status"), &object, &by_me).unwrap();
    assert_eq!(
        line(&request),
        "PUT /api/v1/namespaces/ns/pods/x/status?fieldManager=me application/json {\"a\":1}"
    );
    let request = nodes().get("n1", Some("status")).unwrap();
    assert_eq!(line(&request), "GET /api/v1/nodes/n1/status");
}

#[test]
fn patches() {
    let pods = pods().namespace(Some("ns"));
    let plain = WriteOptions::default();
    for (patch, media_type) in [
        (Patch::Json(json!({})), "application/json-patch+json"),
        (Patch::Merge(json!({})), "application/merge-patch+json"),
        (
            Patch::Strategic(json!({})),
            "application/strategic-merge-patch+json",
        ),
    ] {
        let request = pods.patch("x", None, &patch, &plain).unwrap();
        assert_eq!(
            line(&request),
            format!("PATCH /api/v1/namespaces/ns/pods/x {media_type} {{}}")
        );
    }
    let apply = Patch::Apply(json!({}));
    let request = pods
        .patch("x", Some("status"), &apply, &WriteOptions::of("me").force())
        .unwrap();
    assert_eq!(
        line(&request),
        "PATCH /api/v1/namespaces/ns/pods/x/status?fieldManager=me&force=true application/apply-patch+yaml {}"
    );
    assert!(
        pods.patch("x", None, &apply, &plain).is_err(),
        "an apply needs a manager"
    );
    let forced = WriteOptions::of("me").force();
    assert!(pods.patch("x", None, &Patch::Merge(json!({})), &forced).is_err());
}

#[test]
fn deletes() {
    let options = DeleteOptions::default()
        .grace_period(0)
        .propagation(Propagation::Foreground)
        .only_uid("u1")
        .only_version("5")
        .dry_run();
    let request = pods().namespace(Some("ns")).delete("x", &options).unwrap();
    assert_eq!(
        line(&request),
        "DELETE /api/v1/namespaces/ns/pods/x application/json {\"gracePeriodSeconds\":0,\"propagationPolicy\":\"Foreground\",\
         \"preconditions\":{\"uid\":\"u1\",\"resourceVersion\":\"5\"},\"dryRun\":[\"All\"]}"
    );
    let mut options = DeleteOptions::default();
    options.although_unreadable = true;
    let request = pods().namespace(Some("ns")).delete("x", &options).unwrap();
    assert!(line(&request).ends_with("{\"ignoreStoreReadErrorWithClusterBreakingPotential\":true}"));
    let query = Query::of_list(&Selectors::all().labels("a=b"), &ListRequest::default());
    let request = pods()
        .namespace(Some("ns"))
        .delete_collection(&query, &DeleteOptions::default());
    assert_eq!(
        line(&request.unwrap()),
        "DELETE /api/v1/namespaces/ns/pods?labelSelector=a%3Db application/json {}"
    );
}

#[test]
fn one_object_of_a_namespaced_kind_needs_a_namespace() {
    assert_eq!(
        pods().get("x", None).unwrap_err().to_string(),
        "pods live in namespaces, and none is given"
    );
    assert!(
        pods()
            .delete_collection(&Query::new(), &DeleteOptions::default())
            .is_err()
    );
    assert!(nodes().get("x", None).is_ok());
}

#[test]
fn the_form_of_lists_may_differ() {
    let pods = pods().namespace(Some("ns")).accept("one", "many");
    let accept = |request: Request<Bytes>| request.headers()["accept"].to_str().unwrap().to_owned();
    assert_eq!(accept(pods.get("x", None).unwrap()), "one");
    assert_eq!(accept(pods.watch(&Query::new()).unwrap()), "one");
    assert_eq!(accept(pods.list(&Query::new()).unwrap()), "many");
}

#[test]
fn queries_can_be_changed() {
    let mut query = Query::new();
    query.add("a", "1");
    query.add("a", "2");
    assert_eq!(query.to_string(), "a=1&a=2");
    query.set("a", "3");
    query.set("b", "4");
    query.remove("b");
    assert_eq!((query.get("a"), query.get("b")), (Some("3"), None));
}
