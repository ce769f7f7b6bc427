//! How requests fail.

use std::{error::Error as _, io::ErrorKind, time::Duration};

use http::Response;
use informer_client::WriteOptions;
use informer_core::{Classify, FailureClass, Resource};
use serde::Deserialize;

use crate::scripted::{Answer, Scripted, Step, data, ok, run, status, steps};

#[derive(Debug, Deserialize)]
struct Pod {
    #[serde(rename = "spec")]
    _spec: String,
}

fn get(answer: Answer) -> informer_client::Error {
    let (_, client) = Scripted::new([answer]);
    let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
    run(pods.in_namespace("ns").get("a")).unwrap_err()
}

#[test]
fn the_server_refuses() {
    let error = get(status(
        403,
        r#"{"kind":"Status","message":"pods \"a\" is forbidden","reason":"Forbidden","code":403}"#,
    ));
    assert_eq!(
        (error.class(), error.code()),
        (FailureClass::Forbidden, Some(403))
    );
    assert_eq!(error.to_string(), "pods \"a\" is forbidden");
    assert_eq!(error.api().unwrap().reason(), "Forbidden");
}

#[test]
fn the_server_asks_to_wait() {
    let response = Response::builder()
        .status(429)
        .header("retry-after", "7")
        .body(vec![]);
    let error = get(Answer::Response(response.unwrap()));
    assert_eq!(
        (error.class(), error.retry_after()),
        (FailureClass::Throttled, Some(Duration::from_secs(7)))
    );
}

#[test]
fn conflicts_are_of_two_kinds() {
    let exists = get(status(
        409,
        r#"{"kind":"Status","reason":"AlreadyExists","code":409}"#,
    ));
    assert!(exists.is_already_exists() && !exists.is_conflict());
    let conflict = get(status(409, r#"{"kind":"Status","reason":"Conflict","code":409}"#));
    assert!(conflict.is_conflict() && !conflict.is_already_exists());
}

#[test]
fn no_answer_comes() {
    let refused = get(Answer::Fails(ErrorKind::ConnectionRefused));
    assert_eq!(refused.class(), FailureClass::Refused);
    assert_eq!(refused.to_string(), "cannot reach the server");
    assert!(
        refused.source().unwrap().to_string().contains("refused"),
        "{refused:?}"
    );
    assert_eq!(
        get(Answer::Fails(ErrorKind::TimedOut)).class(),
        FailureClass::Transient
    );
}

#[test]
fn the_answer_is_cut() {
    let error = get(steps([data("{\"kind\":"), Step::Cut]));
    assert_eq!(
        (error.class(), error.to_string().as_str()),
        (FailureClass::Transient, "the answer was cut")
    );
    assert!(error.source().is_some());
}

#[test]
fn a_failure_whose_body_is_cut_is_still_that_failure() {
    let response = Response::builder()
        .status(404)
        .body(vec![data("404 page"), Step::Cut]);
    let error = get(Answer::Response(response.unwrap()));
    assert!(error.is_not_found());
}

#[test]
fn the_object_cannot_be_decoded() {
    let error = get(ok(r#"{"metadata":{"namespace":"ns","name":"a"},"spec":[]}"#));
    assert!(
        error
            .to_string()
            .starts_with("cannot decode Pod ns/a: invalid type"),
        "{error}"
    );
    assert_eq!(error.class(), FailureClass::Fatal);
}

#[test]
fn nothing_is_sent_that_cannot_be_meant() {
    let (log, client) = Scripted::new([]);
    let pods = client.dynamic(Resource::namespaced("", "v1", "pods", "Pod"));
    let error = run(pods.get("a")).unwrap_err();
    assert_eq!(error.to_string(), "pods live in namespaces, and none is given");
    assert!(run(pods.create(&serde_json::json!({}), &WriteOptions::default())).is_err());
    assert!(log.requests().is_empty());
}
