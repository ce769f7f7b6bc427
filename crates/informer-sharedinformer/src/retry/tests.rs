//! The rules of what was refused, without a clock.

use std::sync::Arc;

use informer_core::{Cause, Entry, ResourceVersion, Stamp};

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

#[test]
fn it_is_tried_again_at_growing_intervals_up_to_ten_seconds() {
    let (mut now, mut refused) = (start(), Refused::new());
    assert!(refused.refuse(now, vec![upsert("a")]).is_empty());
    let mut waits = Vec::new();
    for _ in 0..9 {
        let at = refused.poll_timeout().unwrap();
        assert!(due(&mut refused, at - Duration::from_millis(1)).is_empty());
        waits.push((at - now).as_millis());
        now = at;
        let again = due(&mut refused, now);
        assert_eq!(again.len(), 1);
        refused.refuse(now, again);
    }
    assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    due(&mut refused, now + LAST);
    refused.refuse(now + LAST, Vec::new());
    assert!(refused.is_empty() && refused.poll_timeout().is_none());
    refused.refuse(now, vec![upsert("a")]);
    assert_eq!(refused.poll_timeout(), Some(now + FIRST), "it starts over");
}

#[test]
fn another_refusal_meanwhile_does_not_put_off_the_retry() {
    let (now, mut refused) = (start(), Refused::new());
    refused.refuse(now, vec![upsert("a")]);
    let at = refused.poll_timeout();
    refused.refuse(now + Duration::from_millis(50), vec![upsert("b")]);
    assert_eq!(refused.poll_timeout(), at);
    assert_eq!(due(&mut refused, at.unwrap()).len(), 2);
}

#[test]
fn what_comes_later_makes_it_moot() {
    let (now, mut refused) = (start(), Refused::new());
    refused.refuse(now, vec![upsert("a"), upsert("b"), upsert("c")]);
    refused.supersede(&Batch::of(Delta::Resync, false));
    refused.supersede(&Batch::of(upsert("b"), false));
    assert!(!refused.is_empty());
    refused.supersede(&Batch::of(list(), false));
    assert!(refused.is_empty() && refused.poll_timeout().is_none());
}

#[test]
fn a_refused_list_goes_back_to_the_queue_which_waits_for_its_time() {
    let (now, mut refused) = (start(), Refused::new());
    let back = refused.refuse(now, vec![list()]);
    assert_eq!(back.len(), 1);
    assert!(refused.is_blocked() && !refused.is_empty());
    let at = refused.poll_timeout().unwrap();
    assert!(due(&mut refused, at).is_empty());
    assert!(!refused.is_blocked(), "now it may come again");
}
