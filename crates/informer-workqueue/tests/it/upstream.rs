//! The queue's part of what controller-runtime is known by: priorities, merges, shutdown, depth.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use informer_core::Clock;
use informer_workqueue::{
    AddOptions, Config, DelayedCopy, Fifo, ItemExponential, Machine, Metrics, Outcome, Priority, Probe,
    Queue, Shutdown, ThreadClock, WorkQueue, WorkQueueExt, default_controller_limiter, default_item_limiter,
};

use crate::support::{ManualClock, Random, epoch, ms, secs};

fn priority_queue() -> Config<&'static str> {
    Config::default()
        .limiter(ItemExponential::default())
        .order(Priority::strict())
        .delayed_copy(DelayedCopy::Absorb)
}

#[test]
fn t53_highest_priority_and_shortest_delay_win_and_a_raised_item_goes_to_the_tail() {
    let mut machine = Machine::new(priority_queue());
    let now = epoch();
    let at = |priority| AddOptions::default().priority(priority);
    for (item, priority) in [
        ("a", 0),
        ("b", 0),
        ("c", 5),
        ("d", 5),
        ("a", -7),
        ("b", 5),
        ("b", 1),
    ] {
        machine.add(now, item, at(priority));
    }
    // b was raised to 5 and stands behind those that were there; a kept its highest.
    let taken: Vec<_> = std::iter::from_fn(|| machine.take(now))
        .map(|it| (it.item, it.priority))
        .collect();
    assert_eq!(taken, [("c", 5), ("d", 5), ("b", 5), ("a", 0)]);

    // Of two delays the earlier, of two priorities the higher, whichever add had them.
    machine.add(now, "x", AddOptions::after(secs(9)).priority(3));
    machine.add(now, "x", AddOptions::after(secs(2)).priority(1));
    machine.add(now, "x", AddOptions::after(secs(5)).priority(2));
    assert_eq!(machine.due(&"x"), Some(now + secs(2)));
    assert_eq!(machine.stats(now).delayed, 1);
    let taken = machine.take(now + secs(2)).unwrap();
    assert_eq!((taken.item, taken.priority), ("x", 3));

    // What is ready stays ready, though it is added again with a delay.
    machine.add(now, "y", AddOptions::default());
    machine.add(now, "y", AddOptions::after(secs(60)).priority(4));
    let taken = machine.take(now + secs(2)).unwrap();
    assert_eq!((taken.item, taken.priority, machine.due(&"y")), ("y", 4, None));
}

#[test]
fn t54_of_rate_limit_and_delay_the_smaller_counts() {
    let mut machine = Machine::new(priority_queue());
    let now = epoch();
    let both = |delay| {
        let mut how = AddOptions::after(delay);
        how.rate_limited = true;
        how
    };
    machine.add(now, "limit", both(secs(1)));
    assert_eq!(machine.due(&"limit"), Some(now + ms(5)));
    machine.add(now, "delay", both(ms(1)));
    assert_eq!(machine.due(&"delay"), Some(now + ms(1)));
    // The limiter counted both.
    assert_eq!((machine.failures(&"limit"), machine.failures(&"delay")), (1, 1));
}

/// controller-runtime issues 3239, 3337, 3538: a getter that was stuck, a shutdown that was.
#[test]
fn t55_a_shutdown_releases_twenty_blocked_takers_each_time() {
    let (rounds, takers) = (1000, 20);
    let released = AtomicUsize::new(0);
    let queues: Vec<_> = (0..rounds).map(|_| Queue::<u32, _>::new(ThreadClock)).collect();
    let start = std::sync::Barrier::new(takers + 1);
    thread::scope(|scope| {
        for _ in 0..takers {
            scope.spawn(|| {
                for queue in &queues {
                    start.wait();
                    while queue.take_blocking().is_some() {}
                    released.fetch_add(1, SeqCst);
                }
            });
        }
        for (round, queue) in queues.iter().enumerate() {
            start.wait();
            if round % 3 == 0 {
                queue.add_now(1);
            }
            queue.shut_down(match round % 4 {
                0 => Shutdown::Now,
                1 => Shutdown::InHand,
                _ => Shutdown::Drain {
                    queued: round % 4 == 2,
                },
            });
        }
    });
    assert_eq!(released.load(SeqCst), rounds * takers);
}

