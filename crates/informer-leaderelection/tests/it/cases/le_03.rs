//! LE-03: giving the lease back. client-go 500bfe00c, 1b1630d32, 710705cfe, 3633ea23d; kubernetes#139504.

use informer_leaderelection::End;
use serde_json::json;

use crate::rig::{Line, World, options, rest, secs};

#[tokio::test(start_paused = true)]
async fn le_03_a_renewal_that_took_effect_unseen_is_read_again() {
    let world = World::new();
    world.put_spec(json!({"holderIdentity": "", "leaseTransitions": 4}));
    let mut a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    rest(secs(1)).await;
    a.line(Line::LoseAnswers);
    rest(secs(2)).await;
    // A renewal is on its way since a second; the server has it.
    a.stop();
    a.line(Line::Open);
    assert_eq!(a.end().await, End::Stopped { released: true });
    assert_eq!(world.now(), secs(3));

    let spec = world.spec();
    assert_eq!(spec.holder_identity.as_deref(), Some(""));
    assert_eq!(spec.lease_duration_seconds, Some(1));
    assert_eq!(spec.lease_transitions, Some(5));
    assert!(spec.renew_time.is_some() && spec.acquire_time == spec.renew_time);
    let mut b = world.run(options("b"));
    assert_eq!(b.leadership.elected().await.unwrap().transitions, 6);
    assert_eq!(world.now(), secs(3), "nobody waits for what was given back");
    b.stop();
    b.end().await;
}

#[tokio::test(start_paused = true)]
async fn le_03_a_conflict_is_tried_again() {
    let world = World::new();
    let mut a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    a.line(Line::Refuse(409));
    a.stop();
    rest(secs(1)).await;
    assert_eq!(world.spec().holder_identity.as_deref(), Some("a"));
    a.line(Line::Open);
    assert_eq!(a.end().await, End::Stopped { released: true });
    assert_eq!(world.spec().holder_identity.as_deref(), Some(""));
}

#[tokio::test(start_paused = true)]
async fn le_03_a_lease_that_is_gone_needs_no_release() {
    let world = World::new();
    let mut a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    world.delete_lease();
    a.stop();
    assert_eq!(a.end().await, End::Stopped { released: false });
    assert_eq!(world.lease(), None);
}

#[tokio::test(start_paused = true)]
async fn le_03_the_lease_is_kept_until_the_work_has_ended() {
    let world = World::new();
    let mut a = world.run_with_work(options("a"), secs(3));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(5)).await;
    a.stop();
    rest(secs(2)).await;
    assert!(a.leadership.is_leader(), "the work still runs");
    assert_eq!(world.spec().holder_identity.as_deref(), Some("a"));
    assert_eq!(a.end().await, End::Stopped { released: true });
    assert_eq!(world.now(), secs(8));
    b.leadership.elected().await.unwrap();
    world.assert_no_overlap(&["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn le_03_work_that_does_not_end_is_waited_for_no_longer_than_the_lease() {
    let world = World::new();
    let mut a = world.run_with_work(options("a"), secs(3600));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(5)).await;
    a.stop();
    assert!(matches!(a.end().await, End::Lost(_)));
    assert_eq!(world.now(), secs(20));
    assert_eq!(
        world.spec().holder_identity.as_deref(),
        Some("a"),
        "not given back: the work was cut off"
    );
    b.leadership.elected().await.unwrap();
    world.assert_no_overlap(&["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn le_03_the_lease_of_another_is_left_alone() {
    let world = World::new();
    let mut a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    rest(secs(3)).await;
    world.put_spec(json!({"holderIdentity": "b", "leaseDurationSeconds": 15, "leaseTransitions": 7}));
    let before = world.lease();
    a.stop();
    assert_eq!(a.end().await, End::Stopped { released: false });
    assert_eq!(world.lease(), before);
}
