//! What can be chosen about recording.

use std::time::Duration;

/// What makes several events one on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Grouping {
    /// Events of one source about one object with one kind, reason, action and related object are a series, whatever their notes say: the
    /// first two are written, the rest is counted and written now and then (client-go `tools/events`).
    #[default]
    Series,
    /// Events of different notes are different; each repetition is written as one more, within the limits of the spam filter (client-go
    /// `tools/record`).
    Notes,
}

/// Options of a recorder. The defaults are client-go's, but for [`in_flight`](Self::in_flight), which it does not bound, and
/// [`write_timeout`](Self::write_timeout) and [`drain_for`](Self::drain_for), which it lacks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// What makes several events one.
    pub grouping: Grouping,
    /// A series is over when it did not go on for so long; its last count is then written.
    pub finish_after: Duration,
    /// The count of a series that goes on is written so often.
    pub refresh_every: Duration,
    /// So many different events for one reason about one object are combined into one, from this one on.
    pub combine_at: usize,
    /// They count as one group as long as none of their pauses is longer than this.
    pub combine_within: Duration,
    /// So many writes of one source about one object, in one kind of event, pass the spam filter at once. Zero: none at all.
    pub burst: u32,
    /// One more passes after each of these. Zero: all pass.
    pub refill_every: Duration,
    /// So many series, groups and sources with their objects are remembered, each.
    pub memory: usize,
    /// So many events may wait to be written; further new ones are dropped.
    pub queue: usize,
    /// So many writes at once. Zero counts as one.
    pub in_flight: usize,
    /// A write is tried so often.
    pub max_tries: u32,
    /// So long after a try follows the next.
    pub retry_delay: Duration,
    /// Up to this many times the delay is added to it by chance.
    pub retry_jitter: f64,
    /// A try that got no answer in so long counts as failed.
    pub write_timeout: Duration,
    /// So long may it take to write what is left after the stop.
    pub drain_for: Duration,
    /// Where chance begins, for delays and names. `None`: drawn anew by each broadcaster.
    pub seed: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grouping: Grouping::default(),
            finish_after: Duration::from_secs(6 * 60),
            refresh_every: Duration::from_secs(30 * 60),
            combine_at: 10,
            combine_within: Duration::from_secs(600),
            burst: 25,
            refill_every: Duration::from_secs(300),
            memory: 4096,
            queue: 1000,
            in_flight: 4,
            max_tries: 12,
            retry_delay: Duration::from_secs(10),
            retry_jitter: 0.25,
            write_timeout: Duration::from_secs(30),
            drain_for: Duration::from_secs(10),
            seed: None,
        }
    }
}
