//! Priorities, with and without aging, and an order of one's own.

use std::time::Instant;

use informer_workqueue::{AddOptions, Config, Order, Priority, Queue, ThreadClock, WorkQueue, WorkQueueExt};

/// The last that came is the first that goes.
#[derive(Default)]
struct Stack(Vec<&'static str>);

impl Order<&'static str> for Stack {
    fn push(&mut self, _: Instant, item: &'static str, _: i32) {
        self.0.push(item);
    }

    fn touch(&mut self, _: Instant, _: &&'static str, _: i32) {}

    fn pop(&mut self, _: Instant) -> Option<&'static str> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

fn main() {
    let strict = Config::default().order(Priority::strict());
    show("strict", &Queue::with(strict, ThreadClock));
    // The default: a level is worth 100 ms of waiting, so that nothing starves.
    show("aging", &Queue::new(ThreadClock));
    show(
        "a stack",
        &Queue::with(Config::default().order(Stack::default()), ThreadClock),
    );
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn show(order: &str, queue: &Queue<&'static str, ThreadClock>) {
    queue.add("low", AddOptions::default().priority(-100));
    queue.add_now("first");
    queue.add_now("second");
    queue.add("high", AddOptions::default().priority(10));
    let mut items = Vec::new();
    while !queue.is_empty() {
        items.extend(queue.take_blocking().map(|lease| *lease.item()));
    }
    println!("{order:8} {}", items.join(", "));
}
