//! What was chosen for a controller, and what was left to the defaults.

use std::time::Duration;

use crate::{Late, shared::Options};

/// What is chosen in the same words for one controller and for all of a program: the setters of a type with `settings` and
/// `on_source_error`.
macro_rules! choices {
    () => {
        /// How many requests are reconciled at the same time (controller-runtime `MaxConcurrentReconciles`); 1 by default.
        #[must_use]
        pub fn concurrency(mut self, n: usize) -> Self {
            self.settings.concurrency = Some(n);
            self
        }

        /// Whether the default queue knows priorities (`UsePriorityQueue`); it does by default. If not, requests come in the order in which
        /// they were added, and those that fail wait as client-go has it: as before, and all together no more than ten a second after the
        /// first hundred.
        #[must_use]
        pub fn priorities(mut self, priorities: bool) -> Self {
            self.settings.priorities = Some(priorities);
            self
        }

        /// A reconcile that takes longer is dropped and counts as failed (`ReconciliationTimeout`); none by default.
        #[must_use]
        pub fn timeout(mut self, timeout: impl Into<Option<std::time::Duration>>) -> Self {
            self.settings.timeout = Some(timeout.into());
            self
        }

        /// How long sources may take until they are in sync, `None` for as long as they like (`CacheSyncTimeout`); two minutes by default.
        /// What happens then, [`late`](Self::late) says.
        #[must_use]
        pub fn sync_timeout(mut self, timeout: impl Into<Option<std::time::Duration>>) -> Self {
            self.settings.sync_timeout = Some(timeout.into());
            self
        }

        /// What happens when sources are not in sync in time, or say that they never will be. [`Late::Fail`](crate::Late::Fail): the
        /// controller ends with an error that names them, and says why, where they know. [`Late::GoOn`](crate::Late::GoOn): it names them
        /// in the log, in its status and to [`on_source_error`](Self::on_source_error), waits on, and begins when they are in sync or
        /// [dropped](crate::Controller::unwatch).
        ///
        /// By default a controller that is [run](crate::Controller::run) alone fails, and one that runs [among
        /// others](crate::Controller::run_among), as those of a manager do, goes on.
        #[must_use]
        pub fn late(mut self, late: crate::Late) -> Self {
            self.settings.late = Some(late);
            self
        }

        /// Who is told when something is wrong with a source and the controller goes on. The status and the log say it, too. Must be quick.
        #[must_use]
        pub fn on_source_error(mut self, hook: impl Fn(&crate::SourceError) + Send + Sync + 'static) -> Self {
            self.on_source_error = Some(std::sync::Arc::new(hook));
            self
        }

        /// How long reconciles that run may go on after a stop; 30 seconds by default. Then they are dropped where they await.
        #[must_use]
        pub fn grace(mut self, grace: std::time::Duration) -> Self {
            self.settings.grace = Some(grace);
            self
        }

        /// Whether a panic of the reconciler is a failure of its request (`RecoverPanic`); it is by default. If not, it ends the
        /// controller: the future of [`run`](crate::Controller::run) panics.
        #[must_use]
        pub fn recover_panics(mut self, recover: bool) -> Self {
            self.settings.recover_panics = Some(recover);
            self
        }

        /// Whether it reconciles on the leader only (`NeedLeaderElection`), where one is elected
        /// ([`run_when`](crate::Controller::run_when)); it does by default.
        #[must_use]
        pub fn needs_leader_election(mut self, needs: bool) -> Self {
            self.settings.needs_leader_election = Some(needs);
            self
        }

        /// Whether its sources start before it leads (`EnableWarmup`), so that it takes over with caches that are full and a queue that
        /// knows what is to do; not by default.
        #[must_use]
        pub fn warm_up(mut self, warm_up: bool) -> Self {
            self.settings.warm_up = Some(warm_up);
            self
        }
    };
}

pub(super) use choices;

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
