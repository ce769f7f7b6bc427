//! `Fate`: what became of an event.

/// What became of an event that was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fate {
    /// It waits to be written, alone or as one more of a series.
    Queued,
    /// It was counted; the count is written later.
    Counted,
    /// It was dropped by the spam filter.
    Spam,
    /// It was dropped since too many wait.
    QueueFull,
    /// It was dropped since nothing is written any more.
    Stopped,
    /// It was dropped since no server would take it.
    Invalid,
}

impl Fate {
    /// Whether it was dropped.
    #[must_use]
    pub const fn is_dropped(self) -> bool {
        !matches!(self, Self::Queued | Self::Counted)
    }
}
