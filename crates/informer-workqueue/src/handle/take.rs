//! The future of one worker that waits.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use informer_core::Clock;

use super::{Queue, waiters::Waiters};
use crate::{Item, Lease};

/// Where a worker is among those who wait.
#[derive(Debug, Default)]
pub(super) enum Seat {
    /// It has not waited yet, or no longer does.
    #[default]
    Free,
    /// It waits under this number.
    Taken(u64),
    /// It can have none: a caller of `poll_take`.
    Standing,
}

impl Seat {
    pub(super) fn wait(&mut self, waiters: &mut Waiters, waker: &Waker) {
        match self {
            Self::Free => *self = Self::Taken(waiters.seat(waker)),
            Self::Taken(number) => waiters.stay(*number, waker),
            Self::Standing => waiters.stand(waker),
        }
    }

    /// Gives it back. Whether it was on its way to look.
    pub(super) fn leave(&mut self, waiters: &mut Waiters) -> bool {
        match *self {
            Self::Free | Self::Standing => false,
            Self::Taken(number) => {
                *self = Self::Free;
                waiters.leave(number)
            }
        }
    }
}

/// The future of [`Queue::take`].
#[must_use = "futures do nothing unless polled"]
pub struct Take<'a, T: Item, C: Clock> {
    queue: &'a Queue<T, C>,
    seat: Seat,
}

impl<'a, T: Item, C: Clock> Take<'a, T, C> {
    pub(super) fn new(queue: &'a Queue<T, C>) -> Self {
        Self {
            queue,
            seat: Seat::Free,
        }
    }
}

impl<T: Item, C: Clock> Future for Take<'_, T, C> {
    type Output = Option<Lease<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.queue.poll_next(cx.waker(), &mut this.seat)
    }
}

impl<T: Item, C: Clock> Drop for Take<'_, T, C> {
    fn drop(&mut self) {
        if matches!(self.seat, Seat::Free) {
            return;
        }
        let now = self.queue.inner.clock.now();
        let mut state = self.queue.inner.lock();
        if self.seat.leave(&mut state.waiters) {
            let wakes = state.call(now);
            drop(state);
            wakes.wake();
        }
    }
}

impl<T: Item, C: Clock> fmt::Debug for Take<'_, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Take")
            .field("seat", &self.seat)
            .finish_non_exhaustive()
    }
}
