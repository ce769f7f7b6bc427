//! Random operations against the invariants that informers live by.

use std::collections::BTreeMap;

use informer_testkit::{FakeApi, LabelSelector, ListOptions, Patch, WatchOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{configmaps, version};

#[derive(Debug, Clone)]
enum Op {
    Put(u8, u8),
    Relabel(u8, u8),
    Delete(u8),
    Finalize(u8),
    Compact(u8),
    Page,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0..8_u8, 0..3_u8).prop_map(|(name, color)| Op::Put(name, color)),
        3 => (0..8_u8, 0..3_u8).prop_map(|(name, color)| Op::Relabel(name, color)),
        3 => (0..8_u8).prop_map(Op::Delete),
        1 => (0..8_u8).prop_map(Op::Finalize),
        1 => (0..8_u8).prop_map(Op::Compact),
        1 => Just(Op::Page),
    ]
}

const COLORS: [&str; 3] = ["red", "green", "blue"];

fn apply(api: &mut FakeApi, op: &Op) {
    let namespaced = |name: &u8| {
        if name.is_multiple_of(2) {
            "default"
        } else {
            "other"
        }
    };
    let named = |name: &u8| format!("c{name}");
    // Some fail, because what they are about is not there: that is part of the game.
    let _ = match op {
        Op::Put(name, color) => {
            let color = COLORS[usize::from(*color)];
            let meta =
                json!({"name": named(name), "namespace": namespaced(name), "labels": {"color": color}});
            api.put(&configmaps(), json!({"metadata": meta, "data": {"color": color}}))
        }
        Op::Relabel(name, color) => {
            let patch = Patch::Merge(json!({"metadata": {"labels": {"color": COLORS[usize::from(*color)]}}}));
            api.patch(&configmaps(), Some(namespaced(name)), &named(name), &patch)
        }
        Op::Finalize(name) => {
            let patch = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/hold"]}}));
            api.patch(&configmaps(), Some(namespaced(name)), &named(name), &patch)
        }
        Op::Delete(name) => {
            let held = api.get(&configmaps(), Some(namespaced(name)), &named(name));
            if held.is_ok_and(|it| it["metadata"]["deletionTimestamp"].is_string()) {
                let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
                api.patch(&configmaps(), Some(namespaced(name)), &named(name), &patch)
            } else {
                api.delete(&configmaps(), Some(namespaced(name)), &named(name))
            }
        }
        Op::Compact(_) | Op::Page => return,
    };
}

type State = BTreeMap<String, Value>;

fn key(object: &Value) -> String {
    let meta = &object["metadata"];
    format!(
        "{}/{}",
        meta["namespace"].as_str().unwrap_or(""),
        meta["name"].as_str().unwrap_or("")
    )
}

fn state(items: &[Value]) -> State {
    items.iter().map(|item| (key(item), item.clone())).collect()
}

/// Plays events onto a state, checking that each fits and that versions rise.
fn replay(state: &mut State, events: &[Value], mut last: u64) {
    for event in events {
        let object = &event["object"];
        let before = match event["type"].as_str() {
            Some("ADDED") => {
                let before = state.insert(key(object), object.clone());
                assert!(before.is_none(), "added twice: {event}");
                before
            }
            Some("MODIFIED") => state
                .insert(key(object), object.clone())
                .or_else(|| panic!("modified, not there: {event}")),
            Some("DELETED") => state
                .remove(&key(object))
                .or_else(|| panic!("deleted, not there: {event}")),
            _ => panic!("unexpected: {event}"),
        };
        if let Some(before) = before {
            assert_eq!(
                before["metadata"]["uid"], object["metadata"]["uid"],
                "another object: {event}"
            );
        }
        assert!(version(object) > last, "versions rise: {last}, then {event}");
        last = version(object);
    }
}

