//! Twice as long after each failure.

use std::time::{Duration, Instant};

use ahash::AHashMap;

use crate::{Item, RateLimiter};

/// The base delay after the first failure of an item, twice as long after each further one, up to a maximum (client-go
/// `TypedItemExponentialFailureRateLimiter`). The default is 5 ms up to 1000 s.
///
/// It remembers every item that failed until it is forgotten.
#[derive(Debug)]
pub struct ItemExponential<T> {
    base: Duration,
    max: Duration,
    failures: AHashMap<T, u32>,
}

impl<T> ItemExponential<T> {
    /// With these limits.
    #[must_use]
    pub fn new(base: Duration, max: Duration) -> Self {
        Self {
            base,
            max,
            failures: AHashMap::new(),
        }
    }
}

impl<T> Default for ItemExponential<T> {
    fn default() -> Self {
        Self::new(Duration::from_millis(5), Duration::from_secs(1000))
    }
}

impl<T: Item> RateLimiter<T> for ItemExponential<T> {
    fn delay(&mut self, _: Instant, item: &T) -> Duration {
        let before = count(&mut self.failures, item);
        if self.base.is_zero() {
            return self.base;
        }
        2u128
            .checked_pow(before)
            .and_then(|factor| self.base.as_nanos().checked_mul(factor))
            .and_then(|nanos| u64::try_from(nanos).ok())
            .map_or(self.max, |nanos| Duration::from_nanos(nanos).min(self.max))
    }

    fn forget(&mut self, item: &T) {
        self.failures.remove(item);
    }

    fn failures(&self, item: &T) -> u32 {
        self.failures.get(item).copied().unwrap_or(0)
    }
}

/// Counts one more failure and returns how many there were before.
pub(super) fn count<T: Item>(failures: &mut AHashMap<T, u32>, item: &T) -> u32 {
    if let Some(count) = failures.get_mut(item) {
        let before = *count;
        *count = count.saturating_add(1);
        before
    } else {
        failures.insert(item.clone(), 1);
        0
    }
}
