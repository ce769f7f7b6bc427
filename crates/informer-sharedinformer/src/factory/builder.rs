//! How a factory is put together.

use std::{fmt, sync::Arc, time::Duration};

use informer_core::{BoxClock, Clock, TokioClock};

use super::{Factory, Inner};
use crate::metrics::MetricsRegistry;

/// Puts a factory together: begun by [`Factory::builder`], ended by [`build`](Self::build).
#[must_use]
pub struct FactoryBuilder<S> {
    sources: S,
    clock: BoxClock,
    resync: Duration,
    metrics: Option<(MetricsRegistry, Arc<str>)>,
}

impl<S> FactoryBuilder<S> {
    pub(super) fn new(sources: S) -> Self {
        Self {
            sources,
            clock: BoxClock::new(TokioClock),
            resync: Duration::ZERO,
            metrics: None,
        }
    }

    /// A clock of your own; tokio's by default.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = BoxClock::new(clock);
        self
    }

    /// How often the informers resync; never by default. Zero is never.
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = period;
        self
    }

    /// Has the informers measured, each as `name` and its selection (client-go `WithInformerName`). Another factory of the same registry
    /// needs another name.
    pub fn metrics(mut self, registry: &MetricsRegistry, name: impl Into<Arc<str>>) -> Self {
        self.metrics = Some((registry.clone(), name.into()));
        self
    }

    /// The factory, which has no informers yet.
    pub fn build(self) -> Factory<S> {
        Factory(Arc::new(Inner {
            sources: self.sources,
            clock: self.clock,
            resync: self.resync,
            metrics: self.metrics,
            shelf: Arc::default(),
        }))
    }
}

impl<S> fmt::Debug for FactoryBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FactoryBuilder")
            .field("resync", &self.resync)
            .finish_non_exhaustive()
    }
}
