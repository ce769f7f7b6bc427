//! LP-03: degenerate list bodies, as the feed tells them to a reflector.

use informer_core::{Classify, FailureClass, ListerWatcher, WatchRequest};

use crate::{
    scripted::{ok, run, status},
    sources::{list, source},
};

fn check(body: &str, expected: &[&str]) {
    let (_, source) = source([ok(body)]);
    assert_eq!(list(&source), expected, "{body}");
}

#[test]
fn lp_03_null_or_absent_items_are_an_empty_list() {
    check(
        r#"{"kind":"FooList","metadata":{"resourceVersion":"7"},"items":null}"#,
        &["list @7 token None"],
    );
    check(
        r#"{"kind":"FooList","metadata":{"resourceVersion":"7"}}"#,
        &["list @7 token None"],
    );
}

#[test]
fn lp_03_a_list_without_version_says_so() {
    check(
        r#"{"kind":"FooList","metadata":null,"items":[]}"#,
        &["list @ token None"],
    );
    check(
        r#"{"kind":"FooList","metadata":{},"items":[]}"#,
        &["list @ token None"],
    );
}

#[test]
fn lp_03_a_kind_that_cannot_be_watched_is_unsupported() {
    let (_, source) = source([status(
        405,
        r#"{"kind":"Status","message":"the server does not allow this method on the requested resource","reason":"MethodNotAllowed","code":405}"#,
    )]);
    let error = run(source.watch(WatchRequest::default())).unwrap_err();
    assert_eq!(error.class(), FailureClass::Unsupported);
    assert!(error.to_string().contains("does not allow this method"));
}

#[test]
fn lp_03_null_metadata_of_items_is_none() {
    check(
        r#"{"kind":"FooList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","managedFields":null,"labels":null}}]}"#,
        &["item a", "list @7 token None"],
    );
}
