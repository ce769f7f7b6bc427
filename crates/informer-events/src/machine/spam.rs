//! The spam filter: a token bucket per source and object.

use std::time::{Duration, Instant};

use super::{Key, lru::Lru};

/// Lets through so many events of a source about an object at once, and one more per interval (client-go
/// `record.EventSourceObjectSpamFilter`).
///
/// A token is counted as the time that it took to come, in whole nanoseconds: exact where upstream's fractions round.
#[derive(Debug, Clone)]
pub(super) struct SpamFilter {
    burst: u32,
    interval: Duration,
    buckets: Lru<Bucket>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// What there was at `at`, at most `burst` intervals.
    credit: Duration,
    at: Instant,
}

impl SpamFilter {
    pub(super) fn new(burst: u32, interval: Duration, capacity: usize) -> Self {
        Self {
            burst,
            interval,
            buckets: Lru::new(capacity),
        }
    }

    /// Whether one more is let through, which then counts.
    pub(super) fn allows(&mut self, now: Instant, key: Key) -> bool {
        let full = self.interval.saturating_mul(self.burst);
        let mut bucket = self.buckets.get_mut(&key).copied().unwrap_or(Bucket {
            credit: full,
            at: now,
        });
        let credit = bucket
            .credit
            .saturating_add(now.saturating_duration_since(bucket.at))
            .min(full);
        let allowed = self.burst > 0 && credit >= self.interval;
        bucket.credit = if allowed { credit - self.interval } else { credit };
        bucket.at = bucket.at.max(now);
        self.buckets.insert(key, bucket);
        allowed
    }
}
