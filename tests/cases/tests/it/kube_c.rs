//! kube-rs cases C25, C26, C30 and C32: queues and independent watches. C24, C27, C28 and C29 are about controllers, C33 is a test of the
//! election.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use case_tests::{Fake, Mode};
use informer_core::{Clock as _, Resource, Store as _};
use informer_testkit::ManualClock;
use informer_workqueue::{AddOptions, Config, Machine, Outcome, Shutdown};
use serde_json::json;

fn start() -> Instant {
    ManualClock::new().now()
}

#[test]
fn c25_the_order_is_that_of_the_adds_and_every_key_has_its_turn() {
    const KEYS: u32 = 20;
    let now = start();
    let mut queue: Machine<u32> = Machine::new(Config::default());
    for key in 0..KEYS {
        queue.add(now, key, AddOptions::default());
    }
    let mut last: BTreeMap<u32, u32> = BTreeMap::new();
    for turn in 0..1000 {
        let taken = queue.take(now).unwrap();
        assert_eq!(taken.item, turn % KEYS, "turn {turn}");
        if let Some(before) = last.insert(taken.item, turn) {
            assert!(
                turn - before <= KEYS,
                "{} waited {} turns",
                taken.item,
                turn - before
            );
        }
        // It changes while it is in work, every time.
        queue.add(now, taken.item, AddOptions::default());
        queue.done(now, taken.ticket, taken.priority, Outcome::Forget);
    }
    assert_eq!(last.len(), 20);
}

#[test]
fn c26_a_kind_that_is_not_there_slows_down_no_other() {
    let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let widgets = Resource::namespaced("example.com", "v1", "widgets", "Widget");
    for mode in Mode::ALL {
        let mut world = Fake::new();
        let there = world.reflect(&config_maps, None, mode, 1);
        let absent = world.reflect(&widgets, None, mode, 2);
        for n in 0..6 {
            world.pass(Duration::from_secs(100));
            world.api.with(|api| {
                let object = json!({"metadata": {"name": format!("o{n}"), "namespace": "ns"}});
                api.create(&config_maps, object).unwrap();
            });
            world.until(Duration::from_millis(100), "it is seen", || {
                there.store.len() == n + 1
            });
        }
        let status = absent.now();
        assert!(!status.synced && !absent.errors().is_empty());
        let error = absent.errors().pop().unwrap();
        assert!(error.contains("widgets"), "it names itself: {error}");
        let tries = world.requests("widgets").len();
        assert!((5..=50).contains(&tries), "{tries} tries in ten minutes");
        assert!(there.errors().is_empty());
    }
}

#[test]
fn c30_a_requeue_in_the_farthest_future_panics_nowhere_and_the_key_still_reacts() {
    let now = start();
    let mut queue: Machine<&str> = Machine::new(Config::default());
    queue.add(now, "a", AddOptions::after(Duration::MAX));
    assert!(queue.take(now).is_none() && queue.poll_timeout().is_some());
    queue.add(now, "a", AddOptions::default());
    let taken = queue.take(now).unwrap();
    queue.done(now, taken.ticket, 0, Outcome::RetryAfter(Duration::MAX));
    assert!(queue.take(now + Duration::from_secs(86_400 * 365)).is_none());
    queue.add(now, "a", AddOptions::default());
    assert_eq!(queue.take(now).unwrap().item, "a");
}

#[test]
fn c32_a_drain_finishes_what_waits_or_says_what_it_drops() {
    for deadline in [false, true] {
        let now = start();
        let mut queue: Machine<u32> = Machine::new(Config::default());
        for key in 0..12 {
            queue.add(now, key, AddOptions::default());
        }
        let running = [queue.take(now).unwrap(), queue.take(now).unwrap()];
        let mut left = queue.shut_down(now, Shutdown::Drain { queued: true });
        assert_eq!(left, [0; 0]);
        let mut n_done = 0;
        if deadline {
            left = queue.shut_down(now, Shutdown::Drain { queued: false });
        }
        for taken in running {
            queue.done(now, taken.ticket, 0, Outcome::Forget);
            n_done += 1;
        }
        while let Some(taken) = queue.take(now) {
            queue.done(now, taken.ticket, 0, Outcome::Forget);
            n_done += 1;
        }
        assert!(queue.is_drained());
        let expected = if deadline { (2, 10) } else { (12, 0) };
        assert_eq!((n_done, left.len()), expected);
    }
}
