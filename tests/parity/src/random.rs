//! Chance, from a seed.

use informer_backoff::SplitMix64;

/// Choices that a seed decides.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    /// The choices of one case of a run.
    #[must_use]
    pub fn new(seed: u64, suite: &str, case: u64) -> Self {
        let parts = suite.bytes().map(u64::from).chain([case]);
        let mixed = parts.fold(seed, |mixed, part| {
            SplitMix64::new(mixed ^ part.wrapping_mul(0xff51_afd7_ed55_8ccd)).next_u64()
        });
        Self(SplitMix64::new(mixed))
    }

    /// A number below `limit`, which is not zero.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = limit as u64;
        usize::try_from(self.0.next_u64() % limit).expect("it is below a usize")
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// One of these words.
    pub fn word(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }

    /// One of these, as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, of: &[(usize, T)]) -> T {
        let sum = of.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(sum);
        for (weight, it) in of {
            if at < *weight {
                return *it;
            }
            at -= weight;
        }
        of[0].1
    }
}
