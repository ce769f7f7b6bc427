//! An etcd that was restored from a backup.

use informer_testkit::{FakeApi, ListOptions, WatchOptions};
use serde_json::Value;

use crate::support::{configmaps, named, names, told, version};

fn put(api: &mut FakeApi, name: &str) -> Value {
    let mut object = named(name);
    object["metadata"]["namespace"] = "default".into();
    api.put(&configmaps(), object).unwrap()
}

#[test]
fn what_was_written_since_never_was() {
    let mut api = FakeApi::with_builtins();
    let kept = put(&mut api, "kept");
    let old = put(&mut api, "changed");
    let backup = api.revision();
    put(&mut api, "changed");
    put(&mut api, "lost");
    api.delete(&configmaps(), Some("default"), "kept").unwrap();
    let head = api.revision();

    assert_eq!(api.restore(backup), backup);
    assert_eq!(api.revision(), backup + 1, "the servers' own write");
    let now = api.all(&configmaps());
    assert_eq!(names(&now), ["changed", "kept"]);
    assert_eq!(
        [version(&now[0]), version(&now[1])],
        [version(&old), version(&kept)]
    );
    assert_eq!(api.count(&configmaps()), 2);

    // The versions are given once more.
    let again = put(&mut api, "other");
    assert!(version(&again) <= head);
}

#[test]
fn nothing_from_before_is_watched_or_read_on() {
    let mut api = FakeApi::with_builtins();
    for name in ["a", "b", "c"] {
        put(&mut api, name);
    }
    let backup = api.revision();
    put(&mut api, "d");
    let page = api.list(&configmaps(), &ListOptions::default().limit(2)).unwrap();
    put(&mut api, "e");
    let head = api.revision();
    api.restore(backup);

    // The page was of the version that the servers' own write has now: a token says no more than a version.
    let next = ListOptions::default().limit(2).page(&page.token.unwrap());
    assert_eq!(names(&api.list(&configmaps(), &next).unwrap().items), ["c"]);
    for from in [backup, head] {
        let watch = api
            .watch(&configmaps(), &WatchOptions::from_version(from))
            .unwrap();
        let events = api.drain_watch(watch);
        assert_eq!(events[0]["object"]["code"], 410, "from {from}: {events:?}");
    }
    let newest = api.list(
        &configmaps(),
        &ListOptions::default().at(head).matching("NotOlderThan"),
    );
    assert_eq!(newest.unwrap_err().code(), 504);
    let watch = api
        .watch(&configmaps(), &WatchOptions::from_version(api.revision()))
        .unwrap();
    put(&mut api, "g");
    let events = api.drain_watch(watch);
    assert!(told(&events)[0].starts_with("ADDED g@"), "{events:?}");
}

#[test]
fn it_goes_back_no_further_than_the_history_reaches() {
    let mut api = FakeApi::with_builtins();
    put(&mut api, "a");
    let compacted = api.revision();
    put(&mut api, "b");
    api.compact(compacted);
    assert_eq!(api.restore(1), compacted);
    assert_eq!(names(&api.all(&configmaps())), ["a"]);
}
