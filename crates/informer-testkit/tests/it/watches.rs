//! Watches: order, selectors, history, bookmarks, the end.

use std::time::Duration;

use informer_core::Clock as _;
use informer_testkit::{FakeApi, ManualClock, Patch, WatchEnd, WatchId, WatchOptions, WatchPoll};
use serde_json::json;

use crate::support::{configmaps, labelled, named, pods, told, version};

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn relabel(api: &mut FakeApi, name: &str, color: &str) {
    let patch = Patch::Merge(json!({"metadata": {"labels": {"color": color}}}));
    api.patch(&configmaps(), Some("default"), name, &patch).unwrap();
}

fn end(api: &mut FakeApi, watch: WatchId) -> WatchEnd {
    match api.poll_watch(watch) {
        WatchPoll::End(end) => end,
        other => panic!("not over: {other:?}"),
    }
}

#[test]
fn every_change_after_the_version_comes_once_and_in_order() {
    let mut api = FakeApi::with_builtins();
    api.create(&configmaps(), named("before")).unwrap();
    let from = api.revision();
    api.create(&configmaps(), named("a")).unwrap();
    api.create(&pods(), named("other-kind")).unwrap();
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(from))
        .unwrap();
    relabel(&mut api, "before", "red");
    api.delete(&configmaps(), Some("default"), "a").unwrap();
    assert_eq!(
        told(&api.drain_watch(watch)),
        [
            format!("ADDED a@{}", from + 1),
            format!("MODIFIED before@{}", from + 3),
            format!("DELETED a@{}", from + 4),
        ]
    );
    assert!(api.drain_watch(watch).is_empty());
    relabel(&mut api, "before", "blue");
    assert_eq!(
        told(&api.drain_watch(watch)),
        [format!("MODIFIED before@{}", from + 5)]
    );
}

#[test]
fn an_object_that_leaves_the_selector_is_deleted_with_its_last_matching_state() {
    let mut api = FakeApi::with_builtins();
    let from = api.revision();
    let watch = api
        .watch(
            &configmaps(),
            &WatchOptions::from_version(from).labels("color=red"),
        )
        .unwrap();
    api.create(&configmaps(), labelled("a", json!({"color": "blue"})))
        .unwrap();
    relabel(&mut api, "a", "red");
    relabel(&mut api, "a", "green");
    relabel(&mut api, "a", "blue");
    relabel(&mut api, "a", "red");
    api.delete(&configmaps(), Some("default"), "a").unwrap();
    let events = api.drain_watch(watch);
    assert_eq!(
        told(&events),
        [
            format!("ADDED a@{}", from + 2),
            format!("DELETED a@{}", from + 3),
            format!("ADDED a@{}", from + 5),
            format!("DELETED a@{}", from + 6),
        ]
    );
    assert_eq!(
        events[1]["object"]["metadata"]["labels"]["color"], "red",
        "the state that matched"
    );
}

#[test]
fn field_selectors_follow_the_object_too() {
    let mut api = FakeApi::with_builtins();
    let from = api.revision();
    let here = WatchOptions::from_version(from).fields("spec.nodeName=n1,status.phase!=Succeeded");
    let watch = api.watch(&pods(), &here).unwrap();
    let pod = |node: &str, phase: &str| json!({"metadata": {"name": "p"}, "spec": {"nodeName": node}, "status": {"phase": phase}});
    for (node, phase) in [
        ("n1", "Pending"),
        ("n1", "Running"),
        ("n2", "Running"),
        ("n1", "Running"),
        ("n1", "Succeeded"),
    ] {
        api.put(&pods(), pod(node, phase)).unwrap();
    }
    let kinds: Vec<String> = told(&api.drain_watch(watch));
    let kinds: Vec<&str> = kinds.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(kinds, ["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"]);
}

#[test]
fn one_namespace_hears_nothing_of_others() {
    let mut api = FakeApi::with_builtins();
    let from = api.revision();
    let watch = api
        .watch(
            &configmaps(),
            &WatchOptions::from_version(from).in_namespace("kube-system"),
        )
        .unwrap();
    api.create(&configmaps(), named("here")).unwrap();
    api.create(
        &configmaps(),
        json!({"metadata": {"name": "there", "namespace": "kube-system"}}),
    )
    .unwrap();
    assert_eq!(
        told(&api.drain_watch(watch)),
        [format!("ADDED there@{}", from + 2)]
    );
}

#[test]
fn a_version_that_is_too_old_is_told_in_the_stream() {
    let mut api = FakeApi::with_builtins();
    let from = api.revision();
    for name in ["a", "b", "c"] {
        api.create(&configmaps(), named(name)).unwrap();
    }
    api.compact(from + 2);
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(from))
        .unwrap();
    let events = api.drain_watch(watch);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "ERROR");
    let status = &events[0]["object"];
    assert_eq!(
        (&status["kind"], &status["code"], &status["reason"]),
        (&json!("Status"), &json!(410), &json!("Expired"))
    );
    assert_eq!(
        status["message"],
        format!("too old resource version: {from} ({})", from + 2)
    );
    assert_eq!(
        end(&mut api, watch),
        WatchEnd::Unknown,
        "after the error the watch is over and forgotten"
    );

    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(from + 2))
        .unwrap();
    assert_eq!(told(&api.drain_watch(watch)), [format!("ADDED c@{}", from + 3)]);
}

