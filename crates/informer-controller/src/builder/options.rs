//! What may be chosen for a controller.

use std::sync::Arc;

use informer_core::{BoxClock, Clock};
use informer_workqueue::{Metrics, RateLimiter, WorkQueue};

use super::{Builder, Defaults, settings::choices};
use crate::{ReconcileMetrics, ReconcileMetricsProvider, Request};

impl<R: Request> Builder<R> {
    choices!();

    /// What holds where this builder says nothing, whatever the order of the calls: the choices of a program for all its controllers.
    #[must_use]
    pub fn defaults(mut self, defaults: &Defaults) -> Self {
        self.defaults = defaults.clone();
        self
    }

    /// A queue of your own, which ends with the controller. By default one with priorities that age, one entry for each request, and
    /// delays of 5 ms doubling to 1000 s for requests that fail (controller-runtime's defaults).
    #[must_use]
    pub fn queue(mut self, queue: impl WorkQueue<R> + 'static) -> Self {
        self.queue = Some(Arc::new(queue));
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
}
