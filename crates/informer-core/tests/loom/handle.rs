//! Every interleaving of a few steps at both ends of a delta queue: nothing is lost, and nobody sleeps through a push, a pop or a close.
//!
//! Compiled into the library's own tests, with loom's lock and condition in the place of the standard library's.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll, Waker},
};

use loom::{future::block_on, thread};

use crate::{Batch, Cause, Closed, Delta, DeltaQueue, DeltaSink, Entry, Handle, Stamp};

/// Hands out one delta at a time and is full from one on.
#[derive(Default)]
struct Narrow(VecDeque<Delta<u8, ()>>);

impl DeltaSink<u8, ()> for Narrow {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.0.is_empty() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    fn push(&mut self, delta: Delta<u8, ()>) {
        self.0.push_back(delta);
    }
}

impl DeltaQueue<u8, ()> for Narrow {
    fn pop_into(&mut self, batch: &mut Batch<u8, ()>, _: usize) -> usize {
        let next = self.0.pop_front();
        let n = usize::from(next.is_some());
        batch.deltas.extend(next);
        n
    }

    fn settle(&mut self, failed: Vec<Delta<u8, ()>>) {
        self.0.extend(failed);
    }

    fn has_synced(&self) -> bool {
        true
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

type Queue = Handle<Narrow, u8, ()>;

fn explore(run: impl Fn(Queue, Queue) + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    // Hardly a mistake needs more switches to show, and each more multiplies the orders to try.
    model.preemption_bound = Some(3);
    model.check(move || {
        let handle = Handle::new(Narrow::default());
        run(handle.clone(), handle);
    });
}

fn delta(key: u8) -> Delta<u8, ()> {
    let entry = Entry::new(key, Stamp::default(), std::sync::Arc::new(()));
    Delta::Upsert(entry, Cause::Added)
}

fn keys(batch: &mut Batch<u8, ()>) -> Vec<u8> {
    batch
        .deltas
        .drain(..)
        .filter_map(|it| it.key().copied())
        .collect()
}

/// All that comes until the end.
fn pop_all(consumer: &Queue) -> Vec<u8> {
    let (mut seen, mut batch) = (Vec::new(), Batch::default());
    while block_on(consumer.pop(&mut batch, 1)).is_ok() {
        seen.append(&mut keys(&mut batch));
    }
    seen
}

#[test]
fn a_waiting_pop_gets_every_push_and_the_end() {
    explore(|mut source, consumer| {
        let pushes = thread::spawn(move || {
            source.push(delta(1));
            source.push(delta(2));
            source.close();
        });
        assert_eq!(pop_all(&consumer), [1, 2]);
        pushes.join().unwrap();
    });
}

#[test]
fn a_blocking_pop_gets_every_push_and_the_end() {
    explore(|mut source, consumer| {
        let pushes = thread::spawn(move || {
            source.push(delta(1));
            source.push(delta(2));
            source.close();
        });
        let (mut seen, mut batch) = (Vec::new(), Batch::default());
        while consumer.pop_blocking(&mut batch, 1).is_ok() {
            seen.append(&mut keys(&mut batch));
        }
        assert_eq!(seen, [1, 2]);
        pushes.join().unwrap();
    });
}

#[test]
fn a_source_that_is_held_goes_on_after_each_pop() {
    explore(|mut source, consumer| {
        let pushes = thread::spawn(move || {
            for key in 1..=3 {
                assert_eq!(block_on(poll_fn(|cx| source.poll_ready(cx))), Ok(()));
                source.push(delta(key));
            }
            source.close();
        });
        assert_eq!(pop_all(&consumer), [1, 2, 3]);
        pushes.join().unwrap();
    });
}

#[test]
fn a_close_ends_a_source_that_is_held_and_one_that_waits_for_the_end() {
    explore(|mut source, consumer| {
        source.push(delta(1));
        let ends = thread::spawn(move || consumer.close());
        // Nobody pops: only the close can end this.
        assert_eq!(block_on(poll_fn(|cx| source.poll_ready(cx))), Err(Closed));
        block_on(poll_fn(|cx| source.poll_closed(cx)));
        ends.join().unwrap();
    });
    explore(|mut source, consumer| {
        let ends = thread::spawn(move || consumer.close());
        block_on(poll_fn(|cx| source.poll_closed(cx)));
        ends.join().unwrap();
    });
}

#[test]
fn a_close_ends_a_pop_of_either_kind_that_waits_for_nothing() {
    explore(|source, consumer| {
        let ends = thread::spawn(move || source.close());
        assert_eq!(block_on(consumer.pop(&mut Batch::default(), 1)), Err(Closed));
        ends.join().unwrap();
    });
    explore(|source, consumer| {
        let ends = thread::spawn(move || source.close());
        assert_eq!(consumer.pop_blocking(&mut Batch::default(), 1), Err(Closed));
        ends.join().unwrap();
    });
}

#[test]
fn what_comes_back_wakes_a_pop_of_either_kind() {
    for blocks in [false, true] {
        explore(move |handle, consumer| {
            let comes_back = thread::spawn(move || handle.settle(vec![delta(7)]));
            let mut batch = Batch::default();
            let popped = if blocks {
                consumer.pop_blocking(&mut batch, 1)
            } else {
                block_on(consumer.pop(&mut batch, 1))
            };
            assert_eq!((popped, keys(&mut batch)), (Ok(()), vec![7]));
            comes_back.join().unwrap();
        });
    }
}

#[test]
fn a_pop_that_is_dropped_while_a_push_comes_loses_nothing() {
    explore(|mut source, consumer| {
        let pushes = thread::spawn(move || source.push(delta(1)));
        let mut batch = Batch::default();
        {
            let mut dropped = pin!(consumer.pop(&mut batch, 1));
            let _ = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        if batch.is_empty() {
            assert_eq!(block_on(consumer.pop(&mut batch, 1)), Ok(()));
        }
        assert_eq!(keys(&mut batch), [1]);
        pushes.join().unwrap();
    });
}
