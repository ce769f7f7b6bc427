//! The shared handle around a queue: who is woken by what, and how it ends.

use std::{
    sync::mpsc,
    task::{Context, Poll, Waker},
    thread,
};

use informer_core::{Batch, Closed, DeltaQueue, DeltaSink, Handle, Stamp};

use crate::support::{Count, Plain, delta};

type Queue = Handle<Plain, u8, ()>;

fn queue() -> (Queue, Queue) {
    let handle = Handle::new(Plain::default());
    (handle.clone(), handle)
}

fn poll_pop(handle: &Queue, waker: &Waker) -> Poll<Result<Vec<u8>, Closed>> {
    let mut batch = Batch::default();
    let polled = handle.poll_pop(&mut Context::from_waker(waker), &mut batch, 10);
    polled.map_ok(|()| batch.deltas.iter().filter_map(|it| it.key().copied()).collect())
}

fn poll_ready(handle: &mut Queue, waker: &Waker) -> Poll<Result<(), Closed>> {
    handle.poll_ready(&mut Context::from_waker(waker))
}

#[test]
fn a_push_wakes_the_consumer_once() {
    let (mut source, consumer) = queue();
    let (count, waker) = Count::new();
    assert!(poll_pop(&consumer, &waker).is_pending());
    assert!(poll_pop(&consumer, &waker).is_pending());
    source.push(delta(1));
    source.push(delta(2));
    assert_eq!(count.n(), 1);
    assert_eq!(poll_pop(&consumer, &waker), Poll::Ready(Ok(vec![1])));
    assert_eq!(poll_pop(&consumer, &waker), Poll::Ready(Ok(vec![2])));
    assert!(poll_pop(&consumer, &waker).is_pending());
}

#[test]
fn the_latest_waker_of_the_consumer_is_woken() {
    let (mut source, consumer) = queue();
    let ((old, old_waker), (new, new_waker)) = (Count::new(), Count::new());
    assert!(poll_pop(&consumer, &old_waker).is_pending());
    assert!(poll_pop(&consumer, &new_waker).is_pending());
    source.push(delta(1));
    assert_eq!((old.n(), new.n()), (0, 1));
}

#[test]
fn a_full_queue_holds_the_source_until_a_pop() {
    let (mut source, consumer) = queue();
    let (count, waker) = Count::new();
    assert_eq!(poll_ready(&mut source, &waker), Poll::Ready(Ok(())));
    source.push(delta(1));
    source.push(delta(2));
    assert!(poll_ready(&mut source, &waker).is_pending());
    // What was begun is finished.
    source.push(delta(3));
    assert_eq!(consumer.len(), 3);
    assert_eq!(count.n(), 0);
    assert_eq!(poll_pop(&consumer, Waker::noop()), Poll::Ready(Ok(vec![1])));
    assert_eq!(count.n(), 1);
    assert!(poll_ready(&mut source, &waker).is_pending());
    assert_eq!(poll_pop(&consumer, Waker::noop()), Poll::Ready(Ok(vec![2])));
    assert_eq!(count.n(), 2);
    assert_eq!(poll_ready(&mut source, &waker), Poll::Ready(Ok(())));
}

#[test]
fn a_close_wakes_both_ends_and_what_waits_is_still_handed_out() {
    let (mut source, consumer) = queue();
    let ((consuming, consumer_waker), (producing, producer_waker), (closing, closing_waker)) =
        (Count::new(), Count::new(), Count::new());
    assert!(poll_pop(&consumer, &consumer_waker).is_pending());
    source.push(delta(1));
    source.push(delta(2));
    assert!(poll_ready(&mut source, &producer_waker).is_pending());
    assert!(
        source
            .poll_closed(&mut Context::from_waker(&closing_waker))
            .is_pending()
    );
    consumer.close();
    assert_eq!((consuming.n(), producing.n(), closing.n()), (1, 1, 1));
    assert!(source.is_closed());
    assert_eq!(poll_ready(&mut source, &producer_waker), Poll::Ready(Err(Closed)));
    assert!(
        source
            .poll_closed(&mut Context::from_waker(&closing_waker))
            .is_ready()
    );
    source.push(delta(3));
    assert_eq!(poll_pop(&consumer, &consumer_waker), Poll::Ready(Ok(vec![1])));
    assert_eq!(poll_pop(&consumer, &consumer_waker), Poll::Ready(Ok(vec![2])));
    assert_eq!(poll_pop(&consumer, &consumer_waker), Poll::Ready(Err(Closed)));
}

