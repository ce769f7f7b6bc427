//! `Stats`: what became of all events, as numbers.

use crate::Fate;

/// What happened since the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Events that were put in line, alone or as one more of a series.
    pub queued: u64,
    /// Events that were counted only.
    pub counted: u64,
    /// Events that were combined with others, of all of these.
    pub combined: u64,
    /// Events that the spam filter dropped.
    pub spam: u64,
    /// Events that were dropped since too many waited.
    pub queue_full: u64,
    /// Events that came after the end.
    pub stopped: u64,
    /// Events that no server would take.
    pub invalid: u64,
    /// Writes that the server has.
    pub written: u64,
    /// Tries that were followed by another.
    pub retried: u64,
    /// Writes that the server would not have.
    pub rejected: u64,
    /// Writes that were given up after too many tries.
    pub exhausted: u64,
}

impl Stats {
    /// Events that were recorded, whatever became of them.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        self.queued + self.counted + self.dropped()
    }

    /// Events that were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.spam + self.queue_full + self.stopped + self.invalid
    }

    pub(crate) fn count(&mut self, fate: Fate) {
        let count = match fate {
            Fate::Queued => &mut self.queued,
            Fate::Counted => &mut self.counted,
            Fate::Spam => &mut self.spam,
            Fate::QueueFull => &mut self.queue_full,
            Fate::Stopped => &mut self.stopped,
            Fate::Invalid => &mut self.invalid,
        };
        *count += 1;
    }
}
