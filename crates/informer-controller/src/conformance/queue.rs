//! The suite for [`WorkQueue`], as a controller uses one.

use std::{
    fmt,
    task::{Context, Poll, Waker},
};

use informer_workqueue::{AddOptions, Lease, Outcome, Shutdown, WorkQueue};

use super::Report;

/// Checks a queue of numbers.
pub struct QueueSuite {
    subject: String,
    make: Box<dyn Fn() -> Box<dyn WorkQueue<u32>>>,
}

type Check = fn(&dyn WorkQueue<u32>) -> Result<(), String>;

const CHECKS: [(&str, &str, Check); 8] = [
    (
        "an_item_added_twice_is_handed_out_once",
        "An item added twice before it is taken is handed out once.",
        |queue| {
            add(queue, 1);
            add(queue, 1);
            expect(queue, 1)?.finish(Outcome::Forget);
            nothing(queue)
        },
    ),
    (
        "an_item_in_work_is_with_nobody_else",
        "An item is never with two workers at once.",
        |queue| {
            add(queue, 1);
            let lease = expect(queue, 1)?;
            add(queue, 1);
            nothing(queue)?;
            drop(lease);
            Ok(())
        },
    ),
    (
        "an_add_during_work_comes_again",
        "Added while a worker has it, it is handed out again, once, after that worker is done.",
        |queue| {
            add(queue, 1);
            let lease = expect(queue, 1)?;
            add(queue, 1);
            add(queue, 1);
            lease.finish(Outcome::Forget);
            expect(queue, 1)?.finish(Outcome::Forget);
            nothing(queue)
        },
    ),
    (
        "a_dropped_lease_is_done",
        "A lease that is dropped is done.",
        |queue| {
            add(queue, 1);
            drop(expect(queue, 1)?);
            add(queue, 1);
            expect(queue, 1).map(drop)
        },
    ),
    (
        "a_delayed_item_waits",
        "An item added with a delay is not handed out at once.",
        |queue| {
            queue.add(1, AddOptions::after(std::time::Duration::from_secs(3600)));
            nothing(queue)?;
            add(queue, 1);
            expect(queue, 1).map(drop)
        },
    ),
    (
        "the_length_is_what_waits",
        "Items that are ready and wait for a worker.",
        |queue| {
            add(queue, 1);
            add(queue, 2);
            let two = queue.len();
            let lease = expect_any(queue)?;
            let one = queue.len();
            drop(lease);
            match (two, one) {
                (2, 1) => Ok(()),
                other => Err(format!("{other:?} instead of (2, 1)")),
            }
        },
    ),
    (
        "a_shutdown_returns_what_waits",
        "Ends it, and returns what waited and will not be handed out any more.",
        |queue| {
            for item in [1, 2, 3] {
                add(queue, item);
            }
            let taken = expect_any(queue)?;
            let mut left = queue.shut_down(Shutdown::Drain { queued: false });
            left.push(*taken.item());
            left.sort_unstable();
            if left != [1, 2, 3] {
                return Err(format!("{left:?}"));
            }
            drop(taken);
            ended(queue)
        },
    ),
    (
        "nothing_is_added_after_a_shutdown",
        "Adds an item. Ignored once it is shut down.",
        |queue| {
            queue.shut_down(Shutdown::Now);
            add(queue, 1);
            ended(queue)
        },
    ),
];

impl QueueSuite {
    /// For the queue that this makes.
    pub fn new<W: WorkQueue<u32> + 'static>(subject: &str, make: impl Fn() -> W + 'static) -> Self {
        Self {
            subject: subject.to_owned(),
            make: Box::new(move || Box::new(make())),
        }
    }

    /// Runs all checks. A queue whose timers need a runtime is run inside one.
    pub fn run(&self) -> Report {
        let mut report = Report::new(&self.subject);
        for (name, rule, check) in CHECKS {
            report.check(name, rule, || check(&*(self.make)()));
        }
        report
    }
}

fn add(queue: &dyn WorkQueue<u32>, item: u32) {
    queue.add(item, AddOptions::default());
}

fn poll(queue: &dyn WorkQueue<u32>) -> Poll<Option<Lease<u32>>> {
    queue.poll_take(&mut Context::from_waker(Waker::noop()))
}

fn expect_any(queue: &dyn WorkQueue<u32>) -> Result<Lease<u32>, String> {
    match poll(queue) {
        Poll::Ready(Some(lease)) => Ok(lease),
        Poll::Ready(None) => Err("it has ended".to_owned()),
        Poll::Pending => Err("nothing is handed out".to_owned()),
    }
}

fn expect(queue: &dyn WorkQueue<u32>, item: u32) -> Result<Lease<u32>, String> {
    let lease = expect_any(queue)?;
    let got = *lease.item();
    if got == item {
        Ok(lease)
    } else {
        Err(format!("{got} instead of {item}"))
    }
}

fn nothing(queue: &dyn WorkQueue<u32>) -> Result<(), String> {
    match poll(queue) {
        Poll::Pending => Ok(()),
        Poll::Ready(lease) => Err(format!("{:?} is handed out", lease.map(|lease| *lease.item()))),
    }
}

fn ended(queue: &dyn WorkQueue<u32>) -> Result<(), String> {
    match poll(queue) {
        Poll::Ready(None) => Ok(()),
        Poll::Ready(Some(lease)) => Err(format!("{} is handed out", lease.item())),
        Poll::Pending => Err("takers are not told".to_owned()),
    }
}

impl fmt::Debug for QueueSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueSuite")
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}
