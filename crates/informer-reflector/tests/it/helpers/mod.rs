//! What is built from reflectors and watches: one object, a condition, a retried watch, the consistency check.

mod consistency;
mod object_watch;
mod retry_watch;
mod until;

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use crate::rig::ManualClock;

/// Polls once.
fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls, and lets a tenth of a second pass each time, for so many seconds at most.
fn wait<T>(clock: &ManualClock, seconds: u32, future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    for _ in 0..=seconds * 10 {
        if let Poll::Ready(done) = poll(future.as_mut()) {
            return Some(done);
        }
        clock.advance(Duration::from_millis(100));
    }
    None
}
