//! Delayed adds: duplicates, earlier, later, zero, far future.

use std::{
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};

use informer_workqueue::{Queue, Shutdown, WorkQueue, WorkQueueExt};

use crate::support::{ManualClock, Wakes, secs};

#[test]
fn wq_03_the_earliest_counts_and_one_timer_is_armed() {
    let clock = ManualClock::new();
    let queue = Queue::new(clock.clone());
    let (wakes, waker) = Wakes::new();
    let cx = &mut Context::from_waker(&waker);

    let mut take = pin!(queue.take());
    assert!(take.as_mut().poll(cx).is_pending());
    for delay in [10, 2, 30] {
        queue.add_after("x", secs(delay));
        assert!(take.as_mut().poll(cx).is_pending());
    }
    queue.add_after("z", Duration::from_secs(10 * 365 * 24 * 3600));
    queue.add_after("forever", Duration::MAX);
    assert!(take.as_mut().poll(cx).is_pending());
    assert_eq!(queue.stats().delayed, 3);

    let before = wakes.n();
    clock.advance(secs(1));
    assert_eq!(wakes.n(), before);
    clock.advance(secs(1));
    assert_eq!(wakes.n(), before + 1);
    let Poll::Ready(Some(lease)) = take.as_mut().poll(cx) else {
        panic!("x is due");
    };
    assert_eq!(*lease, "x");
    drop(lease);

    // Zero is at once, and x does not come again.
    queue.add_after("y", Duration::ZERO);
    assert_eq!(*queue.take_blocking().unwrap(), "y");
    let mut take = pin!(queue.take());
    assert!(take.as_mut().poll(cx).is_pending());
    clock.advance(secs(60));
    assert!(take.as_mut().poll(cx).is_pending());
    assert_eq!(clock.most_timers(), 1);

    // A plain add does not wait for the delay.
    queue.add_now("z");
    let Poll::Ready(Some(lease)) = take.as_mut().poll(cx) else {
        panic!("z is ready");
    };
    assert_eq!(*lease, "z");

    // Shutdown releases all.
    let mut take = pin!(queue.take());
    assert!(take.as_mut().poll(cx).is_pending());
    let before = wakes.n();
    assert_eq!(queue.shut_down(Shutdown::Now), ["z", "forever"]);
    assert!(wakes.n() > before);
    assert!(matches!(take.as_mut().poll(cx), Poll::Ready(None)));
    drop(lease);
    assert_eq!(queue.stats(), informer_workqueue::Stats::default());
}

#[test]
fn wq_03_a_million_adds_of_one_key_are_one_entry() {
    let queue = Queue::new(ManualClock::new());
    for _ in 0..1_000_000 {
        queue.add_after("x", secs(3600));
    }
    assert_eq!(queue.stats().delayed, 1);
}
