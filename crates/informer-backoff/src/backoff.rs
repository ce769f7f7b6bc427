//! The backoff itself.

use std::time::{Duration, Instant};

use crate::random::fraction;

/// Longer waits than this have no use, and shorter ones cannot overflow what is computed from them.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// How delays grow. The default is client-go's reflector: 800 ms, doubling to 30 s, jitter 1.0.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The first delay, before jitter.
    pub initial: Duration,
    /// Each delay is the one before times this; anything below 1 (or no number) counts as 1.
    pub factor: f64,
    /// Up to this many times the delay is added to it by chance; anything below 0 (or no number) counts as 0.
    pub jitter: f64,
    /// No delay is longer than this before jitter.
    pub cap: Duration,
    /// After this much health the next delay is `initial` again.
    pub healthy_for: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            initial: Duration::from_millis(800),
            factor: 2.0,
            jitter: 1.0,
            cap: Duration::from_secs(30),
            healthy_for: Duration::from_secs(120),
        }
    }
}

/// How long to wait before the next attempt. See the crate documentation for the contract.
#[derive(Debug, Clone)]
pub struct Backoff {
    options: Options,
    /// The next delay, before jitter.
    base: Duration,
    /// Delays handed out since the last reset.
    attempts: u32,
    /// Since when all is well, as far as was told.
    healthy_since: Option<Instant>,
}

impl Backoff {
    /// A backoff that has seen no failure.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let base = options.initial.min(options.cap).min(LONGEST);
        Self {
            options,
            base,
            attempts: 0,
            healthy_since: None,
        }
    }

    /// All is well from `now` on, or still is. Only the first call after a failure counts.
    pub fn on_healthy(&mut self, now: Instant) {
        self.healthy_since.get_or_insert(now);
    }

    /// Something failed: the health ends, and if it lasted long enough the delays start over.
    pub fn on_failure(&mut self, now: Instant) {
        let healthy = self.healthy_since.take();
        if healthy.is_some_and(|since| now.saturating_duration_since(since) >= self.options.healthy_for) {
            self.reset();
        }
    }

    /// Counts a failure and says how long to wait before the next attempt. `random` is any number, uniform over all of `u64`.
    pub fn next(&mut self, now: Instant, random: u64) -> Duration {
        self.on_failure(now);
        let delay = self.base;
        let factor = at_least(self.options.factor, 1.0);
        let cap = self.options.cap.min(LONGEST);
        self.base = times(delay, factor).min(cap);
        self.attempts = self.attempts.saturating_add(1);
        delay.saturating_add(times(
            delay,
            at_least(self.options.jitter, 0.0) * fraction(random),
        ))
    }

    /// Delays handed out since it last started over.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Starts over, whatever happened.
    pub fn reset(&mut self) {
        self.base = self.options.initial.min(self.options.cap).min(LONGEST);
        self.attempts = 0;
    }
}

/// `value`, or `least` where it is smaller or no number.
fn at_least(value: f64, least: f64) -> f64 {
    if value > least { value } else { least }
}

fn times(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor)
        .unwrap_or(LONGEST)
        .min(LONGEST)
}
