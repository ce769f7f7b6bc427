//! How long a failing item waits.

mod bucket;
mod combine;
mod exponential;
mod fast_slow;

use std::time::{Duration, Instant};

pub use bucket::Bucket;
pub use combine::{MaxOf, MaxWait};
pub use exponential::ItemExponential;
pub use fast_slow::FastSlow;

use crate::Item;

/// Says how long an item waits before it is tried again (client-go `TypedRateLimiter`).
///
/// Pure: the time is an argument and never goes backward. Called under the queue's lock.
pub trait RateLimiter<T: ?Sized>: Send {
    /// The item is to be tried again: how long it waits (`When`). Counts as a failure, where the limiter counts them.
    fn delay(&mut self, now: Instant, item: &T) -> Duration;

    /// The item succeeded or is given up (`Forget`).
    fn forget(&mut self, item: &T);

    /// How often the item failed since it was last forgotten (`NumRequeues`).
    fn failures(&self, item: &T) -> u32;
}

impl<T: ?Sized, L: RateLimiter<T> + ?Sized> RateLimiter<T> for Box<L> {
    fn delay(&mut self, now: Instant, item: &T) -> Duration {
        (**self).delay(now, item)
    }

    fn forget(&mut self, item: &T) {
        (**self).forget(item);
    }

    fn failures(&self, item: &T) -> u32 {
        (**self).failures(item)
    }
}

/// Both an exponential delay for each item, 5 ms to 1000 s, and a bucket of 100 for all together that fills at 10 a second (client-go
/// `DefaultTypedControllerRateLimiter`).
#[must_use]
pub fn default_controller_limiter<T: Item>() -> MaxOf<T> {
    MaxOf::new()
        .and(ItemExponential::default())
        .and(Bucket::new(10.0, 100))
}

/// An exponential delay for each item, 1 ms to 1000 s (client-go `DefaultTypedItemBasedRateLimiter`).
#[must_use]
pub fn default_item_limiter<T: Item>() -> ItemExponential<T> {
    ItemExponential::new(Duration::from_millis(1), Duration::from_secs(1000))
}
