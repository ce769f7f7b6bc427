//! A foreign queue under a controller: no delays of its own order, no limiter, a vector.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use informer_controller::{Action, Attempt, Controller, channel, conformance::QueueSuite};
use informer_core::{Clock, TokioClock};
use informer_workqueue::{
    AddOptions, Holder, Lease, Outcome, Queue, Shutdown, ThreadClock, Ticket, WorkQueue,
};

use crate::support::{Log, Oops, ms, secs, sleep};

/// Everything in one list under one lock: slow, and another thing altogether than ours. What is delayed is found when somebody asks.
#[derive(Clone, Default)]
pub(crate) struct ListQueue(Arc<Locked>);

#[derive(Default)]
struct Locked(Mutex<Lists>);

#[derive(Default)]
struct Lists {
    ready: Vec<u32>,
    again: Vec<u32>,
    delayed: Vec<(std::time::Instant, u32)>,
    running: BTreeMap<u64, u32>,
    wakers: Vec<Waker>,
    closed: bool,
    tickets: u64,
}

impl Lists {
    fn add(&mut self, item: u32, after: std::time::Duration) {
        if self.closed {
            return;
        }
        if !after.is_zero() {
            self.delayed.push((TokioClock.now() + after, item));
        } else if self.running.values().any(|it| *it == item) {
            if !self.again.contains(&item) {
                self.again.push(item);
            }
        } else if !self.ready.contains(&item) {
            self.ready.push(item);
        }
        self.wakers.drain(..).for_each(Waker::wake);
    }
}

impl Holder<u32> for Locked {
    fn release(&self, ticket: Ticket, _: i32, outcome: Outcome) {
        let mut lists = self.0.lock().unwrap();
        let Some(item) = lists.running.remove(&ticket.0) else {
            return;
        };
        if let Some(at) = lists.again.iter().position(|it| *it == item) {
            lists.again.remove(at);
            lists.add(item, ms(0));
        }
        match outcome {
            Outcome::Retry => lists.add(item, ms(50)),
            Outcome::RetryAfter(after) => lists.add(item, after),
            _ => {}
        }
    }
}

impl WorkQueue<u32> for ListQueue {
    fn add(&self, item: u32, how: AddOptions) {
        self.0.0.lock().unwrap().add(item, how.after.unwrap_or_default());
    }

    fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<Lease<u32>>> {
        let mut lists = self.0.0.lock().unwrap();
        let now = TokioClock.now();
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut lists.delayed)
            .into_iter()
            .partition(|it| it.0 <= now);
        lists.delayed = later;
        for (_, item) in due {
            lists.add(item, ms(0));
        }
        if !lists.ready.is_empty() {
            lists.tickets += 1;
            let (ticket, item) = (lists.tickets, lists.ready.remove(0));
            lists.running.insert(ticket, item);
            drop(lists);
            return Poll::Ready(Some(Lease::new(item, Ticket(ticket), 0, 0, self.0.clone())));
        }
        if lists.closed {
            return Poll::Ready(None);
        }
        if let Some(at) = lists.delayed.iter().map(|it| it.0).min() {
            let waker = cx.waker().clone();
            #[expect(clippy::disallowed_methods, reason = "the timer of this queue")]
            tokio::spawn(async move {
                TokioClock.sleep_until(at).await;
                waker.wake();
            });
        }
        lists.wakers.push(cx.waker().clone());
        Poll::Pending
    }

    fn shut_down(&self, _: Shutdown) -> Vec<u32> {
        let mut lists = self.0.0.lock().unwrap();
        lists.closed = true;
        lists.wakers.drain(..).for_each(Waker::wake);
        let mut left = std::mem::take(&mut lists.ready);
        left.append(&mut lists.again);
        left.extend(std::mem::take(&mut lists.delayed).into_iter().map(|it| it.1));
        left
    }

    fn len(&self) -> usize {
        self.0.0.lock().unwrap().ready.len()
    }
}

#[tokio::test(start_paused = true)]
async fn ours_and_a_foreign_queue_keep_the_contract() {
    QueueSuite::new("ours", || Queue::new(ThreadClock))
        .run()
        .assert_conforms();
    QueueSuite::new("ours, on tokio's clock", || Queue::new(TokioClock))
        .run()
        .assert_conforms();
    QueueSuite::new("a list", ListQueue::default)
        .run()
        .assert_conforms();
}

/// A wrong one is found out.
#[test]
fn a_queue_that_forgets_to_merge_is_found_out() {
    /// Hands out whatever was added, as often as it was.
    #[derive(Default)]
    struct Pipe(Mutex<Vec<u32>>);

    struct Nobody;

    impl Holder<u32> for Nobody {
        fn release(&self, _: Ticket, _: i32, _: Outcome) {}
    }

    impl WorkQueue<u32> for Pipe {
        fn add(&self, item: u32, _: AddOptions) {
            self.0.lock().unwrap().push(item);
        }

        fn poll_take(&self, _: &mut Context<'_>) -> Poll<Option<Lease<u32>>> {
            match self.0.lock().unwrap().pop() {
                Some(item) => Poll::Ready(Some(Lease::new(item, Ticket(0), 0, 0, Arc::new(Nobody)))),
                None => Poll::Pending,
            }
        }

        fn shut_down(&self, _: Shutdown) -> Vec<u32> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }

        fn len(&self) -> usize {
            self.0.lock().unwrap().len()
        }
    }

    let report = QueueSuite::new("a pipe", Pipe::default).run();
    assert_eq!(
        report.broken(),
        [
            "an_item_added_twice_is_handed_out_once",
            "an_item_in_work_is_with_nobody_else",
            "an_add_during_work_comes_again",
            "a_delayed_item_waits",
            "a_shutdown_returns_what_waits",
            "nothing_is_added_after_a_shutdown",
        ]
    );
    assert!(!report.conforms() && report.to_string().contains("the contract: "));
}

/// The controller asks nothing of a queue but its contract.
#[tokio::test(start_paused = true)]
async fn a_foreign_queue_is_swapped_in() {
    let queue = ListQueue::default();
    let (requests, source) = channel("test");
    let log = Log::new();
    let controller = Controller::builder("foreign")
        .source(source)
        .queue(queue.clone())
        .concurrency(3)
        .reconcile({
            let log = log.clone();
            move |request: u32, attempt: Attempt| {
                log.push((request, attempt.number));
                async move {
                    match (request, attempt.number) {
                        (1, 1) => Err(Oops(1)),
                        (2, 1) => Ok(Action::requeue_after(secs(5))),
                        _ => Ok(Action::Done),
                    }
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    for request in 1..=3 {
        requests.send(request).await.unwrap();
    }
    log.wait_for(5).await;
    sleep(secs(1)).await;
    let mut seen = log.all();
    seen.sort_unstable();
    assert_eq!(seen[..3], [(1, 1), (1, 2), (2, 1)]);
    // 2 comes every five seconds, as it asks each time for.
    assert!(seen.contains(&(3, 1)));
    let ended = running.stop().await.unwrap();
    assert_eq!(ended.left, [2]);
}
