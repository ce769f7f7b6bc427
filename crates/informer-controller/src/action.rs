//! What a reconciler is told, and what it answers.

use std::time::{Duration, Instant};

use crate::{ReconcileError, ReconcileId};

/// Which attempt at a request this is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Attempt {
    /// 1 for the first, one more after each failure in a row.
    pub number: u32,
    /// How the previous attempt failed.
    pub last_error: Option<ReconcileError>,
    /// When it is given up, where the controller has a timeout.
    pub deadline: Option<Instant>,
    /// Names this call among all of the controller's: it counts up from 1.
    pub id: u64,
    /// Names this call among those of all controllers; it is in the log lines of the call.
    pub reconcile_id: ReconcileId,
    /// The priority that the request was taken at.
    pub priority: i32,
}

impl Attempt {
    /// The attempt of this number: for calling a reconciler by hand, in tests.
    #[must_use]
    pub fn new(number: u32) -> Self {
        Self {
            number,
            last_error: None,
            deadline: None,
            id: 0,
            reconcile_id: ReconcileId::default(),
            priority: 0,
        }
    }
}

/// What happens to a request that was reconciled without an error. Its failures are forgotten, unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Action {
    /// Nothing, until something changes.
    #[default]
    Done,
    /// It comes again when the queue's limiter allows it: later each time, as after a failure, and the failures that the limiter counts
    /// are not forgotten (controller-runtime's `Requeue`, deprecated there). Better say when: [`RequeueAfter`](Self::RequeueAfter).
    Requeue {
        /// At this priority instead of the one it was taken at.
        priority: Option<i32>,
    },
    /// It comes again, even if nothing changes.
    RequeueAfter {
        /// After this time; zero is at once.
        after: Duration,
        /// At this priority instead of the one it was taken at.
        priority: Option<i32>,
    },
}

impl Action {
    /// Comes again when the limiter allows it.
    #[must_use]
    pub const fn requeue() -> Self {
        Self::Requeue { priority: None }
    }

    /// Comes again after this time.
    #[must_use]
    pub const fn requeue_after(after: Duration) -> Self {
        Self::RequeueAfter {
            after,
            priority: None,
        }
    }

    /// The same, at another priority. Changes nothing about [`Action::Done`].
    #[must_use]
    pub const fn at_priority(self, priority: i32) -> Self {
        match self {
            Self::Done => Self::Done,
            Self::Requeue { .. } => Self::Requeue {
                priority: Some(priority),
            },
            Self::RequeueAfter { after, .. } => Self::RequeueAfter {
                after,
                priority: Some(priority),
            },
        }
    }
}
