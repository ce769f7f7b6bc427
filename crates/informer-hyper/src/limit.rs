//! A limit on how fast requests are sent: a token bucket, pure.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Fills at a steady rate up to its size; each request takes one out, and one that finds none waits until its own has come in
/// (client-go `util/flowcontrol/throttle.go`, `NewTokenBucketRateLimiter`).
#[derive(Debug)]
pub(crate) struct Bucket {
    per_second: f64,
    size: f64,
    /// Below zero while requests wait.
    tokens: f64,
    at: Option<Instant>,
}

impl Bucket {
    /// A full one. `None` when the numbers are of no use.
    pub(crate) fn new(per_second: f32, size: u32) -> Option<Self> {
        let is_good = per_second.is_finite() && per_second > 0.0 && size > 0;
        is_good.then(|| Self {
            per_second: per_second.into(),
            size: size.into(),
            tokens: size.into(),
            at: None,
        })
    }

    /// Takes a token, and says for how long its owner has to wait.
    pub(crate) fn take(&mut self, now: Instant) -> Duration {
        let passed = self
            .at
            .map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        self.at = Some(self.at.map_or(now, |at| at.max(now)));
        self.tokens = (self.tokens + passed.as_secs_f64() * self.per_second).min(self.size) - 1.0;
        if self.tokens >= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(-self.tokens / self.per_second).unwrap_or(Duration::MAX)
    }

    /// Puts back a token that was not used.
    pub(crate) fn give_back(&mut self) {
        self.tokens = (self.tokens + 1.0).min(self.size);
    }
}

/// Gives its token back when whoever waits for it stops waiting.
#[derive(Debug)]
pub(crate) struct Turn<'a>(Option<&'a Mutex<Bucket>>);

impl<'a> Turn<'a> {
    /// Takes a token, and says for how long its owner has to wait.
    pub(crate) fn take(bucket: &'a Mutex<Bucket>, now: Instant) -> (Self, Duration) {
        let wait = lock(bucket).take(now);
        (Self(Some(bucket)), wait)
    }

    /// The token is used.
    pub(crate) fn used(mut self) {
        self.0 = None;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(bucket) = self.0 {
            lock(bucket).give_back();
        }
    }
}

fn lock(bucket: &Mutex<Bucket>) -> std::sync::MutexGuard<'_, Bucket> {
    bucket.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::Mutex,
        time::{Duration, Instant},
    };

    use super::{Bucket, Turn};

    #[expect(
        clippy::disallowed_methods,
        reason = "an `Instant` can only be had from the clock; this one then stands still"
    )]
    fn start() -> Instant {
        Instant::now()
    }

    #[test]
    fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        let now = start();
        let mut bucket = Bucket::new(10.0, 3).expect("good numbers");
        let waits: Vec<_> = (0..5).map(|_| bucket.take(now).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100, 200]);
        // The two that wait have gone, and one more token has come.
        assert_eq!(bucket.take(now + Duration::from_millis(300)), Duration::ZERO);
        // It never holds more than its size.
        let later = now + Duration::from_secs(1000);
        let waits: Vec<_> = (0..4).map(|_| bucket.take(later).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100]);
    }

    #[test]
    fn who_stops_waiting_gives_the_turn_back() {
        let now = start();
        let bucket = Mutex::new(Bucket::new(1.0, 1).expect("good numbers"));
        let (turn, wait) = Turn::take(&bucket, now);
        assert_eq!(wait, Duration::ZERO);
        turn.used();
        let (turn, wait) = Turn::take(&bucket, now);
        assert_eq!(wait, Duration::from_secs(1));
        drop(turn);
        let (_turn, wait) = Turn::take(&bucket, now);
        assert_eq!(wait, Duration::from_secs(1), "not two");
    }

    #[test]
    fn numbers_of_no_use_are_refused() {
        for (per_second, size) in [(0.0, 1), (-1.0, 1), (f32::NAN, 1), (f32::INFINITY, 1), (1.0, 0)] {
            assert!(Bucket::new(per_second, size).is_none(), "{per_second} {size}");
        }
    }
}
