//! What was chosen for a controller, and what was left to the defaults.

use std::time::Duration;

use crate::{Late, shared::Options};

/// Choices: `None` where nobody chose.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) concurrency: Option<usize>,
    pub(super) timeout: Option<Option<Duration>>,
    pub(super) sync_timeout: Option<Option<Duration>>,
    pub(super) late: Option<Late>,
    pub(super) grace: Option<Duration>,
    pub(super) recover_panics: Option<bool>,
    pub(super) needs_leader_election: Option<bool>,
    pub(super) warm_up: Option<bool>,
    pub(super) priorities: Option<bool>,
    pub(super) skip_name_validation: Option<bool>,
}

impl Settings {
    /// These, and where nobody chose, the others.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            concurrency: self.concurrency.or(other.concurrency),
            timeout: self.timeout.or(other.timeout),
            sync_timeout: self.sync_timeout.or(other.sync_timeout),
            late: self.late.or(other.late),
            grace: self.grace.or(other.grace),
            recover_panics: self.recover_panics.or(other.recover_panics),
            needs_leader_election: self.needs_leader_election.or(other.needs_leader_election),
            warm_up: self.warm_up.or(other.warm_up),
            priorities: self.priorities.or(other.priorities),
            skip_name_validation: self.skip_name_validation.or(other.skip_name_validation),
        }
    }

    /// Those of controller-runtime where nobody chose.
    pub(super) fn options(&self) -> Options {
        Options {
            concurrency: self.concurrency.unwrap_or(1),
            timeout: self.timeout.flatten(),
            sync_timeout: self.sync_timeout.unwrap_or(Some(Duration::from_secs(120))),
            late: self.late,
            grace: self.grace.unwrap_or(Duration::from_secs(30)),
            recover_panics: self.recover_panics.unwrap_or(true),
            needs_leader_election: self.needs_leader_election.unwrap_or(true),
            warm_up: self.warm_up.unwrap_or(false),
        }
    }
}
