//! How a factory is put together.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use informer_core::{BoxClock, Clock, TokioClock};

use informer_reflector::Options as ReflectorOptions;

use super::{Factory, Inner, Selection};
use crate::{error::Trouble, metrics::MetricsRegistry, weight::Weigh};

/// Who hears of trouble.
pub(super) type Hook = Arc<dyn Fn(&Trouble) + Send + Sync>;

/// How often an informer resyncs.
pub(super) type ResyncOf = Box<dyn Fn(&Selection) -> Duration + Send + Sync>;

/// Puts a factory together: begun by [`Factory::builder`], ended by [`build`](Self::build).
#[must_use]
pub struct FactoryBuilder<S> {
    sources: S,
    clock: BoxClock,
    resync: Duration,
    resync_of: Option<ResyncOf>,
    metrics: Option<(MetricsRegistry, Arc<str>)>,
    reflector: ReflectorOptions,
    hook: Option<Hook>,
    /// A `Weigh<K>` each.
    weighs: Vec<Box<dyn Any + Send + Sync>>,
}

impl<S> FactoryBuilder<S> {
    pub(super) fn new(sources: S) -> Self {
        Self {
            sources,
            clock: BoxClock::new(TokioClock),
            resync: Duration::ZERO,
            resync_of: None,
            metrics: None,
            reflector: ReflectorOptions::default(),
            hook: None,
            weighs: Vec::new(),
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

    /// How often the informer of a selection resyncs, instead of [`resync`](Self::resync): for some that differ. Zero is never.
    pub fn resync_of(mut self, period: impl Fn(&Selection) -> Duration + Send + Sync + 'static) -> Self {
        self.resync_of = Some(Box::new(period));
        self
    }

    /// Has the informers measured, each as `name` and its selection (client-go `WithInformerName`). Another factory of the same registry
    /// needs another name.
    pub fn metrics(mut self, registry: &MetricsRegistry, name: impl Into<Arc<str>>) -> Self {
        self.metrics = Some((registry.clone(), name.into()));
        self
    }

    /// As [`Builder::weigh`](crate::Builder::weigh), for the informers of this form of object.
    pub fn weigh<K: 'static>(mut self, weigh: impl Fn(&K) -> u64 + Send + Sync + 'static) -> Self {
        let weigh: Weigh<K> = Arc::new(weigh);
        self.weighs.push(Box::new(weigh));
        self
    }

    /// How the informers list and watch. Their names are their own, whatever the options say.
    pub fn reflector_options(mut self, options: ReflectorOptions) -> Self {
        self.reflector = options;
        self
    }

    /// Calls `hook` for everything that goes wrong in any of the informers and is survived (client-go `SetWatchErrorHandler`). It should be
    /// quick.
    pub fn on_error(mut self, hook: impl Fn(&Trouble) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// The factory, which has no informers yet.
    pub fn build(self) -> Factory<S> {
        Factory(Arc::new(Inner {
            sources: self.sources,
            clock: self.clock,
            resync: self.resync,
            resync_of: self.resync_of,
            metrics: self.metrics,
            reflector: self.reflector,
            hook: self.hook,
            weighs: self.weighs,
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
