//! How a controller is put together.

use std::{error::Error, fmt, future::Future, sync::Arc, time::Duration};

use informer_core::{BoxClock, Clock, Key, TokioClock};
use informer_sharedinformer::SharedInformer;
use informer_workqueue::{Config, DelayedCopy, ItemExponential, Metrics, Queue, RateLimiter, WorkQueue};

use crate::{
    Action, Attempt, BoxReconciler, BuildError, Controller, InformerSource, Mapper, ReconcileMetrics,
    ReconcileMetricsProvider, Reconciler, Request, Source, reconcile_fn,
    shared::{Options, Shared},
};

/// Puts a controller together: begun by [`Controller::builder`], ended by [`build`](Self::build).
pub struct Builder<R> {
    name: Arc<str>,
    sources: Vec<Box<dyn Source<R>>>,
    reconcilers: Vec<BoxReconciler<R>>,
    queue: Option<Arc<dyn WorkQueue<R>>>,
    limiter: Option<Box<dyn RateLimiter<R>>>,
    queue_metrics: Option<Arc<dyn Metrics>>,
    metrics: Option<Arc<dyn ReconcileMetrics>>,
    clock: BoxClock,
    options: Options,
}

impl<R: Request> Builder<R> {
    pub(crate) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            sources: Vec::new(),
            reconcilers: Vec::new(),
            queue: None,
            limiter: None,
            queue_metrics: None,
            metrics: None,
            clock: BoxClock::new(TokioClock),
            options: Options {
                concurrency: 1,
                timeout: None,
                sync_timeout: Some(Duration::from_secs(120)),
                grace: Duration::from_secs(30),
            },
        }
    }

    /// Reconciles what changes in this informer, as the mapper names it. May be called several times. For a predicate or options of the
    /// handler, see [`InformerSource`].
    #[must_use]
    pub fn watches<Q, K, M>(self, informer: &SharedInformer<Q, K>, mapper: M) -> Self
    where
        Q: Key,
        K: Send + Sync + 'static,
        M: Mapper<Q, K, R> + 'static,
    {
        self.source(InformerSource::new(informer, mapper))
    }

    /// Reconciles what this source names. May be called several times.
    #[must_use]
    pub fn source(mut self, source: impl Source<R> + 'static) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// What it is for. Exactly one.
    #[must_use]
    pub fn reconciler(mut self, reconciler: impl Reconciler<R> + 'static) -> Self {
        self.reconcilers.push(BoxReconciler::new(reconciler));
        self
    }

    /// What it is for, as a closure.
    #[must_use]
    pub fn reconcile<F, A, E>(self, reconcile: F) -> Self
    where
        F: Fn(R, Attempt) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Action, E>> + Send + 'static,
        E: Error + Send + Sync + 'static,
    {
        self.reconciler(reconcile_fn(reconcile))
    }

    /// How many requests are reconciled at the same time; 1 by default.
    #[must_use]
    pub fn concurrency(mut self, n: usize) -> Self {
        self.options.concurrency = n;
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

    /// Who counts reconciles, and what happens in the default queue: what this provider has for a controller of this name.
    #[must_use]
    pub fn metrics_from(mut self, provider: &dyn ReconcileMetricsProvider) -> Self {
        self.metrics = Some(provider.reconciles(&self.name));
        self.queue_metrics = Some(provider.queue(&self.name));
        self
    }

    /// A clock of your own; tokio's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = BoxClock::new(clock);
        self
    }

    /// A reconcile that takes longer is dropped and counts as failed; none by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// How long sources may take until they are in sync, `None` for as long as they like; two minutes by default. When it is over the
    /// controller ends with an error that names them.
    #[must_use]
    pub fn sync_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.sync_timeout = timeout.into();
        self
    }

    /// How long reconciles that run may go on after a stop; 30 seconds by default. Then they are dropped where they await.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    /// The controller, which does nothing until it is run.
    ///
    /// # Errors
    /// Without a source, without exactly one reconciler, without a worker; and when a limiter or metrics are given beside a queue of your
    /// own, which has its own.
    pub fn build(mut self) -> Result<Controller<R>, BuildError> {
        let refuse = |why| Err(BuildError::new(&self.name, why));
        let Some(reconciler) = self.reconcilers.pop() else {
            return refuse("has no reconciler");
        };
        if !self.reconcilers.is_empty() {
            return refuse("has several reconcilers");
        }
        if self.sources.is_empty() {
            return refuse("watches nothing");
        }
        if self.options.concurrency == 0 {
            return refuse("has a concurrency of zero");
        }
        if self.queue.is_some() && (self.limiter.is_some() || self.queue_metrics.is_some()) {
            return refuse("was given a queue: give limiter and metrics to that queue");
        }
        let queue = self
            .queue
            .unwrap_or_else(|| default_queue(self.limiter, self.queue_metrics, self.clock.clone()));
        Ok(Controller::new(Shared::new(
            self.name,
            queue,
            reconciler,
            self.clock,
            self.options,
            self.metrics,
            self.sources,
        )))
    }
}

fn default_queue<R: Request>(
    limiter: Option<Box<dyn RateLimiter<R>>>,
    metrics: Option<Arc<dyn Metrics>>,
    clock: BoxClock,
) -> Arc<dyn WorkQueue<R>> {
    let mut config = Config::default()
        .limiter(limiter.unwrap_or_else(|| Box::new(ItemExponential::default())))
        .delayed_copy(DelayedCopy::Absorb);
    if let Some(metrics) = metrics {
        config = config.metrics(metrics);
    }
    Arc::new(Queue::with(config, clock))
}

impl<R> fmt::Debug for Builder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("name", &self.name)
            .field("sources", &self.sources.len())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
