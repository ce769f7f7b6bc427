//! How much a queue hands out at once and when it pushes back.

/// Sizes of a queue. The defaults are client-go's (`the_real_fifo.go`: a batch of 1000, back-pressure from two batches on).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// At most this many deltas in a batch, whatever the consumer asks for.
    pub batch: usize,
    /// From this many waiting deltas on the source is asked to wait. A list counts as one delta here until it is spread.
    pub high_water: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            batch: 1000,
            high_water: 2000,
        }
    }
}

impl Options {
    /// At most `batch` deltas at once, and back-pressure from `high_water` on. Zero counts as one.
    #[must_use]
    pub fn new(batch: usize, high_water: usize) -> Self {
        Self {
            batch: batch.max(1),
            high_water: high_water.max(1),
        }
    }
}
