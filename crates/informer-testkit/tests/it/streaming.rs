//! Streaming lists, and the watches that have always begun with the state.

use std::time::Duration;

use informer_core::Clock as _;
use informer_testkit::{FakeApi, ManualClock, WatchOptions, WatchPoll};
use serde_json::{Value, json};

use crate::support::{configmaps, labelled, named, told, version};

const MARK: &str = "k8s.io/initial-events-end";

fn mark(event: &Value) -> &Value {
    &event["object"]["metadata"]["annotations"][MARK]
}

#[test]
fn the_state_comes_first_then_the_mark_then_changes() {
    let mut api = FakeApi::with_builtins();
    api.create(&configmaps(), named("b")).unwrap();
    api.create(&configmaps(), named("a")).unwrap();
    let at = api.revision();
    let watch = api.watch(&configmaps(), &WatchOptions::streaming()).unwrap();
    api.create(&configmaps(), named("c")).unwrap();
    let events = api.drain_watch(watch);
    assert_eq!(
        told(&events),
        [
            format!("ADDED a@{at}"),
            format!("ADDED b@{}", at - 1),
            format!("BOOKMARK @{at}"),
            format!("ADDED c@{}", at + 1),
        ]
    );
    assert_eq!(mark(&events[2]), "true");
    assert!([0, 1, 3].iter().all(|index| mark(&events[*index]).is_null()));
    api.create(&configmaps(), named("d")).unwrap();
    assert_eq!(told(&api.drain_watch(watch)), [format!("ADDED d@{}", at + 2)]);
}

#[test]
fn an_empty_state_has_only_the_mark() {
    let mut api = FakeApi::with_builtins();
    let watch = api.watch(&configmaps(), &WatchOptions::streaming()).unwrap();
    let events = api.drain_watch(watch);
    assert_eq!((events.len(), mark(&events[0])), (1, &json!("true")));
}

#[test]
fn only_selected_objects_are_in_the_state() {
    let mut api = FakeApi::with_builtins();
    api.create(&configmaps(), labelled("a", json!({"color": "red"})))
        .unwrap();
    api.create(&configmaps(), labelled("b", json!({"color": "blue"})))
        .unwrap();
    let at = api.revision();
    let watch = api
        .watch(&configmaps(), &WatchOptions::streaming().labels("color=blue"))
        .unwrap();
    assert_eq!(
        told(&api.drain_watch(watch)),
        [format!("ADDED b@{at}"), format!("BOOKMARK @{at}")]
    );
}

#[test]
fn without_bookmarks_there_is_no_mark() {
    let mut api = FakeApi::with_builtins();
    api.create(&configmaps(), named("a")).unwrap();
    let mut options = WatchOptions::streaming();
    options.bookmarks = false;
    let watch = api.watch(&configmaps(), &options).unwrap();
    assert_eq!(told(&api.drain_watch(watch)).len(), 1);
}

#[test]
fn a_version_that_is_too_large_is_waited_for_then_told() {
    let clock = ManualClock::new();
    let mut api = FakeApi::with_builtins();
    api.tick(clock.now());
    let mut options = WatchOptions::streaming();
    options.version = (api.revision() + 1).to_string();
    let lucky = api.watch(&configmaps(), &options).unwrap();
    assert_eq!(api.poll_watch(lucky), WatchPoll::Pending(Duration::from_secs(3)));
    api.create(&configmaps(), named("a")).unwrap();
    assert_eq!(told(&api.drain_watch(lucky)).len(), 2);

    options.version = (api.revision() + 1).to_string();
    let unlucky = api.watch(&configmaps(), &options).unwrap();
    assert!(api.drain_watch(unlucky).is_empty());
    clock.advance(Duration::from_secs(3));
    api.tick(clock.now());
    let events = api.drain_watch(unlucky);
    assert_eq!((events.len(), &events[0]["type"]), (1, &json!("ERROR")));
    assert_eq!(events[0]["object"]["code"], 504);
    assert_eq!(
        events[0]["object"]["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
}

#[test]
fn a_watch_from_nothing_or_zero_begins_with_the_state() {
    let mut api = FakeApi::with_builtins();
    api.create(&configmaps(), named("a")).unwrap();
    for start in ["", "0"] {
        let watch = api
            .watch(&configmaps(), &WatchOptions::from_version(start))
            .unwrap();
        assert_eq!(
            told(&api.drain_watch(watch)),
            [format!("ADDED a@{}", api.revision())],
            "{start:?}"
        );
        let watch = api
            .watch(&configmaps(), &WatchOptions::from_version(start).bookmarks())
            .unwrap();
        let events = api.drain_watch(watch);
        assert_eq!(
            (events.len(), mark(&events[1])),
            (2, &json!("true")),
            "{start:?}: since 1.37 it is a streaming list"
        );
    }
}

#[test]
fn a_watch_that_wants_no_state_begins_now() {
    let mut api = FakeApi::with_builtins();
    api.create(&configmaps(), named("a")).unwrap();
    let mut options = WatchOptions::streaming();
    options.initial_events = Some(false);
    options.bookmarks = false;
    let watch = api.watch(&configmaps(), &options).unwrap();
    api.create(&configmaps(), named("b")).unwrap();
    let events = api.drain_watch(watch);
    assert_eq!(told(&events), [format!("ADDED b@{}", api.revision())]);
    assert_eq!(version(&events[0]["object"]), api.revision());
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let mut api = FakeApi::with_builtins();
    let mut refuse = |change: &dyn Fn(&mut WatchOptions)| {
        let mut options = WatchOptions::streaming();
        change(&mut options);
        let error = api.watch(&configmaps(), &options).unwrap_err();
        assert_eq!((error.code(), error.reason()), (422, "Invalid"), "{options:?}");
        error.message().to_owned()
    };
    let message = refuse(&|options| options.version_match = String::new());
    assert!(
        message.contains("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        "{message}"
    );
    refuse(&|options| options.version_match = "Exact".into());
    let message = refuse(&|options| options.initial_events = None);
    assert!(
        message.contains("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
        "{message}"
    );
}

#[test]
fn an_old_server_refuses_streaming_lists() {
    let mut options = informer_testkit::Options::default();
    options.streaming_lists = false;
    let mut api = FakeApi::with_builtins_and(options);
    api.create(&configmaps(), named("a")).unwrap();
    let error = api.watch(&configmaps(), &WatchOptions::streaming()).unwrap_err();
    assert_eq!((error.code(), error.reason()), (422, "Invalid"));
    // And its plain watch from nothing sends the state without a mark.
    let watch = api
        .watch(&configmaps(), &WatchOptions::default().bookmarks())
        .unwrap();
    assert_eq!(told(&api.drain_watch(watch)).len(), 1);
}
