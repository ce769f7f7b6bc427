//! Entries that go by themselves.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use informer_core::Entry;
use informer_store::caches::ExpirationCache;

use crate::support::{key, stamp};

const TTL: Duration = Duration::from_secs(30);

fn entry(text: &str, value: &'static str) -> Entry<informer_core::ObjectKey, &'static str> {
    let (key, stamp) = stamp(text);
    Entry::new(key, stamp, Arc::new(value))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a place in time to count from; nothing waits"
)]
fn start() -> Instant {
    Instant::now()
}

/// client-go `TestTTLExpirationBasic`.
#[test]
fn an_expired_entry_is_taken_out_by_the_read_that_finds_it() {
    let mut cache = ExpirationCache::with_policy(|_, _| true);
    cache.insert(start(), entry("foo", "bar"));
    assert_eq!(cache.len(), 1, "nobody has read it");
    assert!(cache.get(start(), &key("foo")).is_none());
    assert!(cache.is_empty());
}

/// client-go `TestReAddExpiredItem`.
#[test]
fn what_expired_may_be_put_in_again() {
    let keeps = Arc::new(AtomicBool::new(false));
    let is_kept = keeps.clone();
    let mut cache = ExpirationCache::with_policy(move |_, _| !is_kept.load(Ordering::SeqCst));
    cache.insert(start(), entry("foo", "bar"));
    assert!(cache.get(start(), &key("foo")).is_none());
    cache.insert(start(), entry("foo", "different"));
    keeps.store(true, Ordering::SeqCst);
    assert_eq!(*cache.get(start(), &key("foo")).unwrap().object, "different");
}

/// client-go `TestTTLList`.
#[test]
fn a_list_leaves_out_and_takes_out_what_expired_and_keys_do_not() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let asks = asked.clone();
    let mut cache = ExpirationCache::with_policy(move |entry: &Entry<_, &str>, _| {
        asks.lock().unwrap().push(format!("{:?}", entry.key));
        *entry.object != "bar1"
    });
    for (name, value) in [("foo", "bar"), ("foo1", "bar1"), ("foo2", "bar2")] {
        cache.insert(start(), entry(name, value));
    }
    let keys = |cache: &ExpirationCache<_, _>| cache.keys().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(keys(&cache), ["foo", "foo1", "foo2"]);
    assert!(asked.lock().unwrap().is_empty());
    let listed: Vec<_> = cache.list(start()).into_iter().map(|it| *it.object).collect();
    assert_eq!(listed, ["bar1"]);
    assert_eq!(keys(&cache), ["foo1"]);
}

/// client-go `TestTTLPolicy`.
#[test]
fn an_entry_stays_for_exactly_its_time_and_for_ever_without_one() {
    let now = start();
    for (ttl, age, stays) in [
        (TTL, TTL, true),
        (TTL, Duration::ZERO, true),
        (TTL, TTL + Duration::from_nanos(1), false),
        (Duration::ZERO, TTL + Duration::from_nanos(1), true),
    ] {
        let mut cache = ExpirationCache::new(ttl);
        cache.insert(now, entry("foo", "bar"));
        assert_eq!(
            cache.get(now + age, &key("foo")).is_some(),
            stays,
            "{ttl:?} {age:?}"
        );
    }
}

#[test]
fn putting_in_again_and_replacing_make_young_again() {
    let now = start();
    let mut cache = ExpirationCache::new(TTL);
    cache.insert(now, entry("a", "1"));
    cache.insert(now + TTL, entry("a", "2"));
    assert_eq!(cache.list(now + 2 * TTL).len(), 1);
    cache.replace(
        now + 2 * TTL,
        [entry("a", "3"), entry("b", "1"), entry("b", "2")],
        "7".into(),
    );
    let listed: Vec<_> = cache
        .list(now + 3 * TTL)
        .into_iter()
        .map(|it| *it.object)
        .collect();
    assert_eq!(listed, ["3", "2"], "the later item of a key counts");
    assert_eq!(cache.applied().as_str(), "7");
    cache.bookmark("9".into());
    assert_eq!(cache.applied().as_str(), "9");
    assert_eq!(*cache.remove(&key("a")).unwrap().object, "3");
    assert!(cache.list(now + 4 * TTL).is_empty());
}

#[test]
fn a_clock_that_went_back_expires_nothing() {
    let now = start() + TTL;
    let mut cache = ExpirationCache::new(TTL);
    cache.insert(now, entry("a", "1"));
    assert!(cache.get(now - TTL, &key("a")).is_some());
}
