//! Limiters of limiters.

use std::{
    fmt,
    time::{Duration, Instant},
};

use crate::RateLimiter;

/// The longest delay and the most failures of several limiters, each of which is asked each time (client-go `TypedMaxOfRateLimiter`).
/// Of none: no delay.
pub struct MaxOf<T: ?Sized> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

impl<T: ?Sized> MaxOf<T> {
    /// Of none yet.
    #[must_use]
    pub fn new() -> Self {
        Self { limiters: Vec::new() }
    }

    /// And of this one.
    #[must_use]
    pub fn and(mut self, limiter: impl RateLimiter<T> + 'static) -> Self {
        self.limiters.push(Box::new(limiter));
        self
    }
}

impl<T: ?Sized> Default for MaxOf<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for MaxOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxOf")
            .field("limiters", &self.limiters.len())
            .finish()
    }
}

impl<T: ?Sized> RateLimiter<T> for MaxOf<T> {
    fn delay(&mut self, now: Instant, item: &T) -> Duration {
        let delays = self.limiters.iter_mut().map(|limiter| limiter.delay(now, item));
        delays.max().unwrap_or(Duration::ZERO)
    }

    fn forget(&mut self, item: &T) {
        self.limiters.iter_mut().for_each(|limiter| limiter.forget(item));
    }

    fn failures(&self, item: &T) -> u32 {
        let failures = self.limiters.iter().map(|limiter| limiter.failures(item));
        failures.max().unwrap_or(0)
    }
}

/// A limiter's delay, but never longer than a maximum (client-go `TypedWithMaxWaitRateLimiter`).
#[derive(Debug, Clone)]
pub struct MaxWait<L> {
    limiter: L,
    max: Duration,
}

impl<L> MaxWait<L> {
    /// `limiter`, but never longer than `max`.
    #[must_use]
    pub fn new(limiter: L, max: Duration) -> Self {
        Self { limiter, max }
    }
}

impl<T: ?Sized, L: RateLimiter<T>> RateLimiter<T> for MaxWait<L> {
    fn delay(&mut self, now: Instant, item: &T) -> Duration {
        self.limiter.delay(now, item).min(self.max)
    }

    fn forget(&mut self, item: &T) {
        self.limiter.forget(item);
    }

    fn failures(&self, item: &T) -> u32 {
        self.limiter.failures(item)
    }
}
