//! The rules of what was refused, without a clock.

use std::sync::Arc;

use informer_core::{Entry, ResourceVersion, Stamp};

use super::*;

type Deltas = Vec<Delta<&'static str, ()>>;

fn upsert(key: &'static str) -> Delta<&'static str, ()> {
    Delta::Upsert(Entry::new(key, Stamp::default(), Arc::new(())), Cause::Modified)
}

fn list() -> Delta<&'static str, ()> {
    Delta::Replace {
        items: Vec::new(),
        unreadable: Vec::new(),
        at: ResourceVersion::none(),
        may_rewind: false,
    }
}

#[expect(clippy::disallowed_methods, reason = "an `Instant` can be had no other way")]
fn start() -> Instant {
    Instant::now()
}

fn due(refused: &mut Refused<&'static str, ()>, now: Instant) -> Deltas {
    let mut batch = Batch::default();
    refused.handle_timeout(now, &mut batch);
    batch.deltas
}

fn refuse(
    refused: &mut Refused<&'static str, ()>,
    now: Instant,
    failed: Deltas,
) -> Refusal<&'static str, ()> {
    refused.refuse(now, failed, None)
}

#[test]
fn it_is_tried_again_at_growing_intervals_up_to_ten_seconds() {
    let (mut now, mut refused) = (start(), Refused::new(LastWord::default()));
    assert!(refuse(&mut refused, now, vec![upsert("a")]).back.is_empty());
    let mut waits = Vec::new();
    for _ in 0..9 {
        let at = refused.poll_timeout().unwrap();
        assert!(due(&mut refused, at - Duration::from_millis(1)).is_empty());
        waits.push((at - now).as_millis());
        now = at;
        let again = due(&mut refused, now);
        assert_eq!(again.len(), 1);
        refuse(&mut refused, now, again);
    }
    assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    due(&mut refused, now + LAST);
    refuse(&mut refused, now + LAST, Vec::new());
    assert!(refused.is_empty() && refused.poll_timeout().is_none());
    refuse(&mut refused, now, vec![upsert("a")]);
    assert_eq!(refused.poll_timeout(), Some(now + FIRST), "it starts over");
}

#[test]
fn another_refusal_meanwhile_does_not_put_off_the_retry() {
    let (now, mut refused) = (start(), Refused::new(LastWord::default()));
    refuse(&mut refused, now, vec![upsert("a")]);
    let at = refused.poll_timeout();
    refuse(&mut refused, now + Duration::from_millis(50), vec![upsert("b")]);
    assert_eq!(refused.poll_timeout(), at);
    assert_eq!(due(&mut refused, at.unwrap()).len(), 2);
}

#[test]
fn what_comes_later_makes_it_moot() {
    let (now, mut refused) = (start(), Refused::new(LastWord::default()));
    refuse(&mut refused, now, vec![upsert("a"), upsert("b"), upsert("c")]);
    refused.supersede(&Batch::of(Delta::Resync, false));
    refused.supersede(&Batch::of(upsert("b"), false));
    assert!(!refused.is_empty());
    refused.supersede(&Batch::of(list(), false));
    assert!(refused.is_empty() && refused.poll_timeout().is_none());
}

#[test]
fn a_refused_list_goes_back_to_the_queue_which_waits_for_its_time() {
    let (now, mut refused) = (start(), Refused::new(LastWord::default()));
    let refusal = refuse(&mut refused, now, vec![list()]);
    assert_eq!(refusal.back.len(), 1);
    assert!(refused.is_blocked() && !refused.is_empty());
    let at = refused.poll_timeout().unwrap();
    assert!(due(&mut refused, at).is_empty());
    assert!(!refused.is_blocked(), "now it may come again");
}

/// Refused again and again; says after which attempts a relist was wanted. `list`: each brings the object again, refused as before.
fn relists(refused: &mut Refused<&'static str, ()>, attempts: u32, list_comes: bool) -> Vec<u32> {
    let (mut now, mut wanted) = (start(), Vec::new());
    let mut again = vec![upsert("a")];
    for attempt in 1..=attempts {
        if refuse(refused, now, again).relist {
            wanted.push(attempt);
            if list_comes {
                refused.supersede(&Batch::of(list(), false));
                assert!(
                    !refuse(refused, now, vec![upsert("a")]).relist,
                    "not at once again"
                );
            }
        }
        now = refused.poll_timeout().unwrap();
        again = due(refused, now);
    }
    wanted
}

#[test]
fn what_stays_refused_asks_for_a_relist_longer_apart_each_time() {
    let wanted = relists(&mut Refused::new(LastWord::default()), 400, false);
    assert_eq!(wanted, [5, 10, 20, 40, 80, 160, 240, 320, 400]);
}

#[test]
fn a_relist_that_brings_the_same_again_does_not_shorten_the_next_wait() {
    let mut refused = Refused::new(LastWord::default());
    let wanted = relists(&mut refused, 50, true);
    // The list is an attempt, too.
    assert_eq!(wanted, [5, 9, 18, 37]);
}

#[test]
fn when_all_is_well_it_starts_over() {
    let mut refused = Refused::new(LastWord::default());
    assert_eq!(relists(&mut refused, 12, false), [5, 10]);
    assert!(refused.is_empty(), "it is being tried");
    refuse(&mut refused, start(), Vec::new());
    assert_eq!(relists(&mut refused, 12, false), [5, 10]);
}

#[test]
fn what_is_deleted_or_listed_since_is_not_tried_again() {
    let delete = Delta::Delete {
        key: "a",
        stamp: Stamp::default(),
        last: None,
        observed: true,
    };
    for (said, left) in [(delete, vec!["b"]), (list(), vec![])] {
        let (now, last_word) = (start(), LastWord::default());
        let mut refused = Refused::new(last_word.clone());
        refuse(&mut refused, now, vec![upsert("a"), upsert("b")]);
        last_word.hear(&said);
        let again = due(&mut refused, now + FIRST);
        let keys: Vec<_> = again.iter().filter_map(|delta| delta.key().copied()).collect();
        assert_eq!(keys, left, "after {said:?}");
    }
}

#[test]
fn what_is_deleted_while_it_is_tried_again_is_not_kept() {
    let (now, last_word) = (start(), LastWord::default());
    let mut refused = Refused::new(last_word.clone());
    refuse(&mut refused, now, vec![upsert("a")]);
    let again = due(&mut refused, now + FIRST);
    last_word.hear(&list());
    refuse(&mut refused, now + FIRST, again);
    assert!(refused.is_empty());
    // What comes out of the queue later is another matter.
    refuse(&mut refused, now + FIRST, vec![upsert("a")]);
    assert_eq!(refused.len(), 1);
}

#[test]
fn a_resync_is_no_later_word() {
    let (now, mut refused) = (start(), Refused::new(LastWord::default()));
    refuse(&mut refused, now, vec![upsert("a")]);
    let stored = Entry::new("a", Stamp::default(), Arc::new(()));
    refused.supersede(&Batch::of(Delta::Upsert(stored, Cause::Sync), false));
    assert_eq!(refused.len(), 1);
    refused.supersede(&Batch::of(upsert("a"), false));
    assert!(refused.is_empty());
}
