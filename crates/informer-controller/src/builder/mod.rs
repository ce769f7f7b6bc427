//! How a controller is put together.

mod defaults;
mod options;
mod settings;
mod watching;

use std::{
    fmt,
    future::Future,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use informer_core::{BoxClock, Resource, TokioClock};
use informer_workqueue::{
    Config, DelayedCopy, Fifo, ItemExponential, Metrics, Queue, RateLimiter, WorkQueue,
    default_controller_limiter,
};

pub use self::defaults::Defaults;
use self::{settings::Settings, watching::Later};
use crate::{
    Action, Attempt, BoxError, BoxReconciler, BuildError, Controller, ReconcileMetrics,
    ReconcileMetricsProvider, Reconciler, Request, late::OnSourceError, names::Claim, reconcile_fn,
    shared::Parts, source::EventFilter,
};

/// Puts a controller together: begun by [`Controller::builder`] or [`new`](Self::new), ended by [`build`](Self::build).
pub struct Builder<R> {
    name: Option<Arc<str>>,
    n_for: usize,
    given: Given,
    sources: Vec<Later<R>>,
    reconcilers: Vec<BoxReconciler<R>>,
    queue: Option<Arc<dyn WorkQueue<R>>>,
    limiter: Option<Box<dyn RateLimiter<R>>>,
    queue_metrics: Option<Arc<dyn Metrics>>,
    metrics: Option<Arc<dyn ReconcileMetrics>>,
    provider: Option<Arc<dyn ReconcileMetricsProvider>>,
    on_source_error: Option<OnSourceError>,
    seed: Option<u64>,
    clock: BoxClock,
    settings: Settings,
    defaults: Defaults,
}

/// What sources are made with.
struct Given {
    filter: Option<EventFilter>,
    /// What the controller is for.
    owner: Option<Resource>,
}

impl<R: Request> Builder<R> {
    /// A controller without a name: it is called after the kind that it is [for](Self::for_), in lower case.
    #[must_use]
    pub fn new() -> Self {
        Self {
            name: None,
            n_for: 0,
            given: Given {
                filter: None,
                owner: None,
            },
            sources: Vec::new(),
            reconcilers: Vec::new(),
            queue: None,
            limiter: None,
            queue_metrics: None,
            metrics: None,
            provider: None,
            on_source_error: None,
            seed: None,
            clock: BoxClock::new(TokioClock),
            settings: Settings::default(),
            defaults: Defaults::default(),
        }
    }

    /// What it is called in logs, metrics and errors.
    #[must_use]
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What it is for. Exactly one.
    #[must_use]
    pub fn reconciler(mut self, reconciler: impl Reconciler<R> + 'static) -> Self {
        self.reconcilers.push(BoxReconciler::new(reconciler));
        self
    }

    /// What it is for, as a closure. Its error may be [`terminal`](crate::terminal).
    #[must_use]
    pub fn reconcile<F, A, E>(self, reconcile: F) -> Self
    where
        F: Fn(R, Attempt) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Action, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        self.reconciler(reconcile_fn(reconcile))
    }

    /// The controller, which does nothing until it is run.
    ///
    /// # Errors
    /// Without a name, a source, exactly one reconciler, a worker; with several kinds that it is for; with something owned whose owner
    /// cannot be told; when a limiter or queue metrics are given beside a queue of your own, which has its own; when it is measured under
    /// a name that another controller of the process has.
    pub fn build(mut self) -> Result<Controller<R>, BuildError> {
        let name = self.name.take().or_else(|| self.given.default_name());
        let Some(name) = name else {
            return Err(BuildError::new(
                "",
                "has neither a name nor a kind that it is for",
            ));
        };
        let settings = self
            .settings
            .or(&self.defaults.settings_of(self.given.owner.as_ref()));
        let options = settings.options();
        let reconciler = self.check(&name, options.concurrency)?;
        self.take_defaults();
        let (metrics, queue_metrics) = match &self.provider {
            Some(provider) => (Some(provider.reconciles(&name)), Some(provider.queue(&name))),
            None => (self.metrics.take(), self.queue_metrics.take()),
        };
        let measured = metrics.is_some() || queue_metrics.is_some();
        let claim = match measured && settings.skip_name_validation != Some(true) {
            true => Some(Claim::take(&name).ok_or_else(|| {
                BuildError::new(
                    &name,
                    "is not the only one of that name, and would write into another's metrics",
                )
            })?),
            false => None,
        };
        let mut sources = Vec::with_capacity(self.sources.len());
        for make in self.sources {
            sources.push(make(&self.given).map_err(|why| BuildError::new(&name, &why))?);
        }
        let (limiter, clock) = (self.limiter, self.clock.clone());
        let priorities = settings.priorities.unwrap_or(true);
        Ok(Controller::new(Parts {
            queue: self
                .queue
                .unwrap_or_else(|| default_queue(priorities, limiter, queue_metrics, clock)),
            name,
            reconciler,
            resource: self.given.owner,
            // One that no other process has.
            seed: self.seed.unwrap_or_else(|| RandomState::new().hash_one(0_u8)),
            clock: self.clock,
            options,
            metrics,
            on_source_error: self.on_source_error,
            claim,
            sources,
        }))
    }

    /// What the defaults have and this controller was not given.
    fn take_defaults(&mut self) {
        let given = self.metrics.is_some() || self.queue_metrics.is_some();
        if self.provider.is_none() && !given {
            self.provider = self.defaults.metrics.take();
        }
        if self.on_source_error.is_none() {
            self.on_source_error = self.defaults.on_source_error.take();
        }
    }

    fn check(&mut self, name: &str, concurrency: usize) -> Result<BoxReconciler<R>, BuildError> {
        let refuse = |why| Err(BuildError::new(name, why));
        let Some(reconciler) = self.reconcilers.pop() else {
            return refuse("has no reconciler");
        };
        if !self.reconcilers.is_empty() {
            return refuse("has several reconcilers");
        }
        if self.n_for > 1 {
            return refuse("is for several kinds: for_ may be called once, watches more often");
        }
        if self.sources.is_empty() {
            return refuse("watches nothing");
        }
        if concurrency == 0 {
            return refuse("has a concurrency of zero");
        }
        let own = self.limiter.is_some() || self.queue_metrics.is_some();
        if self.queue.is_some() && own {
            return refuse("was given a queue: give limiter and metrics to that queue");
        }
        Ok(reconciler)
    }
}

impl<R: Request> Default for Builder<R> {
    fn default() -> Self {
        Self::new()
    }
}

fn default_queue<R: Request>(
    priorities: bool,
    limiter: Option<Box<dyn RateLimiter<R>>>,
    metrics: Option<Arc<dyn Metrics>>,
    clock: BoxClock,
) -> Arc<dyn WorkQueue<R>> {
    let mut config = Config::default()
        .limiter(limiter.unwrap_or_else(|| match priorities {
            true => Box::new(ItemExponential::default()),
            false => Box::new(default_controller_limiter()),
        }))
        .delayed_copy(DelayedCopy::Absorb);
    if !priorities {
        config = config.order(Fifo::default());
    }
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
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
