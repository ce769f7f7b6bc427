//! WP-10: unknown event type, wrong kind, Table, null object.

use crate::{
    scripted::ok,
    sources::{event, list, source, watch},
};

#[test]
fn wp_10_odd_lines_are_reported_and_skipped() {
    let odd = r#"{"type":"SPARKLE","object":{"kind":"Foo","apiVersion":"example.com/v1","metadata":{"name":"x"}}}
{"type":"ADDED","object":{"kind":"Bar","apiVersion":"v1","metadata":{"name":"x"}}}
{"type":"BOOKMARK","object":{"kind":"Bar","apiVersion":"v1","metadata":{"resourceVersion":"7"}}}
{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}}
{"type":"MODIFIED","object":null}
"#;
    let (_, source) = source([ok(&(odd.to_owned() + &event("ADDED", "ok")))]);
    let events = watch(&source);
    assert_eq!(events.len(), 6);
    assert!(
        events[..5].iter().all(|event| event.starts_with("odd: ")),
        "{events:?}"
    );
    assert_eq!(events[5], "Added ok");
}

#[test]
fn wp_10_a_table_is_no_list() {
    let (_, source) = source([ok(
        r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"rows":[]}"#,
    )]);
    assert_eq!(
        list(&source),
        ["fatal: the answer is a Table where a list was asked for"]
    );
}
