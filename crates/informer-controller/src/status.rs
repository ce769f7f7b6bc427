//! How a controller is.

use std::{fmt, sync::Arc};

/// Where a controller is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Phase {
    /// Not run yet.
    #[default]
    Idle,
    /// It waits for its sources.
    Syncing,
    /// It waits to lead; warmed up, its sources are in sync already.
    Standby,
    /// It reconciles.
    Running,
    /// It was stopped, and reconciles that run may finish.
    Draining,
    /// It has ended.
    Ended,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "idle",
            Self::Syncing => "syncing",
            Self::Standby => "standby",
            Self::Running => "running",
            Self::Draining => "draining",
            Self::Ended => "ended",
        })
    }
}

/// How reconciles ended, so far (the results of `controller_runtime_reconcile_total` and the counters beside it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// With [`Action::Done`](crate::Action::Done).
    pub succeeded: u64,
    /// With [`Action::RequeueAfter`](crate::Action::RequeueAfter).
    pub requeued: u64,
    /// With an error of any kind, those below among them.
    pub failed: u64,
    /// With an error that is not tried again.
    pub terminal: u64,
    /// With a panic.
    pub panicked: u64,
    /// By the controller's timeout.
    pub timed_out: u64,
}

/// How a controller is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is in its life.
    pub phase: Phase,
    /// The sources that are not in sync, while it waits for them.
    pub waiting_for: Vec<Arc<str>>,
    /// It waits for them longer than its sync timeout allows; see [`Builder::late`](crate::Builder::late).
    pub overdue: bool,
    /// Everything that it watches, in the order in which it was added; nothing once it has ended.
    pub sources: Vec<SourceStatus>,
    /// Requests that wait for a worker.
    pub queued: usize,
    /// Reconciles that run.
    pub running: usize,
    /// How reconciles ended.
    pub counts: Counts,
}

impl Status {
    /// Whether it does what it is for: it reconciles, or stands by. For a readiness check.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Standby | Phase::Running)
    }
}

/// Names a source among those of its controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub(crate) u64);

impl fmt::Display for WatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How a source of a controller is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceStatus {
    /// Names it among the controller's.
    pub id: WatchId,
    /// What it is called.
    pub name: Arc<str>,
    /// Its initial requests are in the queue.
    pub synced: bool,
    /// Nothing waits for it.
    pub optional: bool,
    /// What keeps it from its work, where it knows: a kind that is not served, an informer that may not list, a mapping that fails.
    pub trouble: Option<Arc<str>>,
}
