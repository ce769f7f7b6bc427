//! Priority queue order and shutdown.

use std::thread;

use informer_workqueue::{
    AddOptions, Config, DelayedCopy, Machine, Priority, Queue, Shutdown, ThreadClock, WorkQueue, WorkQueueExt,
};

use crate::support::{epoch, secs};

#[test]
fn wq_05_highest_priority_earliest_time_first_in_first_out() {
    for order in [Priority::strict(), Priority::default()] {
        let config = Config::default().order(order).delayed_copy(DelayedCopy::Absorb);
        let mut machine = Machine::new(config);
        let now = epoch();
        let at = |priority| AddOptions::default().priority(priority);
        machine.add(now, "foo", at(0));
        machine.add(now, "bar", at(1));
        machine.add(now, "foo", at(1));
        machine.add(now, "bar", at(-9));
        machine.add(now, "late", AddOptions::after(secs(5)).priority(50));
        machine.add(now, "late", AddOptions::after(secs(1)));
        let mut take = |after| {
            let taken = machine.take(now + secs(after));
            taken.map(|it| (it.item, it.priority))
        };
        assert_eq!(take(0), Some(("bar", 1)));
        assert_eq!(take(0), Some(("foo", 1)));
        assert_eq!(take(0), None);
        assert_eq!(take(1), Some(("late", 50)));
        // First in, first out, at every level.
        for (n, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
            machine.add(now + secs(2), name, at(i32::from(n % 2 == 0)));
        }
        let order: Vec<_> = std::iter::from_fn(|| machine.take(now + secs(2)))
            .map(|it| it.item)
            .collect();
        assert_eq!(order, ["a", "c", "b", "d"]);
    }
}

/// Workers that wait, producers that add, and a shutdown in between: everybody returns, nothing stays.
#[test]
fn wq_05_shutdown_releases_all_waiters_always() {
    for round in 0..10_000_u32 {
        let config = Config::default().delayed_copy(DelayedCopy::Absorb);
        let queue = Queue::with(config, ThreadClock);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| while queue.take_blocking().is_some() {});
            }
            scope.spawn(|| {
                for item in 0..round % 20 {
                    queue.add(item, AddOptions::default().priority(i32::from(item % 2 == 0)));
                    queue.add_after(item, secs(u64::from(item)));
                }
            });
            (0..round % 100).for_each(|_| std::hint::spin_loop());
            queue.shut_down(Shutdown::Now);
        });
        assert_eq!(queue.stats(), informer_workqueue::Stats::default());
    }
}
