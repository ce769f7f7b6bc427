//! LE-02: the request itself hangs. client-go d6bfb32c1, f9eba8e8c, e36950929.

use informer_leaderelection::{End, Loss};

use crate::rig::{Line, World, options, rest, secs};

#[tokio::test(start_paused = true)]
async fn le_02_hanging_renewals_are_given_up_at_the_deadline() {
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(7)).await;
    a.line(Line::Hole);
    // The last renewal was sent at six seconds.
    a.leadership.lost().await;
    assert_eq!(world.now(), secs(16));
    assert_eq!(a.end().await, End::Lost(Loss::RenewDeadline));
    assert_eq!(world.now(), secs(16));
    b.leadership.elected().await.unwrap();
    world.assert_no_overlap(&["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn le_02_a_release_that_hangs_does_not_keep_the_process() {
    let world = World::new();
    let mut a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    rest(secs(5)).await;
    a.line(Line::Hole);
    a.stop();
    assert_eq!(a.end().await, End::Stopped { released: false });
    assert!(world.now() <= secs(15), "{:?}", world.now());
}

#[tokio::test(start_paused = true)]
async fn le_02_answers_that_are_lost_are_no_renewals() {
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(3)).await;
    a.line(Line::LoseAnswers);
    a.leadership.lost().await;
    assert_eq!(world.now(), secs(12));
    // What the server did unseen only makes the others wait longer.
    b.leadership.elected().await.unwrap();
    world.assert_no_overlap(&["a", "b"]);
}
