//! Sources: lists and watches as feeds.

use informer_client::{ApiSource, DynamicObject, Selectors};
use informer_core::{
    BoxListerWatcher, Classify, FailureClass, Feed, ListRequest, Listed, ListerWatcher, Resource,
    WatchRequest, Watched,
};
use informer_transport::DynamicCodec;

use crate::scripted::{Answer, Scripted, Step, data, ok, poll_once, run, status, steps};

type Source = ApiSource<Scripted, DynamicObject, DynamicCodec>;

pub(crate) fn source(answers: impl IntoIterator<Item = Answer>) -> (Scripted, Source) {
    let (log, client) = Scripted::new(answers);
    let foos = client.dynamic(Resource::namespaced("example.com", "v1", "foos", "Foo"));
    (log, foos.source(Selectors::all()))
}

/// One event in a word or two.
pub(crate) fn listed(event: Option<Result<Listed<DynamicObject>, informer_client::Error>>) -> String {
    match event {
        None => "end".to_owned(),
        Some(Err(error)) => format!("{}: {error}", error.class()),
        Some(Ok(Listed::Item(Ok(item)))) => format!("item {}", item.identity),
        Some(Ok(Listed::Item(Err(error)))) => error.to_string(),
        Some(Ok(Listed::End { at, token })) => format!("list @{at} token {token:?}"),
    }
}

/// One event in a word or two.
pub(crate) fn watched(event: Option<Result<Watched<DynamicObject>, informer_client::Error>>) -> String {
    match event {
        None => "end".to_owned(),
        Some(Err(error)) => format!("{}: {error}", error.class()),
        Some(Ok(Watched::Upsert(cause, Ok(item)))) => format!("{cause:?} {}", item.identity),
        Some(Ok(Watched::Delete(Ok(item)))) => format!("Deleted {}", item.identity),
        Some(Ok(Watched::Upsert(_, Err(error)) | Watched::Delete(Err(error)))) => error.to_string(),
        Some(Ok(Watched::Bookmark { at, end_of_initial })) => format!("bookmark @{at} {end_of_initial}"),
        Some(Ok(Watched::Odd(error))) => format!("odd: {error}"),
    }
}

/// Everything of a list, until it ends or fails.
pub(crate) fn list(source: &Source) -> Vec<String> {
    let mut feed = run(source.list(ListRequest::default())).unwrap();
    std::iter::from_fn(|| run(feed.next()).map(|event| listed(Some(event)))).collect()
}

/// Everything of a watch, until it ends or fails.
pub(crate) fn watch(source: &Source) -> Vec<String> {
    let mut feed = run(source.watch(WatchRequest::default())).unwrap();
    std::iter::from_fn(|| run(feed.next()).map(|event| watched(Some(event)))).collect()
}

pub(crate) fn event(kind: &str, name: &str) -> String {
    format!(
        "{{\"type\":\"{kind}\",\"object\":{{\"kind\":\"Foo\",\"apiVersion\":\"example.com/v1\",\"metadata\":{{\"name\":\"{name}\",\"resourceVersion\":\"5\"}}}}}}\n"
    )
}

