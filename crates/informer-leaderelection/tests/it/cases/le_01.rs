//! LE-01: a lost lease stops the work. kubernetes#23731, #44887; client-go ac40ba329; cilium#42920; fabric8#5463.

use std::time::Duration;

use informer_leaderelection::{End, Event, Loss};

use crate::rig::{Line, World, options, rest, secs};

/// When the lease was last renewed, after the world began, by the lease itself.
fn renewed(world: &World) -> Duration {
    let renewed = world.spec().renew_time.unwrap().as_micros() - 1_764_000_000_000_000;
    Duration::from_micros(u64::try_from(renewed).unwrap())
}

async fn loses_by(line: Line) {
    let world = World::new();
    let a = world.run_with_work(options("a"), secs(0));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(7)).await;

    a.line(line);
    let last = renewed(&world);
    b.leadership.elected().await.unwrap();
    a.line(Line::Open);
    rest(secs(120)).await;

    let [(_, Some(stopped))] = world.reigns("a")[..] else {
        panic!("{line:?}: {:?}", world.reigns("a"))
    };
    // Not later than one renew deadline and one retry after the last renewal; and the other waited for it.
    assert!(stopped <= last + secs(12), "{line:?}: {last:?}, {stopped:?}");
    world.assert_no_overlap(&["a", "b"]);
    assert!(b.leadership.is_leader());
    assert!(!a.leadership.is_leader());
    let End::Lost(loss) = a.end().await else {
        panic!("{line:?}: it was not asked to stop")
    };
    assert!(
        matches!(loss, Loss::RenewDeadline | Loss::TakenOver { .. }),
        "{loss:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn le_01_a_leader_whose_renewals_fail_stops_before_another_takes_over() {
    for line in [
        Line::Refuse(500),
        Line::Refuse(403),
        Line::Refuse(409),
        Line::RefuseAll(500),
    ] {
        loses_by(line).await;
    }
}

#[tokio::test(start_paused = true)]
async fn le_01_the_work_ends_before_leading_is_over() {
    let world = World::new();
    let a = world.run_with_work(options("a"), secs(3600));
    a.leadership.elected().await.unwrap();
    a.line(Line::RefuseAll(500));
    // The work is told at the same instant as everybody: it is dropped, and takes no hour.
    a.leadership.ending().await;
    assert_eq!(a.end().await, End::Lost(Loss::RenewDeadline));
    assert!(world.now() <= secs(12), "{:?}", world.now());
}

#[tokio::test(start_paused = true)]
async fn le_01_cancelled_before_it_ever_led() {
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let mut b = world.run_with_work(options("b"), secs(3600));
    rest(secs(5)).await;
    b.stop();
    // Work that never began has not to be waited for.
    assert_eq!(b.end().await, End::Stopped { released: false });
    assert_eq!(world.now(), secs(5));
    let told = world.journal().into_iter().filter(|entry| entry.who == "b");
    assert!(
        told.into_iter()
            .all(|entry| matches!(entry.event, Event::NewLeader { .. }))
    );
    assert_eq!(world.spec().holder_identity.as_deref(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn le_01_cancelled_exactly_while_losing() {
    let world = World::new();
    let mut a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    a.line(Line::RefuseAll(500));
    // The deadline and the wish to stop come due at the same instant.
    rest(secs(10)).await;
    a.stop();
    let end = a.end().await;
    assert!(
        matches!(end, End::Lost(Loss::RenewDeadline) | End::Stopped { .. }),
        "{end:?}"
    );
    assert_eq!(world.reigns("a").len(), 1);
    assert!(world.reigns("a")[0].1.is_some());
}

#[tokio::test(start_paused = true)]
async fn le_01_who_sees_another_holder_stops_at_once() {
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    rest(secs(3)).await;
    world.put_spec(
        serde_json::json!({"holderIdentity": "c", "leaseDurationSeconds": 15, "leaseTransitions": 1}),
    );
    let holder = "c".into();
    assert_eq!(a.end().await, End::Lost(Loss::TakenOver { holder }));
    assert!(
        world.now() <= secs(5),
        "not only at the deadline: {:?}",
        world.now()
    );
}
