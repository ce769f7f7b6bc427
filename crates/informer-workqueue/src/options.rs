//! What is said with an add, at the end of work, and at shutdown.

use std::time::Duration;

/// How an item is added. The default: at once, at priority 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AddOptions {
    /// Not before this much time has passed (client-go `AddAfter`). `None` and zero are at once.
    pub after: Option<Duration>,
    /// Not before the queue's limiter allows it (client-go `AddRateLimited`). Together with `after` the smaller delay counts, as in
    /// controller-runtime's `AddWithOpts`.
    pub rate_limited: bool,
    /// Higher is handed out earlier, where the queue's order looks at it. Of several adds of one item the highest counts.
    pub priority: i32,
}

impl AddOptions {
    /// After a delay.
    #[must_use]
    pub const fn after(delay: Duration) -> Self {
        Self {
            after: Some(delay),
            rate_limited: false,
            priority: 0,
        }
    }

    /// When the limiter allows it.
    #[must_use]
    pub const fn rate_limited() -> Self {
        Self {
            after: None,
            rate_limited: true,
            priority: 0,
        }
    }

    /// The same at another priority.
    #[must_use]
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}

/// How the work on an item ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing more: what the limiter knows of the item stays (client-go `Done` alone). What dropping a lease means.
    #[default]
    Done,
    /// It succeeded, or is given up: the limiter forgets it (client-go `Forget` and `Done`).
    Forget,
    /// It failed: add it again when the limiter allows it (client-go `AddRateLimited` and `Done`).
    Retry,
    /// It succeeded for now: the limiter forgets it, and it is added again after this much time (client-go `Forget`, `AddAfter`, `Done`).
    RetryAfter(Duration),
}

/// How a queue ends. In each way adds are ignored from now on and what is delayed is dropped. A later, harder way replaces a softer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// What waits is dropped, takers are told at once, nobody waits for work in hand.
    Now,
    /// Work in hand may finish; `drained` waits for it.
    Drain {
        /// What is ready, and what was added again while in work, is handed out first, and waited for. Otherwise it is dropped.
        queued: bool,
    },
    /// What is ready is still handed out, but `drained` waits for work in hand only, not for what nobody has begun (client-go
    /// `ShutDownWithDrain`, and `ShutDown` where nobody waits).
    InHand,
}

impl Shutdown {
    /// Whether what is ready is still handed out.
    pub(crate) const fn hands_out(self) -> bool {
        matches!(self, Self::Drain { queued: true } | Self::InHand)
    }

    /// How hard it is: it can only grow.
    pub(crate) const fn hardness(self) -> u8 {
        match self {
            Self::Drain { queued: true } => 0,
            Self::InHand => 1,
            Self::Drain { queued: false } => 2,
            Self::Now => 3,
        }
    }
}
