//! What may be chosen for a controller.

use std::{sync::Arc, time::Duration};

use informer_core::{BoxClock, Clock};
use informer_workqueue::{Metrics, RateLimiter, WorkQueue};

use super::{Builder, Defaults};
use crate::{Late, ReconcileMetrics, ReconcileMetricsProvider, Request, SourceError};

impl<R: Request> Builder<R> {
    /// What holds where this builder says nothing, whatever the order of the calls: the choices of a program for all its controllers.
    #[must_use]
    pub fn defaults(mut self, defaults: &Defaults) -> Self {
        self.defaults = defaults.clone();
        self
    }

    /// How many requests are reconciled at the same time; 1 by default.
    #[must_use]
    pub fn concurrency(mut self, n: usize) -> Self {
        self.settings.concurrency = Some(n);
        self
    }

    /// A queue of your own, which ends with the controller. By default one with priorities that age, one entry for each request, and
    /// delays of 5 ms doubling to 1000 s for requests that fail (controller-runtime's defaults).
    #[must_use]
    pub fn queue(mut self, queue: impl WorkQueue<R> + 'static) -> Self {
        self.queue = Some(Arc::new(queue));
        self
    }

    /// Whether the default queue knows priorities; it does by default. If not, requests come in the order in which they were added, and
    /// those that fail wait as client-go has it: as before, and all together no more than ten a second after the first hundred.
    #[must_use]
    pub fn priorities(mut self, priorities: bool) -> Self {
        self.settings.priorities = Some(priorities);
        self
    }

    /// How long requests that fail wait, in the default queue.
    #[must_use]
    pub fn limiter(mut self, limiter: impl RateLimiter<R> + 'static) -> Self {
        self.limiter = Some(Box::new(limiter));
        self
    }

    /// Who counts what happens in the default queue.
    #[must_use]
    pub fn queue_metrics(mut self, metrics: impl Metrics + 'static) -> Self {
        self.queue_metrics = Some(Arc::new(metrics));
        self
    }

    /// Who counts reconciles.
    #[must_use]
    pub fn metrics(mut self, metrics: impl ReconcileMetrics + 'static) -> Self {
        self.metrics = Some(Arc::new(metrics));
        self
    }

    /// Who counts reconciles, and what happens in the default queue: what this provider has for a controller of this name. Instead of
    /// [`metrics`](Self::metrics) and [`queue_metrics`](Self::queue_metrics).
    #[must_use]
    pub fn metrics_from(mut self, provider: impl ReconcileMetricsProvider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// Lets another controller of the process be measured under the same name. By default that is refused, as long as both are there:
    /// two would write one series (controller-runtime `SkipNameValidation`, whose names, however, are never free again, and taken also by
    /// what is not measured).
    #[must_use]
    pub fn skip_name_validation(mut self) -> Self {
        self.settings.skip_name_validation = Some(true);
        self
    }

    /// A clock of your own; tokio's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = BoxClock::new(clock);
        self
    }

    /// Where the [names of its reconciles](crate::ReconcileId) come from, for runs that are to be repeatable; by default they are others in
    /// each process.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// A reconcile that takes longer is dropped and counts as failed; none by default.
    #[must_use]
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.timeout = Some(timeout.into());
        self
    }

    /// How long sources may take until they are in sync, `None` for as long as they like; two minutes by default. What happens then,
    /// [`late`](Self::late) says.
    #[must_use]
    pub fn sync_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.sync_timeout = Some(timeout.into());
        self
    }

    /// What happens when sources are not in sync in time, or say that they never will be. [`Late::Fail`]: the controller ends with an error
    /// that names them, and says why, where they know. [`Late::GoOn`]: it names them in the log, in its status and to
    /// [`on_source_error`](Self::on_source_error), waits on, and begins when they are in sync or [dropped](crate::Controller::unwatch).
    ///
    /// By default a controller that is [run](crate::Controller::run) alone fails, and one that runs [among
    /// others](crate::Controller::run_among), as those of a manager do, goes on.
    #[must_use]
    pub fn late(mut self, late: Late) -> Self {
        self.settings.late = Some(late);
        self
    }

    /// Who is told when something is wrong with a source and the controller goes on. The status and the log say it, too. Must be quick.
    #[must_use]
    pub fn on_source_error(mut self, hook: impl Fn(&SourceError) + Send + Sync + 'static) -> Self {
        self.on_source_error = Some(Arc::new(hook));
        self
    }

    /// How long reconciles that run may go on after a stop; 30 seconds by default. Then they are dropped where they await.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = Some(grace);
        self
    }

    /// Whether a panic of the reconciler is a failure of its request; it is by default. If not, it ends the controller: the future of
    /// [`run`](crate::Controller::run) panics.
    #[must_use]
    pub fn recover_panics(mut self, recover: bool) -> Self {
        self.settings.recover_panics = Some(recover);
        self
    }

    /// Whether it reconciles on the leader only, where one is elected ([`run_when`](crate::Controller::run_when)); it does by default.
    #[must_use]
    pub fn needs_leader_election(mut self, needs: bool) -> Self {
        self.settings.needs_leader_election = Some(needs);
        self
    }

    /// Whether its sources start before it leads, so that it takes over with caches that are full and a queue that knows what is to do;
    /// not by default.
    #[must_use]
    pub fn warm_up(mut self, warm_up: bool) -> Self {
        self.settings.warm_up = Some(warm_up);
        self
    }
}