fn selected<'a>(
    all: &'a State,
    selector: &LabelSelector,
    namespace: Option<&str>,
) -> BTreeMap<&'a String, &'a Value> {
    all.iter()
        .filter(|(_, object)| {
            let labels = serde_json::from_value(object["metadata"]["labels"].clone()).unwrap_or_default();
            selector.matches(&labels)
                && namespace.is_none_or(|namespace| object["metadata"]["namespace"] == namespace)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// From every version, the list at that version and the watch from it make the present.
    #[test]
    fn list_and_watch_from_any_version_make_the_present(ops in prop::collection::vec(op(), 1..60), selector in 0..4_usize) {
        let mut api = FakeApi::with_builtins();
        let start = api.revision();
        for op in &ops {
            apply(&mut api, op);
        }
        let selector = ["", "color=red", "color!=red", "color in (red,blue)"][selector];
        let parsed: LabelSelector = selector.parse().unwrap();
        for namespace in [None, Some("other")] {
            let all = state(&api.all(&configmaps()));
            let expected = selected(&all, &parsed, namespace);
            let mut list = ListOptions::default().labels(selector);
            let mut watch = WatchOptions::default().labels(selector);
            list.namespace = namespace.map(str::to_owned);
            watch.namespace = namespace.map(str::to_owned);
            for at in start..=api.revision() {
                let then = api.list(&configmaps(), &list.clone().at(at).matching("Exact")).unwrap();
                let mut state = state(&then.items);
                watch.version = at.to_string();
                let id = api.watch(&configmaps(), &watch).unwrap();
                replay(&mut state, &api.drain_watch(id), at);
                api.close_watch(id);
                prop_assert_eq!(state.iter().collect::<BTreeMap<_, _>>(), expected.clone(), "from {}", at);
            }
        }
    }

    /// A watch that is read as things happen tells the same as one that reads afterwards, and history that is forgotten is refused.
    #[test]
    fn what_is_forgotten_is_refused_and_what_is_not_is_whole(ops in prop::collection::vec(op(), 1..60)) {
        let mut api = FakeApi::with_builtins();
        let start = api.revision();
        let live = api.watch(&configmaps(), &WatchOptions::from_version(start)).unwrap();
        let mut told = State::new();
        let mut floor = 0;
        for op in &ops {
            apply(&mut api, op);
            let events = api.drain_watch(live);
            let last = told.values().map(version).max().unwrap_or(0);
            replay(&mut told, &events, last.min(start));
            if let Op::Compact(back) = op {
                let at = api.revision() - u64::from(*back).min(api.revision() - start);
                floor = floor.max(at);
                api.compact(at);
            }
        }
        prop_assert_eq!(&told, &state(&api.all(&configmaps())));
        for at in start..=api.revision() {
            let exact = api.list(&configmaps(), &ListOptions::default().at(at).matching("Exact"));
            let watch = api.watch(&configmaps(), &WatchOptions::from_version(at)).unwrap();
            let events = api.drain_watch(watch);
            let refused = events.first().is_some_and(|event| event["type"] == "ERROR");
            prop_assert_eq!(exact.is_err(), refused, "list and watch agree on {}", at);
            prop_assert!(at < floor || !refused, "{} is not forgotten, the floor is {}", at, floor);
            if let Ok(list) = exact {
                let mut then = state(&list.items);
                replay(&mut then, &events, at);
                prop_assert_eq!(&then, &told);
            }
        }
    }

    /// Pages of any size, with changes between them, are the list of their version.
    #[test]
    fn pages_make_the_list(ops in prop::collection::vec(op(), 1..40), more in prop::collection::vec(op(), 1..40), limit in 1..4_u64) {
        let mut api = FakeApi::with_builtins();
        for op in &ops {
            apply(&mut api, op);
        }
        let expected = api.all(&configmaps());
        let mut more = more.iter();
        let mut items = Vec::new();
        let mut options = ListOptions::default().limit(limit);
        let mut versions = Vec::new();
        loop {
            let page = api.list(&configmaps(), &options).unwrap();
            prop_assert!(page.items.len() as u64 <= limit);
            items.extend(page.items);
            versions.push(page.version);
            let Some(token) = page.token else { break };
            prop_assert_eq!(page.remaining, Some((expected.len() - items.len()) as u64));
            options = ListOptions::default().limit(limit).page(&token);
            if let Some(op) = more.next() {
                apply(&mut api, op);
            }
        }
        prop_assert_eq!(items, expected);
        versions.dedup();
        prop_assert_eq!(versions.len(), 1);
    }
}