#[test]
fn a_restart_forgets_the_history_of_watches_but_not_of_pages() {
    let mut api = FakeApi::with_builtins();
    api.create(&configmaps(), named("a")).unwrap();
    let then = api.revision();
    api.create(&configmaps(), named("b")).unwrap();
    api.restart();
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(then))
        .unwrap();
    assert_eq!(api.drain_watch(watch)[0]["object"]["code"], 410);
    let exact = informer_testkit::ListOptions::default()
        .at(then)
        .matching("Exact");
    assert_eq!(api.list(&configmaps(), &exact).unwrap().items.len(), 1);
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(api.revision()))
        .unwrap();
    assert!(api.drain_watch(watch).is_empty());
}

#[test]
fn a_watch_that_falls_behind_the_history_is_expired() {
    let mut options = informer_testkit::Options::default();
    options.history = 3;
    let mut api = FakeApi::with_builtins_and(options);
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(api.revision()))
        .unwrap();
    for index in 0..5 {
        api.create(&configmaps(), named(&format!("c{index}"))).unwrap();
    }
    assert_eq!(api.drain_watch(watch)[0]["object"]["reason"], "Expired");
}

#[test]
fn a_version_that_is_yet_to_come_is_waited_for() {
    let clock = ManualClock::new();
    let mut api = FakeApi::with_builtins();
    api.tick(clock.now());
    let from = api.revision();
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(from + 2).bookmarks())
        .unwrap();
    api.create(&configmaps(), named("a")).unwrap();
    clock.advance(seconds(90));
    api.tick(clock.now());
    assert!(
        api.drain_watch(watch).is_empty(),
        "not even a bookmark from before its version"
    );
    api.create(&configmaps(), named("b")).unwrap();
    assert!(api.drain_watch(watch).is_empty());
    api.create(&configmaps(), named("c")).unwrap();
    assert_eq!(told(&api.drain_watch(watch)), [format!("ADDED c@{}", from + 3)]);
}

#[test]
fn bookmarks_come_every_minute_and_before_the_end() {
    let clock = ManualClock::new();
    let mut api = FakeApi::with_builtins();
    api.tick(clock.now());
    let options = WatchOptions::from_version(api.revision())
        .bookmarks()
        .timeout(seconds(130));
    let watch = api.watch(&configmaps(), &options).unwrap();
    // A change of another kind moves the bookmark's version.
    api.create(&pods(), named("p")).unwrap();
    let mut seen = Vec::new();
    loop {
        match api.poll_watch(watch) {
            WatchPoll::Event(line) => {
                let event: serde_json::Value = serde_json::from_slice(&line).unwrap();
                let object = &event["object"];
                assert_eq!(object["kind"], "ConfigMap");
                assert_eq!(
                    object["metadata"].as_object().unwrap().len(),
                    1,
                    "nothing but a version"
                );
                seen.push((clock.elapsed().as_secs(), version(object)));
            }
            WatchPoll::Pending(until) => {
                clock.advance(until - clock.elapsed());
                api.tick(clock.now());
            }
            WatchPoll::End(end) => {
                assert_eq!(end, WatchEnd::Timeout);
                break;
            }
        }
    }
    let now = api.revision();
    assert_eq!(seen, [(60, now), (120, now), (128, now)]);
    assert_eq!(clock.elapsed(), seconds(130));
}

#[test]
fn without_being_asked_no_bookmark_comes() {
    let clock = ManualClock::new();
    let mut api = FakeApi::with_builtins();
    api.tick(clock.now());
    let options = WatchOptions::from_version(api.revision()).timeout(seconds(300));
    let watch = api.watch(&configmaps(), &options).unwrap();
    assert_eq!(api.poll_watch(watch), WatchPoll::Pending(seconds(300)));
    clock.advance(seconds(300));
    api.tick(clock.now());
    assert_eq!(end(&mut api, watch), WatchEnd::Timeout);
    assert_eq!(api.n_watches(), 0);
}

#[test]
fn a_watch_without_a_timeout_ends_after_half_an_hour_to_an_hour() {
    let clock = ManualClock::new();
    let mut api = FakeApi::with_builtins();
    api.tick(clock.now());
    let mut timeouts = Vec::new();
    for _ in 0..20 {
        let watch = api
            .watch(&configmaps(), &WatchOptions::from_version(api.revision()))
            .unwrap();
        let WatchPoll::Pending(until) = api.poll_watch(watch) else {
            panic!("nothing has happened");
        };
        timeouts.push(until);
    }
    assert!(
        timeouts
            .iter()
            .all(|it| (seconds(1800)..seconds(3600)).contains(it)),
        "{timeouts:?}"
    );
    timeouts.dedup();
    assert!(timeouts.len() > 10, "they are spread");
}
