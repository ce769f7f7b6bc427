//! Every interleaving of a few steps around a work queue's handle: no add is lost, no item is with two workers at once, and nobody sleeps
//! through an add, the end of work or a shutdown.
//!
//! Compiled into the library's own tests, with loom's lock and parking in the place of the standard library's.

use std::{
    future::{Future, pending},
    pin::pin,
    task::{Context, Waker},
    time::Instant,
};

use informer_core::Clock;
use loom::{future::block_on, thread};

use crate::{AddOptions, Lease, Outcome, Queue, Shutdown, WorkQueue};

/// Time stands still.
#[derive(Clone, Copy)]
struct Still(Instant);

impl Clock for Still {
    fn now(&self) -> Instant {
        self.0
    }

    fn sleep_until(&self, _: Instant) -> impl Future<Output = ()> + Send {
        pending()
    }
}

type Numbers = Queue<u8, Still>;

#[expect(clippy::disallowed_methods, reason = "a time to stand still at")]
fn explore(bound: usize, run: impl Fn(Numbers) + Send + Sync + 'static) {
    let still = Still(Instant::now());
    let mut model = loom::model::Builder::new();
    // Hardly a mistake needs more switches to show, and each more multiplies the orders to try.
    model.preemption_bound = Some(bound);
    model.check(move || run(Queue::new(still)));
}

fn add(queue: &Numbers, item: u8) {
    queue.add(item, AddOptions::default());
}

fn take(queue: &Numbers, blocks: bool) -> Option<Lease<u8>> {
    if blocks {
        queue.take_blocking()
    } else {
        block_on(queue.take())
    }
}

#[test]
fn a_worker_that_waits_gets_every_add_and_the_end() {
    for blocks in [false, true] {
        explore(3, move |queue| {
            let adds = {
                let queue = queue.clone();
                thread::spawn(move || {
                    add(&queue, 1);
                    add(&queue, 2);
                    queue.shut_down(Shutdown::Drain { queued: true });
                })
            };
            let mut seen = Vec::new();
            while let Some(lease) = take(&queue, blocks) {
                seen.push(*lease.item());
            }
            assert_eq!(seen, [1, 2]);
            adds.join().unwrap();
        });
    }
}

#[test]
fn two_workers_get_two_items() {
    for blocks in [false, true] {
        explore(2, move |queue| {
            let works = {
                let queue = queue.clone();
                thread::spawn(move || take(&queue, blocks).map(|lease| *lease.item()))
            };
            let adds = {
                let queue = queue.clone();
                thread::spawn(move || {
                    add(&queue, 1);
                    add(&queue, 2);
                })
            };
            let mine = take(&queue, blocks).map(|lease| *lease.item());
            let mut both = [mine, works.join().unwrap()];
            both.sort_unstable();
            assert_eq!(both, [Some(1), Some(2)]);
            adds.join().unwrap();
        });
    }
}

#[test]
fn an_item_in_hand_comes_to_the_next_worker_once_it_is_done() {
    explore(3, |queue| {
        add(&queue, 1);
        let lease = block_on(queue.take()).unwrap();
        let done = loom::sync::Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let works = {
            let (queue, done) = (queue.clone(), done.clone());
            thread::spawn(move || {
                add(&queue, 1);
                done.store(true, loom::sync::atomic::Ordering::SeqCst);
                lease.finish(Outcome::Forget);
            })
        };
        let again = block_on(queue.take()).unwrap();
        assert!(
            done.load(loom::sync::atomic::Ordering::SeqCst),
            "with two at once"
        );
        assert_eq!(*again.item(), 1);
        works.join().unwrap();
    });
}

#[test]
fn a_worker_that_goes_away_passes_its_call_on() {
    explore(3, |queue| {
        let adds = {
            let queue = queue.clone();
            thread::spawn(move || add(&queue, 1))
        };
        let works = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.take()).map(|lease| *lease.item()))
        };
        let mut got = false;
        {
            let mut dropped = pin!(queue.take());
            let polled = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            got |= polled.is_ready();
        }
        // The lease was dropped, which ends its work: the other worker gets what is added then.
        if got {
            add(&queue, 1);
        }
        assert_eq!(works.join().unwrap(), Some(1));
        adds.join().unwrap();
    });
}

#[test]
fn a_shutdown_ends_every_wait() {
    for blocks in [false, true] {
        explore(2, move |queue| {
            let works = {
                let queue = queue.clone();
                thread::spawn(move || take(&queue, blocks).is_none())
            };
            let ends = {
                let queue = queue.clone();
                thread::spawn(move || queue.shut_down(Shutdown::Now))
            };
            if blocks {
                queue.drained_blocking();
            } else {
                block_on(queue.drained());
            }
            assert!(works.join().unwrap());
            assert!(ends.join().unwrap().is_empty());
        });
    }
}

#[test]
fn a_drain_ends_with_the_work_in_hand() {
    for blocks in [false, true] {
        explore(3, move |queue| {
            add(&queue, 1);
            let lease = block_on(queue.take()).unwrap();
            let works = thread::spawn(move || lease.finish(Outcome::Forget));
            queue.shut_down(Shutdown::Drain { queued: true });
            if blocks {
                queue.drained_blocking();
            } else {
                block_on(queue.drained());
            }
            works.join().unwrap();
        });
    }
}
