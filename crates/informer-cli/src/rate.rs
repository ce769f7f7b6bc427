//! Events per second, over the last few seconds.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Over how long the rate is taken.
const WINDOW: Duration = Duration::from_secs(5);

/// Readings of a count that only grows, and the rate at which it grew lately.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    readings: VecDeque<(Instant, u64)>,
}

impl Rate {
    /// Takes a reading and returns the rate per second over the window that it ends.
    pub(crate) fn read(&mut self, now: Instant, count: u64) -> f64 {
        self.readings.push_back((now, count));
        while self.readings.len() > 2 && now.duration_since(self.readings[1].0) >= WINDOW {
            self.readings.pop_front();
        }
        let (since, before) = self.readings[0];
        let seconds = now.duration_since(since).as_secs_f64();
        if seconds > 0.0 {
            count.saturating_sub(before) as f64 / seconds
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_what_is_older_than_the_window() {
        #[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut rate = Rate::default();
        assert_eq!(rate.read(at(0), 1_000), 0.0, "one reading says nothing");
        assert_eq!(rate.read(at(1), 1_010), 10.0);
        for second in 2..=20 {
            rate.read(at(second), 1_010);
        }
        assert_eq!(rate.read(at(21), 1_010), 0.0);
        assert!(
            rate.readings.len() <= 7,
            "{} readings are kept",
            rate.readings.len()
        );
    }
}
