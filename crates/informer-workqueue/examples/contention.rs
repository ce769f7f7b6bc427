//! How long an add takes while others add and many workers take: controller-runtime's contention case, a figure and no test.
//!
//! `cargo run --release -p informer-workqueue --example contention 1000000 1000`: so many items, so many workers; a tenth of both by default.
//! A third number is that of the threads which add.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it prints what it measured, on a real clock"
)]

use std::{env, error::Error, thread, time::Instant};

use informer_workqueue::{
    AddOptions, Config, ItemExponential, Outcome, Queue, Shutdown, ThreadClock, WorkQueue,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = env::args().skip(1);
    let mut number = |default: usize| given.next().map_or(Ok(default), |text| text.parse());
    let (items, workers, adders) = (number(100_000)?, number(100)?, number(4)?);
    let config = Config::<usize>::default().limiter(ItemExponential::default());
    let queue = Queue::with(config, ThreadClock);
    let begun = Instant::now();
    let mut took: Vec<u128> = thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(lease) = queue.take_blocking() {
                    lease.finish(Outcome::Forget);
                }
            });
        }
        let adders: Vec<_> = (0..adders)
            .map(|adder| {
                let queue = &queue;
                scope.spawn(move || add(queue, (adder..items).step_by(adders)))
            })
            .collect();
        let took = adders.into_iter().filter_map(|adder| adder.join().ok());
        let took = took.flatten().collect();
        queue.shut_down(Shutdown::Drain { queued: true });
        took
    });
    let all = begun.elapsed();
    took.sort_unstable();
    // The least that this share of the adds did not exceed.
    let share =
        |per_mille: usize| took.get((took.len() * per_mille / 1000).min(took.len().saturating_sub(1)));
    println!("{items} items, {workers} workers, {adders} adders: {all:.2?} in all");
    for (name, per_mille) in [("median", 500), ("p99", 990), ("p99.9", 999), ("most", 1000)] {
        if let Some(nanos) = share(per_mille) {
            println!("add, {name}: {nanos} ns");
        }
    }
    Ok(())
}

/// Adds these, one in seven at a low priority, and says how many nanoseconds each took.
fn add(queue: &Queue<usize, ThreadClock>, items: impl Iterator<Item = usize>) -> Vec<u128> {
    items
        .map(|item| {
            let priority = if item.is_multiple_of(7) { -100 } else { 0 };
            let begun = Instant::now();
            queue.add(item, AddOptions::default().priority(priority));
            begun.elapsed().as_nanos()
        })
        .collect()
}