#[test]
fn a_close_wakes_a_consumer_that_waits_for_nothing() {
    let (source, consumer) = queue();
    let (count, waker) = Count::new();
    assert!(poll_pop(&consumer, &waker).is_pending());
    source.close();
    assert_eq!(count.n(), 1);
    assert_eq!(poll_pop(&consumer, &waker), Poll::Ready(Err(Closed)));
}

#[test]
fn what_failed_wakes_the_consumer_again() {
    let (mut source, consumer) = queue();
    let (count, waker) = Count::new();
    source.push(delta(1));
    let mut batch = Batch::default();
    consumer.pop_blocking(&mut batch, 10).unwrap();
    assert!(!consumer.has_synced());
    assert!(poll_pop(&consumer, &waker).is_pending());
    consumer.settle(batch.deltas);
    assert_eq!(count.n(), 1);
    assert_eq!(poll_pop(&consumer, &waker), Poll::Ready(Ok(vec![1])));
    consumer.settle(Vec::new());
    assert!(consumer.has_synced() && consumer.is_empty());
    assert!(consumer.inspect(DeltaQueue::has_synced));
}

#[test]
fn a_blocking_pop_waits_for_a_push_and_ends_with_a_close() {
    let (mut source, consumer) = queue();
    let (sender, popped) = mpsc::channel();
    let thread = thread::spawn(move || {
        loop {
            let mut batch = Batch::default();
            let result = consumer.pop_blocking(&mut batch, 10);
            sender
                .send(result.map(|()| *batch.deltas[0].key().unwrap()))
                .unwrap();
            if result.is_err() {
                return;
            }
            consumer.settle(Vec::new());
        }
    });
    for key in 1..100 {
        source.push(delta(key));
        assert_eq!(popped.recv().unwrap(), Ok(key));
    }
    source.close();
    assert_eq!(popped.recv().unwrap(), Err(Closed));
    thread.join().unwrap();
}

#[test]
fn many_pushes_and_blocking_pops_lose_nothing() {
    let (mut source, consumer) = queue();
    let thread = thread::spawn(move || {
        let mut sum = 0_u64;
        let mut batch = Batch::default();
        while consumer.pop_blocking(&mut batch, 10).is_ok() {
            sum += batch
                .deltas
                .drain(..)
                .map(|it| u64::from(*it.key().unwrap()))
                .sum::<u64>();
            consumer.settle(Vec::new());
        }
        sum
    });
    let expected: u64 = (0..20_000_u64).map(|n| n % 251).sum();
    for n in 0..20_000_u64 {
        source.push(delta((n % 251) as u8));
    }
    source.close();
    assert_eq!(thread.join().unwrap(), expected);
}

#[test]
fn a_dropped_pop_loses_nothing() {
    let (mut source, consumer) = queue();
    let mut batch = Batch::default();
    {
        let mut pop = std::pin::pin!(consumer.pop(&mut batch, 10));
        assert!(
            pop.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        source.push(delta(1));
    }
    assert!(batch.is_empty());
    assert_eq!(poll_pop(&consumer, Waker::noop()), Poll::Ready(Ok(vec![1])));
}

#[test]
fn known_is_the_queues_answer() {
    let (source, _) = queue();
    assert!(source.known(&7, &Stamp::default()).is_some());
    assert!(source.known(&8, &Stamp::default()).is_none());
}
