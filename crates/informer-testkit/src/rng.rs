//! A small seeded generator: everything random in the kit comes from one, so that a seed gives the same run.

use std::ops::Range;

/// A splitmix64 generator. Not for secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of the range; its start when the range is empty.
    pub fn range(&mut self, range: Range<u64>) -> u64 {
        let width = range.end.saturating_sub(range.start);
        if width == 0 {
            return range.start;
        }
        range.start + self.bits() % width
    }

    /// An index below `n_items`; 0 when there are none.
    pub fn index(&mut self, n_items: usize) -> usize {
        usize::try_from(self.range(0..n_items as u64)).unwrap_or(0)
    }

    /// A fraction from 0 up to, not including, 1.
    pub fn fraction(&mut self) -> f64 {
        // 53 bits fit a double exactly.
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.fraction() < probability
    }

    /// A generator of its own, independent of what is drawn from this one later.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self::new(self.bits())
    }
}