/// The other half of T56 is `nothing_starves_with_aging`: here each low item is served, and in bounded time.
#[test]
fn t56_aging_bounds_the_wait_of_a_low_priority() {
    let mut machine = Machine::new(Config::default().order(Priority::aging(ms(10))));
    let (start, mut now) = (epoch(), epoch());
    machine.add(now, 1000, AddOptions::default().priority(-100));
    for turn in 0..1000_u32 {
        machine.add(now, turn % 5, AddOptions::default());
        machine.add(now, (turn + 1) % 5, AddOptions::default());
        let taken = machine.take(now).unwrap();
        if taken.item == 1000 {
            // A hundred levels of 10 ms each, and then those that were before it.
            assert!(now - start <= ms(1000) + ms(5 * 6), "{:?}", now - start);
            return;
        }
        now += ms(5);
        machine.done(now, taken.ticket, taken.priority, Outcome::Forget);
    }
    panic!("it starves");
}

/// Many items, many workers, several that add: each item is handed out, none lost, none twice at once.
#[test]
fn t57_a_million_items_go_through_a_thousand_workers() {
    const ITEMS: usize = 1_000_000;
    const WORKERS: usize = 1000;
    let queue = Queue::with(
        Config::<usize>::default().limiter(ItemExponential::default()),
        ThreadClock,
    );
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            thread::Builder::new()
                .stack_size(64 * 1024)
                .spawn_scoped(scope, || {
                    while let Some(lease) = queue.take_blocking() {
                        lease.finish(Outcome::Forget);
                        done.fetch_add(1, SeqCst);
                    }
                })
                .unwrap();
        }
        let adders: Vec<_> = (0..4)
            .map(|adder| {
                let queue = &queue;
                scope.spawn(move || {
                    for item in (adder..ITEMS).step_by(4) {
                        queue.add(
                            item,
                            AddOptions::default().priority(if item % 7 == 0 { -100 } else { 0 }),
                        );
                    }
                })
            })
            .collect();
        for adder in adders {
            adder.join().unwrap();
        }
        let drained = queue.drain_blocking(Shutdown::Drain { queued: true }, secs(3600));
        assert!(drained.is_complete() && drained.left.is_empty());
    });
    assert_eq!(done.load(SeqCst), ITEMS);
    assert_eq!(queue.stats(), informer_workqueue::Stats::default());
}

#[derive(Debug, Default)]
struct Depths {
    levels: Mutex<BTreeMap<i32, usize>>,
    depth: AtomicUsize,
    probe: Mutex<Option<Probe>>,
}

impl Metrics for Depths {
    fn opened(&self, probe: Probe) {
        *self.probe.lock().unwrap() = Some(probe);
    }

    fn depth(&self, depth: usize) {
        let sum: usize = self.levels.lock().unwrap().values().sum();
        assert_eq!(sum, depth, "the levels add up to the depth");
        self.depth.store(depth, SeqCst);
    }

    fn depth_at(&self, priority: i32, depth: usize) {
        assert!(depth < 1000, "below zero");
        self.levels.lock().unwrap().insert(priority, depth);
    }
}

