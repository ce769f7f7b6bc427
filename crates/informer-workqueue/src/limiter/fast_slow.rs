//! A few quick retries, then slow ones.

use std::time::{Duration, Instant};

use ahash::AHashMap;

use super::exponential::count;
use crate::{Item, RateLimiter};

/// A short delay for the first failures of an item, a long one for all later ones (client-go `TypedItemFastSlowRateLimiter`).
///
/// It remembers every item that failed until it is forgotten.
#[derive(Debug)]
pub struct FastSlow<T> {
    fast: Duration,
    slow: Duration,
    max_fast: u32,
    failures: AHashMap<T, u32>,
}

impl<T> FastSlow<T> {
    /// `fast` for the first `max_fast` failures, then `slow`.
    #[must_use]
    pub fn new(fast: Duration, slow: Duration, max_fast: u32) -> Self {
        Self {
            fast,
            slow,
            max_fast,
            failures: AHashMap::new(),
        }
    }
}

impl<T: Item> RateLimiter<T> for FastSlow<T> {
    fn delay(&mut self, _: Instant, item: &T) -> Duration {
        if count(&mut self.failures, item) < self.max_fast {
            self.fast
        } else {
            self.slow
        }
    }

    fn forget(&mut self, item: &T) {
        self.failures.remove(item);
    }

    fn failures(&self, item: &T) -> u32 {
        self.failures.get(item).copied().unwrap_or(0)
    }
}