#[test]
fn a_list_comes_item_by_item() {
    let (log, source) = source([steps([
        data(r#"{"items":[{"metadata":{"namespace":"n","name":"a"}},{"meta"#),
        Step::Pending,
        data(r#"data":{"name":"b"}}],"metadata":{"resourceVersion":"9","continue":"t"}}"#),
    ])]);
    let mut feed = run(source.list(ListRequest::default())).unwrap();
    assert_eq!(
        listed(poll_once(feed.next()).unwrap()),
        "item n/a",
        "before the rest has arrived"
    );
    assert!(poll_once(feed.next()).is_none());
    assert_eq!(listed(run(feed.next())), "item b");
    assert_eq!(listed(run(feed.next())), "list @9 token Some(\"t\")");
    assert_eq!(
        (listed(run(feed.next())), listed(run(feed.next()))),
        ("end".to_owned(), "end".to_owned())
    );
    assert_eq!(log.requests(), ["GET /apis/example.com/v1/foos"]);
}

#[test]
fn a_list_that_is_cut_fails() {
    let begun = r#"{"items":[{"metadata":{"name":"a"}},"#;
    let (_, cut) = source([steps([data(begun), Step::Cut])]);
    assert_eq!(list(&cut), ["item a", "transient: the answer was cut"]);
    let (_, short) = source([ok(begun)]);
    assert_eq!(
        list(&short),
        ["item a", "transient: the list was cut after 36 bytes"]
    );
}

#[test]
fn a_watch_comes_event_by_event() {
    let (log, source) = source([steps([
        data(&(event("ADDED", "a") + &event("MODIFIED", "a"))),
        Step::Pending,
        data(&event("DELETED", "a")[..30]),
        data(&event("DELETED", "a")[30..]),
        data(r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}"#),
    ])]);
    assert_eq!(
        watch(&source),
        ["Added a", "Modified a", "Deleted a", "bookmark @9 false"]
    );
    assert_eq!(log.requests(), ["GET /apis/example.com/v1/foos?watch=true"]);
}

#[test]
fn dropping_next_loses_nothing() {
    let body = [event("ADDED", "a"), event("ADDED", "b"), event("ADDED", "c")].concat();
    let bytes = body.as_bytes().chunks(7);
    let dripping = bytes.flat_map(|piece| [Step::Pending, data(std::str::from_utf8(piece).unwrap())]);
    let (_, source) = source([steps(dripping)]);
    let mut feed = run(source.watch(WatchRequest::default())).unwrap();
    let mut events = Vec::new();
    while events.last().is_none_or(|event| event != "end") {
        // Each attempt is dropped at its first wait, as by a `select!`.
        if let Some(event) = poll_once(feed.next()) {
            events.push(watched(event));
        }
    }
    assert_eq!(events, ["Added a", "Added b", "Added c", "end"]);
}

#[test]
fn an_error_in_the_stream_ends_it() {
    let gone =
        r#"{"type":"ERROR","object":{"kind":"Status","message":"too old","reason":"Expired","code":410}}"#;
    let (_, source) = source([ok(&format!(
        "{}{gone}\n{}",
        event("ADDED", "a"),
        event("ADDED", "b")
    ))]);
    assert_eq!(watch(&source), ["Added a", "expired: too old"]);
}

#[test]
fn a_cut_watch_has_told_what_had_come() {
    let (_, source) = source([steps([
        data(&(event("ADDED", "a") + "{\"type\":\"ADD")),
        Step::Cut,
    ])]);
    assert_eq!(watch(&source), ["Added a", "transient: the answer was cut"]);
}

#[test]
fn a_frame_beyond_the_limit_is_fatal() {
    let (_, source) = source([ok(&event("ADDED", &"x".repeat(500)))]);
    assert_eq!(
        watch(&source.frame_limit(300)),
        ["fatal: an event of the watch is longer than the limit of 300 bytes"]
    );
}

#[test]
fn tweaks_apply_to_lists_pages_and_watches() {
    let (log, client) = Scripted::new([ok("{}"), ok("{}"), ok("")]);
    let foos = client.dynamic(Resource::namespaced("example.com", "v1", "foos", "Foo"));
    let source = foos
        .in_namespace("ns")
        .source(Selectors::all().labels("a=b").extra("x", "y"))
        .tweak(|query| query.set("shardSelector", "s"));
    let mut page = ListRequest::default();
    run(source.list(page.clone())).unwrap();
    page.token = Some("t".into());
    run(source.list(page)).unwrap();
    let mut streaming = WatchRequest::default();
    streaming.initial_events = true;
    run(source.watch(streaming)).unwrap();
    let all = "labelSelector=a%3Db&x=y";
    assert_eq!(
        log.requests(),
        [
            format!("GET /apis/example.com/v1/namespaces/ns/foos?{all}&shardSelector=s"),
            format!("GET /apis/example.com/v1/namespaces/ns/foos?{all}&continue=t&shardSelector=s"),
            format!(
                "GET /apis/example.com/v1/namespaces/ns/foos?{all}&watch=true&sendInitialEvents=true\
                 &resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&shardSelector=s"
            ),
        ]
    );
}

#[test]
fn what_cannot_be_watched_is_unsupported() {
    let (_, source) = source([status(405, "")]);
    let error = run(source.watch(WatchRequest::default())).unwrap_err();
    assert_eq!(error.class(), FailureClass::Unsupported);
}

#[test]
fn metadata_is_watched_as_partial_objects_or_taken_of_whole_ones() {
    let partial = r#"{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}}"#;
    let body = format!("{partial}\n{}", event("ADDED", "b"));
    let (log, client) = Scripted::new([
        ok(&body),
        ok(r#"{"kind":"PartialObjectMetadataList","items":[]}"#),
    ]);
    let foos = client.metadata(Resource::namespaced("example.com", "v1", "foos", "Foo"));
    let source = foos.source(Selectors::all());
    let mut feed = run(source.watch(WatchRequest::default())).unwrap();
    for name in ["a", "b"] {
        let Some(Ok(Watched::Upsert(_, Ok(item)))) = run(feed.next()) else {
            panic!("{name} is added")
        };
        assert_eq!((&*item.identity.name, &*item.object.metadata.name), (name, name));
    }
    assert!(log.header("accept").contains("as=PartialObjectMetadata;"));
    run(source.list(ListRequest::default())).unwrap();
    assert!(log.header("accept").contains("as=PartialObjectMetadataList;"));
}

#[test]
fn a_source_can_be_boxed() {
    let (_, source) = source([ok(r#"{"items":[{"metadata":{"name":"a"}}]}"#)]);
    let boxed = BoxListerWatcher::new(source);
    let mut feed = run(boxed.list(ListRequest::default())).unwrap();
    assert!(matches!(run(feed.next()), Some(Ok(Listed::Item(Ok(_))))));
}

#[test]
fn bytes_are_counted_as_they_arrive() {
    let (first, rest) = (r#"{"items":[{"metadata":{"name":"a"}},"#, r#"],"metadata":{}}"#);
    let (_, source) = source([
        steps([data(first), Step::Pending, data(rest)]),
        ok(&event("ADDED", "a")),
    ]);
    let mut list = run(source.list(ListRequest::default())).unwrap();
    assert_eq!(list.bytes_read(), Some(0));
    run(list.next());
    assert_eq!(list.bytes_read(), Some(first.len() as u64));
    let mut watch = run(BoxListerWatcher::new(source).watch(WatchRequest::default())).unwrap();
    run(watch.next());
    assert_eq!(watch.bytes_read(), Some(event("ADDED", "a").len() as u64));
}

/// What follows a single object asks for no other.
#[test]
fn a_source_of_one_object_selects_it_by_name() {
    let (log, client) = Scripted::new([ok(r#"{"items":[],"metadata":{}}"#), ok("")]);
    let foos = client
        .dynamic(Resource::namespaced("example.com", "v1", "foos", "Foo"))
        .in_namespace("n");
    let source = foos.source_of("a,b=c\\d");
    run(source.list(ListRequest::default())).unwrap();
    run(source.watch(WatchRequest::default())).unwrap();
    let selector = "fieldSelector=metadata.name%3Da%5C%2Cb%5C%3Dc%5C%5Cd";
    assert_eq!(
        log.requests(),
        [
            format!("GET /apis/example.com/v1/namespaces/n/foos?{selector}"),
            format!("GET /apis/example.com/v1/namespaces/n/foos?{selector}&watch=true"),
        ]
    );
}