/// controller-runtime issues 3060 and 3066: a depth that went below zero.
#[test]
fn t58_depth_is_never_negative_and_the_levels_add_up() {
    for order in 0..2 {
        let depths = Arc::new(Depths::default());
        let config = Config::<u64>::default()
            .metrics(depths.clone())
            .delayed_copy(if order == 0 {
                DelayedCopy::Absorb
            } else {
                DelayedCopy::Keep
            });
        let config = if order == 0 {
            config
        } else {
            config.order(Fifo::default())
        };
        let clock = ManualClock::new();
        let queue = Queue::with(config, clock.clone());
        let mut random = Random::new(11);
        let mut leases = Vec::new();
        for _ in 0..20_000 {
            let item = random.below(40);
            let priority = i32::try_from(random.below(5)).unwrap() - 2;
            match random.below(6) {
                0 | 1 => queue.add(item, AddOptions::default().priority(priority)),
                2 => queue.add(item, AddOptions::after(ms(random.below(30))).priority(priority)),
                3 => clock.advance(ms(random.below(10))),
                4 if !queue.is_empty() => leases.extend(queue.take_blocking()),
                _ if !leases.is_empty() => {
                    let lease =
                        leases.swap_remove(usize::try_from(random.below(leases.len() as u64)).unwrap());
                    lease.finish(if random.below(2) == 0 {
                        Outcome::Retry
                    } else {
                        Outcome::Forget
                    });
                }
                _ => {}
            }
        }
        assert!(depths.depth.load(SeqCst) > 0);
        queue.shut_down(Shutdown::Now);
        assert_eq!(depths.depth.load(SeqCst), 0);
        assert!(depths.levels.lock().unwrap().values().all(|depth| *depth == 0));
        leases.clear();
        let probe = depths.probe.lock().unwrap().clone().unwrap();
        assert_eq!(probe.stats(), Some(informer_workqueue::Stats::default()));
        drop(queue);
        assert_eq!(probe.stats(), None, "the probe keeps the queue alive");
    }
}

/// The numbers that the two remaining metrics are made of, asked through the probe while nothing happens.
#[test]
fn what_is_unfinished_is_asked_for() {
    let depths = Arc::new(Depths::default());
    let clock = ManualClock::new();
    let queue = Queue::with(Config::default().metrics(depths.clone()), clock.clone());
    let probe = depths.probe.lock().unwrap().clone().unwrap();
    queue.add_now("a");
    queue.add_now("b");
    let first = queue.take_blocking().unwrap();
    clock.advance(secs(3));
    let second = queue.take_blocking().unwrap();
    clock.advance(secs(2));
    let stats = probe.stats().unwrap();
    assert_eq!((stats.unfinished_for, stats.longest_for), (secs(7), secs(5)));
    drop((first, second));
    assert_eq!(probe.stats().unwrap().longest_for, secs(0));
}

#[test]
fn a_delayed_item_is_taken_back() {
    let clock = ManualClock::new();
    let queue = Queue::new(clock.clone());
    queue.add_after("x", secs(5));
    queue.add_after("y", secs(5));
    assert!(queue.cancel(&"x") && !queue.cancel(&"x") && !queue.cancel(&"never"));
    clock.advance(secs(5));
    assert_eq!(*queue.take_blocking().unwrap(), "y");
    assert_eq!(queue.stats(), informer_workqueue::Stats::default());
    // What is ready is not delayed any more.
    queue.add_now("x");
    assert!(!queue.cancel(&"x"));
    assert_eq!(*queue.take_blocking().unwrap(), "x");
}

/// An add can only make it earlier; this makes it later, too, and a worker that waits follows.
#[tokio::test(start_paused = true)]
async fn a_delayed_item_gets_another_time() {
    use crate::support::TokioClock;
    let queue = Queue::new(TokioClock);
    let start = TokioClock.now();
    queue.add("x", AddOptions::after(secs(5)).priority(3));
    assert!(queue.reschedule(&"x", secs(20)));
    let lease = queue.take().await.unwrap();
    assert_eq!((lease.priority(), TokioClock.now() - start), (3, secs(20)));
    drop(lease);

    queue.add_after("x", secs(100));
    let (lease, ()) = tokio::join!(queue.take(), async {
        assert!(queue.reschedule(&"x", secs(1)));
    });
    assert_eq!(TokioClock.now() - start, secs(21));
    drop(lease);
    queue.add_after("x", secs(100));
    let (lease, ()) = tokio::join!(queue.take(), async {
        assert!(queue.reschedule(&"x", secs(0)));
    });
    assert_eq!((lease.is_some(), TokioClock.now() - start), (true, secs(21)));
    assert!(!queue.reschedule(&"x", secs(1)), "it is in work, not delayed");
}

