//! Bodies of watches.

use bytes::Bytes;
use informer_core::{Classify, FailureClass, Resource};
use informer_transport::{Asked, WatchDecoder, WatchFrame};

fn frames(body: &str) -> Vec<WatchFrame> {
    let resource = Resource::namespaced("example.com", "v1", "foos", "Foo");
    let mut decoder = WatchDecoder::new(Asked::Watch).expect(&resource);
    decoder.push(Bytes::copy_from_slice(body.as_bytes()));
    decoder.finish();
    std::iter::from_fn(|| decoder.next_frame().unwrap()).collect()
}

/// Each frame in one line.
fn check(body: &str, expected: &[&str]) {
    let found: Vec<String> = frames(body)
        .iter()
        .map(|frame| match frame {
            WatchFrame::Added(object) => format!("added {}", String::from_utf8_lossy(object)),
            WatchFrame::Modified(object) => format!("modified {}", String::from_utf8_lossy(object)),
            WatchFrame::Deleted(object) => format!("deleted {}", String::from_utf8_lossy(object)),
            WatchFrame::Bookmark { at, end_of_initial } => format!("bookmark {at} {end_of_initial}"),
            WatchFrame::Error(error) => format!("error {} {error}", error.code()),
            WatchFrame::Odd(error) => format!("odd: {error}"),
        })
        .collect();
    assert_eq!(found, expected, "{body}");
}

#[test]
fn events_hold_their_object_as_bytes() {
    check(
        "{\"type\":\"ADDED\",\"object\":{\"a\":[1, {}]}}\n{\"object\":{\"b\":2} , \"type\":\"MODIFIED\"}\r\n\n{\"type\":\"DELETED\",\"object\":{}}",
        &["added {\"a\":[1, {}]}", "modified {\"b\":2}", "deleted {}"],
    );
}

#[test]
fn a_last_line_without_feed_counts_only_at_the_end() {
    let mut decoder = WatchDecoder::new(Asked::Watch);
    decoder.push(Bytes::from_static(b"{\"type\":\"ADDED\",\"object\":{}}"));
    assert!(decoder.next_frame().unwrap().is_none());
    decoder.finish();
    assert!(matches!(
        decoder.next_frame().unwrap(),
        Some(WatchFrame::Added(_))
    ));
    assert!(decoder.next_frame().unwrap().is_none());
}

#[test]
fn bookmarks_need_only_a_version() {
    check(
        r#"{"type":"BOOKMARK","object":{"kind":"Foo","apiVersion":"example.com/v1","metadata":{"resourceVersion":"5"}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6","creationTimestamp":null,"annotations":null},"spec":{"containers":null},"status":{}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"false"}}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":""}}}
{"type":"BOOKMARK","object":{"metadata":{}}}"#,
        &[
            "bookmark 5 false",
            "bookmark 6 false",
            "bookmark 7 true",
            "bookmark 8 false",
            "odd: cannot decode object: a bookmark has no resource version",
            "odd: cannot decode object: a bookmark has no resource version",
        ],
    );
}

#[test]
fn errors_end_with_their_status() {
    check(
        r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (5)","reason":"Expired","code":410}}
{"type":"ERROR","object":"what"}"#,
        &[
            "error 410 too old resource version: 1 (5)",
            "error 0 the watch ended with an error that is no status: \"\\\"what\\\"\"",
        ],
    );
    let frames = frames(r#"{"type":"ERROR","object":{"kind":"Status","metadata":null,"reason":"Gone"}}"#);
    let [WatchFrame::Error(error)] = &*frames else {
        panic!("{frames:?}")
    };
    assert_eq!(error.class(), FailureClass::Expired);
}

#[test]
fn odd_lines_are_told_and_skipped() {
    check(
        r#"{"type":"SPARKLE","object":{"metadata":{"name":"x"}}}
{"type":"ADDED","object":{"kind":"Bar","apiVersion":"v1","metadata":{"namespace":"n","name":"bar"}}}
{"type":"BOOKMARK","object":{"kind":"Bar","apiVersion":"v1","metadata":{"resourceVersion":"3"}}}
{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}}
{"type":"MODIFIED","object":null}
{"type":"MODIFIED"}
{"object":{}}
plain text
{"type":"ADDED","object":{}} trailing
{"type":"ADDED","object":{"kind":"Foo","apiVersion":"example.com/v1","metadata":{"name":"ok"}}}
{"type":"ADDED","obj"#,
        &[
            "odd: cannot decode object: an event of the watch has the unknown type \"SPARKLE\"",
            "odd: cannot decode Bar of v1 n/bar: ADDED holds it where a Foo of example.com/v1 is watched",
            "odd: cannot decode Bar of v1: BOOKMARK holds it where a Foo of example.com/v1 is watched",
            "odd: cannot decode Table of meta.k8s.io/v1: ADDED holds it where a Foo of example.com/v1 is watched",
            "odd: cannot decode object: MODIFIED has no object: \"null\"",
            "odd: cannot decode object: an event of the watch lacks its type or object",
            "odd: cannot decode object: an event of the watch lacks its type or object",
            "odd: cannot decode object: a line of the watch is no event: \"plain text\"",
            "odd: cannot decode object: a line of the watch is no event: \"{\\\"type\\\":\\\"ADDED\\\",\\\"object\\\":{}} trailing\"",
            "added {\"kind\":\"Foo\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"ok\"}}",
            "odd: cannot decode object: a line of the watch is no event: \"{\\\"type\\\":\\\"ADDED\\\",\\\"obj\"",
        ],
    );
}

#[test]
fn a_second_expected_kind_is_taken_too() {
    let resource = Resource::namespaced("example.com", "v1", "foos", "Foo");
    let mut decoder = WatchDecoder::new(Asked::Watch)
        .expect(&resource)
        .expect_types("meta.k8s.io/v1", "PartialObjectMetadata");
    decoder.push(Bytes::from_static(
        b"{\"type\":\"ADDED\",\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\"}}\n",
    ));
    assert!(matches!(
        decoder.next_frame().unwrap(),
        Some(WatchFrame::Added(_))
    ));
}

#[test]
fn tables_are_odd_also_where_any_kind_is_taken() {
    let mut decoder = WatchDecoder::new(Asked::Watch);
    decoder.push(Bytes::from_static(
        b"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\"}}\n{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\",\"apiVersion\":\"furniture.example.com/v1\"}}\n",
    ));
    assert!(matches!(decoder.next_frame().unwrap(), Some(WatchFrame::Odd(_))));
    assert!(matches!(
        decoder.next_frame().unwrap(),
        Some(WatchFrame::Added(_))
    ));
}

#[test]
fn an_object_in_one_chunk_is_not_copied() {
    let body = Bytes::from(b"{\"type\":\"ADDED\",\"object\":{}}\n".to_vec());
    let mut decoder = WatchDecoder::new(Asked::Watch);
    decoder.push(body.clone());
    let Some(WatchFrame::Added(object)) = decoder.next_frame().unwrap() else {
        panic!()
    };
    assert_eq!(object.as_ptr(), body[25..].as_ptr());
}
