//! `HealthAdaptor`: a health check that knows of the election.

use std::{sync::OnceLock, time::Duration};

use crate::{Leadership, NotRenewed};

/// A health check for a program that may be the leader (client-go `HealthzAdaptor`). Healthy until it is given an election.
#[derive(Debug)]
pub struct HealthAdaptor {
    leadership: OnceLock<Leadership>,
    tolerance: Duration,
}

impl HealthAdaptor {
    /// The name of the check.
    pub const NAME: &'static str = "leaderElection";

    /// A check that fails when the lease has been over for longer than this and the process still holds itself for the leader.
    #[must_use]
    pub fn new(tolerance: Duration) -> Self {
        Self {
            leadership: OnceLock::new(),
            tolerance,
        }
    }

    /// Gives it the election to look at. The first one stays.
    pub fn set(&self, leadership: Leadership) {
        let _kept = self.leadership.set(leadership);
    }

    /// Checks.
    ///
    /// # Errors
    /// When the elector of a leader is stuck.
    pub fn check(&self) -> Result<(), NotRenewed> {
        self.leadership
            .get()
            .map_or(Ok(()), |leadership| leadership.check(self.tolerance))
    }
}
