//! So many in a second, all items together.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use ahash::AHashMap;

use crate::{Item, RateLimiter};

/// A token bucket for all items together (client-go `TypedBucketRateLimiter` over `golang.org/x/time/rate`): each retry takes a token
/// and waits until there is one.
///
/// An item that waits for its token already waits for that one when it is added again. Upstream takes another token for each duplicate,
/// although they collapse into one item, and the delay runs away (controller-runtime issue 1594).
#[derive(Debug)]
pub struct Bucket<T> {
    per_second: f64,
    burst: u32,
    /// Below zero: so many are promised.
    tokens: f64,
    /// The time of which `tokens` speaks.
    last: Option<Instant>,
    /// When the token of an item that waits for one is there.
    promised: AHashMap<T, Instant>,
    /// The same in order of time, which is the order of the promises.
    promises: VecDeque<(Instant, T)>,
}

impl<T> Bucket<T> {
    /// A full bucket of `burst` tokens that fills at `per_second`. Not more than zero a second never fills; infinity never waits.
    #[must_use]
    pub fn new(per_second: f64, burst: u32) -> Self {
        Self {
            per_second,
            burst,
            tokens: f64::from(burst),
            last: None,
            promised: AHashMap::new(),
            promises: VecDeque::new(),
        }
    }

    /// Takes a token and says how long until it is there (`rate.Limiter.Reserve`).
    fn reserve(&mut self, now: Instant) -> Duration {
        if self.per_second == f64::INFINITY {
            return Duration::ZERO;
        }
        if self.burst == 0 {
            return FOREVER;
        }
        let elapsed = self
            .last
            .map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        self.last = Some(now);
        let filled = self.tokens + elapsed.as_secs_f64() * self.per_second.max(0.0);
        self.tokens = filled.min(f64::from(self.burst)) - 1.0;
        if self.tokens < 0.0 {
            wait(-self.tokens / self.per_second.max(0.0))
        } else {
            Duration::ZERO
        }
    }

    /// Drops the promises that have come true.
    fn settle(&mut self, now: Instant)
    where
        T: Item,
    {
        while self.promises.front().is_some_and(|(at, _)| *at <= now) {
            if let Some((at, item)) = self.promises.pop_front()
                && self.promised.get(&item) == Some(&at)
            {
                self.promised.remove(&item);
            }
        }
    }
}

impl<T: Item> RateLimiter<T> for Bucket<T> {
    fn delay(&mut self, now: Instant, item: &T) -> Duration {
        self.settle(now);
        if let Some(at) = self.promised.get(item) {
            return at.saturating_duration_since(now);
        }
        let delay = self.reserve(now);
        if !delay.is_zero()
            && let Some(at) = now.checked_add(delay)
        {
            self.promised.insert(item.clone(), at);
            self.promises.push_back((at, item.clone()));
        }
        delay
    }

    fn forget(&mut self, _: &T) {}

    fn failures(&self, _: &T) -> u32 {
        0
    }
}

/// The longest delay there is upstream (`rate.InfDuration`).
const FOREVER: Duration = Duration::from_nanos(i64::MAX as u64);

fn wait(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).map_or(FOREVER, |wait| wait.min(FOREVER))
}
