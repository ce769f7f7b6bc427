//! A small seeded generator for pure machines.

use std::time::Duration;

/// The splitmix64 generator: the same seed gives the same numbers, everywhere.
///
/// For jitter and spread, not for secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator that starts from `seed`. Any seed is good.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number, uniform over all of `u64`.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number as a fraction in `[0, 1)`.
    pub fn next_fraction(&mut self) -> f64 {
        fraction(self.next_u64())
    }

    /// A duration in `[shortest, longest)`, or `shortest` where that range is empty.
    pub fn next_between(&mut self, shortest: Duration, longest: Duration) -> Duration {
        let spread = longest.saturating_sub(shortest);
        shortest.saturating_add(spread.mul_f64(self.next_fraction()).min(spread))
    }
}

/// The upper 53 bits as a fraction in `[0, 1)`.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit the mantissa")]
pub(crate) fn fraction(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}
