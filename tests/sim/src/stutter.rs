//! A task that is not always run when it is woken: what a busy machine does to its threads.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use informer_core::{BoxFuture, Clock};
use informer_testkit::{ManualClock, Rng};

use crate::idle::Idle;

/// A future whose polls come late now and then, and are counted.
pub(crate) struct Stutter<F> {
    inner: Pin<Box<F>>,
    clock: ManualClock,
    rng: Rng,
    /// How often in a hundred a poll comes late, and by how much at most.
    percent: u8,
    longest: Duration,
    pause: Option<BoxFuture<'static, ()>>,
    idle: Idle,
}

impl<F> fmt::Debug for Stutter<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stutter").finish_non_exhaustive()
    }
}

impl<F: Future> Stutter<F> {
    pub(crate) fn new(
        inner: F,
        clock: ManualClock,
        idle: Idle,
        rng: Rng,
        percent: u8,
        longest: Duration,
    ) -> Self {
        Self {
            inner: Box::pin(inner),
            clock,
            rng,
            percent,
            longest,
            pause: None,
            idle,
        }
    }
}

impl<F: Future> Future for Stutter<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        this.idle.burn();
        if this.pause.is_none() && this.percent > 0 && this.rng.range(0..100) < u64::from(this.percent) {
            let longest = u64::try_from(this.longest.as_micros()).unwrap_or(u64::MAX);
            let at = this.clock.now() + Duration::from_micros(this.rng.range(1..longest.max(2)));
            let clock = this.clock.clone();
            this.pause = Some(Box::pin(async move { clock.sleep_until(at).await }));
        }
        if let Some(pause) = &mut this.pause {
            if pause.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            this.pause = None;
        }
        this.inner.as_mut().poll(cx)
    }
}
