//! The handles: who is woken, by what, and what a dropped future leaves.

use std::{
    pin::pin,
    sync::{Arc, Mutex, Weak},
    task::{Context, Poll, Waker},
    time::Duration,
};

use informer_core::Clock;
use informer_workqueue::{
    AddOptions, Config, Lease, Metrics, Outcome, Queue, Shutdown, ThreadClock, WorkQueue, WorkQueueExt,
};

use crate::support::{ManualClock, TokioClock, Wakes, ms, secs};

fn noop() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

#[test]
fn work_queue_is_dyn_compatible() {
    let queue: Arc<dyn WorkQueue<u32>> = Arc::new(Queue::new(ThreadClock));
    queue.add_now(1);
    assert_eq!(*queue.take_blocking().unwrap(), 1);
    queue.add_now(2);
    let Poll::Ready(Some(lease)) = pin!(queue.take()).poll(&mut noop()) else {
        panic!("2 is ready");
    };
    queue.done(lease, Outcome::Forget);
    assert!(queue.is_empty());
}

#[test]
fn one_worker_is_woken_for_one_item_the_longest_waiting_first() {
    let queue = Queue::new(ManualClock::new());
    let mut workers: Vec<_> = (0..3).map(|_| (Box::pin(queue.take()), Wakes::new())).collect();
    for (take, (_, waker)) in &mut workers {
        assert!(take.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    }
    let woken = |workers: &Vec<(_, (Arc<Wakes>, Waker))>| {
        workers
            .iter()
            .map(|(_, (wakes, _))| wakes.n())
            .collect::<Vec<_>>()
    };
    queue.add_now("a");
    assert_eq!(woken(&workers), [1, 0, 0]);
    queue.add_now("a");
    assert_eq!(woken(&workers), [1, 0, 0]);
    queue.add_now("b");
    assert_eq!(woken(&workers), [1, 1, 0]);

    // Somebody else was quicker with b: the second worker waits on, in its old place.
    let (first, rest) = workers.split_at_mut(1);
    let cx = &mut Context::from_waker(&first[0].1.1);
    assert!(first[0].0.as_mut().poll(cx).is_ready());
    drop(queue.take_blocking().unwrap());
    let cx = &mut Context::from_waker(&rest[0].1.1);
    assert!(rest[0].0.as_mut().poll(cx).is_pending());
    queue.add_now("c");
    assert_eq!(woken(&workers), [1, 2, 0]);

    queue.shut_down(Shutdown::Now);
    assert_eq!(woken(&workers), [1, 2, 1]);
}

#[test]
fn a_dropped_worker_passes_its_wake_up_on() {
    let queue = Queue::new(ManualClock::new());
    let (_, first_waker) = Wakes::new();
    let (second, second_waker) = Wakes::new();
    let mut one = Box::pin(queue.take());
    let mut two = Box::pin(queue.take());
    assert!(
        one.as_mut()
            .poll(&mut Context::from_waker(&first_waker))
            .is_pending()
    );
    assert!(
        two.as_mut()
            .poll(&mut Context::from_waker(&second_waker))
            .is_pending()
    );
    queue.add_now("x");
    assert_eq!(second.n(), 0);
    drop(one);
    assert_eq!(second.n(), 1);
    assert!(two.as_mut().poll(&mut noop()).is_ready());

    // One that was not woken has nothing to pass on.
    let mut three = Box::pin(queue.take());
    assert!(three.as_mut().poll(&mut noop()).is_pending());
    drop(three);
    assert_eq!(second.n(), 1);
}

#[test]
fn the_timer_outlives_the_worker_that_armed_it() {
    let clock = ManualClock::new();
    let queue = Queue::new(clock.clone());
    let (second, waker) = Wakes::new();
    let mut one = Box::pin(queue.take());
    let mut two = Box::pin(queue.take());
    queue.add_after("x", secs(5));
    assert!(one.as_mut().poll(&mut noop()).is_pending());
    assert!(two.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(one);
    clock.advance(secs(5));
    assert_eq!(second.n(), 1);
    assert!(two.as_mut().poll(&mut noop()).is_ready());
    assert_eq!(clock.most_timers(), 1);
}

#[test]
fn the_last_item_of_a_drain_releases_the_other_workers() {
    let queue = Queue::new(ManualClock::new());
    queue.add_now("x");
    let lease = queue.take_blocking().unwrap();
    queue.add_now("x");
    queue.shut_down(Shutdown::Drain { queued: true });
    let (wakes, waker) = Wakes::new();
    let mut idle = Box::pin(queue.take());
    assert!(idle.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let mut standing = Context::from_waker(&waker);
    assert!(queue.poll_take(&mut standing).is_pending());
    drop(lease);
    assert!(wakes.n() > 0);
    let last = queue.take_blocking().unwrap();
    assert!(matches!(idle.as_mut().poll(&mut noop()), Poll::Ready(None)));
    assert!(matches!(queue.poll_take(&mut noop()), Poll::Ready(None)));
    let mut drained = Box::pin(queue.drained());
    assert!(
        drained
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let before = wakes.n();
    drop(last);
    assert!(wakes.n() > before);
    assert!(drained.as_mut().poll(&mut noop()).is_ready());
}

#[tokio::test(start_paused = true)]
async fn delays_follow_the_clock() {
    let queue = Queue::new(TokioClock);
    let start = TokioClock.now();
    queue.add_after("far", Duration::from_secs(100 * 365 * 24 * 3600));
    queue.add_after("b", secs(20));
    queue.add_after("a", secs(10));
    let mut seen = Vec::new();
    for _ in 0..2 {
        let lease = queue.take().await.unwrap();
        seen.push((*lease, (TokioClock.now() - start).as_secs()));
    }
    assert_eq!(seen, [("a", 10), ("b", 20)]);

    // A worker that already waits is moved to an earlier time.
    let (lease, ()) = tokio::join!(queue.take(), async { queue.add_after("c", ms(500)) });
    assert_eq!(*lease.unwrap(), "c");
    assert_eq!(TokioClock.now() - start, ms(20_500));
}

#[tokio::test(start_paused = true)]
async fn retries_back_off_until_forgotten() {
    let queue = Queue::new(TokioClock);
    let start = TokioClock.now();
    queue.add_now("x");
    let mut at = Vec::new();
    for turn in 0..5 {
        let lease = queue.take().await.unwrap();
        assert_eq!(lease.failures(), turn);
        at.push((TokioClock.now() - start).as_millis());
        lease.finish(if turn < 4 {
            Outcome::Retry
        } else {
            Outcome::RetryAfter(secs(1))
        });
    }
    assert_eq!(at, [0, 5, 15, 35, 75]);
    let lease = queue.take().await.unwrap();
    assert_eq!(
        (lease.failures(), (TokioClock.now() - start).as_millis()),
        (0, 1075)
    );
    lease.again_at(7).finish(Outcome::Retry);
    assert_eq!(queue.failures(&"x"), 1);
    queue.forget(&"x");
    let lease = queue.take().await.unwrap();
    assert_eq!((lease.failures(), lease.priority()), (0, 7));
}

/// A foreign queue gets async and blocking takes from `poll_take` alone; the thread clock's timer works for it without a runtime.
#[test]
fn a_foreign_queue_has_a_blocking_take() {
    struct Foreign(Queue<u32, ThreadClock>);

    impl WorkQueue<u32> for Foreign {
        fn add(&self, item: u32, how: AddOptions) {
            self.0.add(item, how);
        }

        fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<Lease<u32>>> {
            self.0.poll_take(cx)
        }

        fn shut_down(&self, how: Shutdown) -> Vec<u32> {
            self.0.shut_down(how)
        }

        fn len(&self) -> usize {
            self.0.len()
        }
    }

    let queue = Foreign(Queue::new(ThreadClock));
    queue.add_after(1, secs(3600));
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| queue.take_blocking().map(|lease| *lease));
        queue.add_after(2, ms(3));
        assert_eq!(taker.join().unwrap(), Some(2));
    });
}

/// client-go `TestGarbageCollection`: what is done, forgotten or dropped is not held.
#[test]
fn nothing_is_held_of_what_is_over() {
    let clock = ManualClock::new();
    let queue = Queue::new(clock.clone());
    let item = Arc::new(1);
    let weak: Weak<i32> = Arc::downgrade(&item);
    queue.add_now(item);
    for outcome in [Outcome::Retry, Outcome::RetryAfter(secs(1))] {
        queue.take_blocking().unwrap().finish(outcome);
        assert!(weak.upgrade().is_some());
        clock.advance(secs(1));
    }
    drop(queue.take_blocking().unwrap());
    assert!(weak.upgrade().is_none());

    let item = Arc::new(2);
    let weak = Arc::downgrade(&item);
    queue.add_after(item, secs(1));
    queue.shut_down(Shutdown::Drain { queued: true });
    assert!(weak.upgrade().is_none());
}

#[test]
fn a_dropped_queue_drops_its_timer() {
    let queue = Queue::new(ManualClock::new());
    let item = Arc::new(1);
    let weak = Arc::downgrade(&item);
    queue.add_after(item, secs(1));
    assert!(pin!(queue.take()).poll(&mut noop()).is_pending());
    drop(queue);
    assert!(weak.upgrade().is_none());
}

#[derive(Debug, Default)]
struct Log(Mutex<Vec<String>>);

impl Metrics for Log {
    fn depth(&self, depth: usize) {
        self.0.lock().unwrap().push(format!("depth {depth}"));
    }

    fn added(&self) {
        self.0.lock().unwrap().push("added".to_owned());
    }

    fn taken(&self, waited_for: Duration) {
        self.0.lock().unwrap().push(format!("taken {waited_for:?}"));
    }

    fn finished(&self, worked_for: Duration) {
        self.0.lock().unwrap().push(format!("finished {worked_for:?}"));
    }

    fn retried(&self) {
        self.0.lock().unwrap().push("retried".to_owned());
    }
}

/// client-go `TestMetrics`.
#[test]
fn metrics_have_upstreams_quantities() {
    let log = Arc::new(Log::default());
    let clock = ManualClock::new();
    let queue = Queue::with(Config::default().metrics(log.clone()), clock.clone());
    let expect = |expected: &[&str]| {
        assert_eq!(*log.0.lock().unwrap(), expected);
        log.0.lock().unwrap().clear();
    };
    queue.add_now("x");
    queue.add_now("x");
    expect(&["added", "depth 1"]);
    clock.advance(ms(50));
    let lease = queue.take_blocking().unwrap();
    expect(&["depth 0", "taken 50ms"]);
    queue.add_now("x");
    expect(&["added", "depth 1"]);
    clock.advance(ms(25));
    let stats = queue.stats();
    assert_eq!(
        (stats.running, stats.unfinished_for, stats.longest_for),
        (1, ms(25), ms(25))
    );
    lease.finish(Outcome::Retry);
    expect(&["finished 25ms", "retried"]);
    clock.advance(ms(25));
    drop(queue.take_blocking().unwrap());
    expect(&["depth 0", "taken 50ms", "finished 0ns"]);
    queue.shut_down(Shutdown::Now);
    expect(&["depth 0"]);
}