/// A drain with a deadline: complete, or with a report of what was left.
#[tokio::test(start_paused = true)]
async fn a_drain_ends_in_time_and_says_what_it_left() {
    use crate::support::TokioClock;
    let queue = Queue::new(TokioClock);
    for item in ["a", "b", "c"] {
        queue.add_now(item);
    }
    queue.add_after("late", secs(60));
    let held = queue.take().await.unwrap();
    let worker = async {
        let lease = queue.take().await.unwrap();
        TokioClock.sleep_until(TokioClock.now() + secs(1)).await;
        drop(lease);
    };
    let (drained, ()) = tokio::join!(queue.drain(Shutdown::Drain { queued: true }, secs(10)), worker);
    assert_eq!(drained.left, ["late", "c"]);
    assert_eq!(drained.running, ["a"]);
    assert!(!drained.is_complete());
    assert!(queue.take().await.is_none());
    drop(held);

    // Upstream's form waits for what is in hand, not for what nobody has begun; that is named.
    let queue = Queue::new(TokioClock);
    queue.add_now("a");
    queue.add_now("b");
    let lease = queue.take().await.unwrap();
    let start = TokioClock.now();
    let (drained, ()) = tokio::join!(queue.drain(Shutdown::InHand, secs(10)), async {
        TokioClock.sleep_until(start + secs(2)).await;
        drop(lease);
    });
    assert_eq!((TokioClock.now() - start, drained.is_complete()), (secs(2), true));
    assert_eq!(drained.left, ["b"]);

    // Nobody takes what is ready: the time was not enough, though nothing is in work.
    let queue = Queue::new(TokioClock);
    queue.add_now("a");
    let drained = queue.drain(Shutdown::Drain { queued: true }, secs(10)).await;
    assert!(!drained.is_complete());
    assert_eq!((drained.left, drained.running), (vec!["a"], vec![]));
}

#[test]
fn a_drain_blocks_no_longer_than_it_may() {
    let queue = Queue::new(ThreadClock);
    queue.add_now("a");
    let lease = queue.take_blocking().unwrap();
    let drained = queue.drain_blocking(Shutdown::Drain { queued: false }, ms(5));
    assert_eq!((drained.left.len(), drained.running), (0, vec!["a"]));
    drop(lease);
}

/// Upstream's rule: what is ready when the queue is shut down is still handed out, and a later plain shutdown ends that.
#[test]
fn in_hand_hands_out_what_is_ready() {
    let queue = Queue::new(ThreadClock);
    queue.add_now(1);
    queue.add_now(2);
    queue.add_now(3);
    assert!(queue.shut_down(Shutdown::InHand).is_empty());
    queue.add_now(4);
    queue.drained_blocking();
    assert_eq!(*queue.take_blocking().unwrap(), 1);
    // A harder end reports what is still there.
    assert_eq!(queue.shut_down(Shutdown::Now), [2, 3]);
    assert!(queue.take_blocking().is_none());
}

/// T46's other end: what the limiters say for a very long row of failures, and that nothing overflows.
#[test]
fn t46_delays_double_from_5_ms_to_1000_s() {
    let mut queue = Machine::new(priority_queue());
    let now = epoch();
    let mut seen = Vec::new();
    for _ in 0..200 {
        queue.add(now, "x", AddOptions::rate_limited());
        seen.push(queue.due(&"x").unwrap() - now);
        queue.cancel(&"x");
    }
    assert_eq!(seen[..4], [ms(5), ms(10), ms(20), ms(40)]);
    assert_eq!(seen[17], ms(5 << 17));
    assert!(seen[18..].iter().all(|delay| *delay == secs(1000)));
    queue.forget(&"x");
    queue.add(now, "x", AddOptions::rate_limited());
    assert_eq!(queue.due(&"x"), Some(now + ms(5)));

    use informer_workqueue::RateLimiter;
    assert_eq!(default_item_limiter().delay(now, &"x"), ms(1));
    assert_eq!(default_controller_limiter().delay(now, &"x"), ms(5));
}
