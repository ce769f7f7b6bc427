//! Add while the item is being worked on.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    thread,
};

use informer_workqueue::{
    AddOptions, Config, Machine, Outcome, Queue, Shutdown, ThreadClock, Ticket, WorkQueue, WorkQueueExt,
};

use crate::support::{ManualClock, Random, epoch, secs};

#[test]
fn wq_01_an_item_added_while_in_work_runs_once_more_after_done() {
    let queue = Queue::new(ManualClock::new());
    queue.add_now("x");
    let lease = queue.take_blocking().unwrap();
    (0..3).for_each(|_| queue.add_now("x"));
    assert_eq!(queue.len(), 0);
    lease.finish(Outcome::Forget);
    assert_eq!(queue.len(), 1);
    drop(queue.take_blocking().unwrap());
    assert_eq!(queue.stats(), informer_workqueue::Stats::default());
}

#[test]
fn wq_01_an_item_due_while_in_work_waits_for_done() {
    let clock = ManualClock::new();
    let queue = Queue::new(clock.clone());
    queue.add_now("x");
    let lease = queue.take_blocking().unwrap();
    queue.add_after("x", secs(1));
    clock.advance(secs(1));
    queue.add_now("y");
    let other = queue.take_blocking().unwrap();
    assert_eq!(*other, "y");
    drop((lease, other));
    assert_eq!(*queue.take_blocking().unwrap(), "x");
}

/// A lease cannot be given back twice, or without having been taken; the machine below it is told by tickets, and knows which are out.
#[test]
fn wq_01_done_without_a_take_and_done_twice_change_nothing() {
    let mut machine: Machine<&str> = Machine::new(Config::default());
    let now = epoch();
    machine.add(now, "x", AddOptions::default());
    machine.done(now, Ticket(7), 0, Outcome::Retry);
    assert_eq!((machine.len(), machine.failures(&"x")), (1, 0));
    let taken = machine.take(now).unwrap();
    machine.done(now, taken.ticket, 0, Outcome::Done);
    machine.add(now, "x", AddOptions::default());
    let again = machine.take(now).unwrap();
    machine.add(now, "x", AddOptions::default());
    for outcome in [Outcome::Done, Outcome::Retry] {
        machine.done(now, taken.ticket, 0, outcome);
        assert!(machine.take(now).is_none(), "x is still in work");
    }
    machine.done(now, again.ticket, 0, Outcome::Done);
    let last = machine.take(now).unwrap();
    assert_eq!((last.item, last.failures), ("x", 0), "nothing hides a later add");
    machine.done(now, last.ticket, 0, Outcome::Done);
    assert!(machine.take(now).is_none());
    assert_eq!(machine.stats(now), informer_workqueue::Stats::default());
}

/// A million adds of random keys from four threads, eight workers: no key with two workers at once, and the last add of each key is
/// followed by a take.
#[test]
fn wq_01_a_million_adds_and_eight_workers() {
    const KEYS: usize = 512;
    let queue = Queue::<usize, _>::new(ThreadClock);
    let busy: Vec<AtomicBool> = (0..KEYS).map(|_| AtomicBool::new(false)).collect();
    let added: Vec<AtomicU32> = (0..KEYS).map(|_| AtomicU32::new(0)).collect();
    let seen: Vec<AtomicU32> = (0..KEYS).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(lease) = queue.take_blocking() {
                    let key = *lease.item();
                    assert!(!busy[key].swap(true, SeqCst), "{key} is with two workers");
                    seen[key].store(added[key].load(SeqCst), SeqCst);
                    busy[key].store(false, SeqCst);
                    match key % 3 {
                        0 => drop(lease),
                        1 => lease.finish(Outcome::Forget),
                        _ => queue.done(lease, Outcome::Done),
                    }
                }
            });
        }
        let producers: Vec<_> = (0..4)
            .map(|seed| {
                let (queue, added) = (&queue, &added);
                scope.spawn(move || {
                    let mut random = Random::new(seed + 1);
                    for _ in 0..250_000 {
                        let key = usize::try_from(random.below(KEYS as u64)).unwrap();
                        added[key].fetch_add(1, SeqCst);
                        queue.add(key, AddOptions::default());
                    }
                })
            })
            .collect();
        producers.into_iter().for_each(|it| it.join().unwrap());
        assert_eq!(queue.shut_down(Shutdown::Drain { queued: true }), []);
        queue.drained_blocking();
    });
    assert_eq!(added.iter().map(|it| it.load(SeqCst)).sum::<u32>(), 1_000_000);
    for key in 0..KEYS {
        assert_eq!(
            seen[key].load(SeqCst),
            added[key].load(SeqCst),
            "an add of {key} is lost"
        );
    }
}
