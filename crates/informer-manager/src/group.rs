//! The groups in which runnables start and stop.

use std::fmt;

/// When a runnable starts and stops, among the others of a manager (controller-runtime's runnable groups).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Group {
    /// Recorders of events: first of all to start, last to stop, since whatever stops before may still have something to say.
    Recorders,
    /// Servers of health, metrics and the like.
    Servers,
    /// Servers that the API server calls: they must serve before a cache lists what they convert.
    Webhooks,
    /// Caches. Those who read them start when they are in sync, or known not to be.
    Caches,
    /// What runs on every replica.
    Others,
    /// What prepares on every replica, and works when this one leads: see [`Life::leading`](crate::Life::leading). Nothing waits for it.
    WarmUp,
    /// What runs on the replica that leads.
    LeaderElection,
}

impl Group {
    /// In this order groups start. The last one starts when this replica leads.
    pub const START: [Self; 7] = [
        Self::Recorders,
        Self::Servers,
        Self::Webhooks,
        Self::Caches,
        Self::Others,
        Self::WarmUp,
        Self::LeaderElection,
    ];

    /// Whether it works on the leader alone.
    #[must_use]
    pub fn leads(self) -> bool {
        matches!(self, Self::WarmUp | Self::LeaderElection)
    }

    /// Whether the groups after it wait until it is ready.
    #[must_use]
    pub fn holds_up(self) -> bool {
        !self.leads()
    }

    /// A word for logs and the status.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recorders => "recorders",
            Self::Servers => "servers",
            Self::Webhooks => "webhooks",
            Self::Caches => "caches",
            Self::Others => "others",
            Self::WarmUp => "warm-up",
            Self::LeaderElection => "leader-election",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
