//! Where requests come from.

mod channel;
mod feed;
mod follow;
mod function;
mod gate;
mod kind;
mod unmapped;

use std::{fmt, future::Future, sync::Arc};

use informer_core::{BoxClock, BoxFuture};
use informer_workqueue::{AddOptions, WorkQueue};

pub use channel::{ChannelClosed, ChannelSource, Requests, channel};
pub use feed::LOW_PRIORITY;
pub use function::{FnSource, TaskSource, retried_source, source_fn, task_source};
pub use gate::{Gate, Optional, gate, optional};
pub use kind::{InformerSource, KindSource};

pub(crate) use feed::EventFilter;

use crate::{BoxError, Fault, contain::contained};

/// Puts requests into a controller's queue (controller-runtime `source.Source`).
pub trait Source<R>: Send {
    /// What it is called in status and errors: the kind, or the informer's name.
    fn name(&self) -> Arc<str>;

    /// Begins. Called once, when the controller is run or the source is added to one that runs; must not block.
    ///
    /// # Errors
    /// When it can never begin, for example since its informer has stopped. A controller that starts ends with this error; one that runs
    /// goes on without the source, and its status says why.
    fn start(self: Box<Self>, context: SourceContext<R>) -> Result<Started, BoxError>;
}

impl<R, S: Source<R> + ?Sized> Source<R> for Box<S> {
    fn name(&self) -> Arc<str> {
        (**self).name()
    }

    fn start(self: Box<Self>, context: SourceContext<R>) -> Result<Started, BoxError> {
        (*self).start(context)
    }
}

/// What a source is given.
#[non_exhaustive]
pub struct SourceContext<R> {
    /// Where its requests go.
    pub queue: Arc<dyn WorkQueue<R>>,
    /// The controller's clock.
    pub clock: BoxClock,
    pub(crate) report: Option<Report>,
}

/// Tells the controller of trouble.
pub(crate) type Report = Arc<dyn Fn(Fault, Arc<str>) + Send + Sync>;

impl<R> SourceContext<R> {
    /// For this queue: for starting a source by hand, in tests.
    pub fn new(queue: Arc<dyn WorkQueue<R>>, clock: BoxClock) -> Self {
        Self {
            queue,
            clock,
            report: None,
        }
    }

    /// Tells the controller's log and [error hook](crate::Builder::on_source_error) of trouble that the source gets over by itself.
    pub fn report(&self, fault: Fault, why: impl Into<Arc<str>>) {
        if let Some(report) = &self.report {
            report(fault, why.into());
        }
    }

    /// Enqueues a request.
    pub fn enqueue(&self, request: R) {
        self.queue.add(request, AddOptions::default());
    }
}

impl<R> Clone for SourceContext<R> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            clock: self.clock.clone(),
            report: self.report.clone(),
        }
    }
}

impl<R> fmt::Debug for SourceContext<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceContext").finish_non_exhaustive()
    }
}

/// A source that has begun. Dropping it ends the source: no request comes from it afterwards.
pub struct Started {
    pub(crate) synced: BoxFuture<'static, Result<(), BoxError>>,
    pub(crate) run: Option<Run>,
    pub(crate) on_stop: OnStop,
    pub(crate) trouble: Trouble,
    pub(crate) optional: bool,
}

/// What a source runs.
pub(crate) enum Run {
    Once(BoxFuture<'static, ()>),
    Again(Box<dyn FnMut() -> BoxFuture<'static, ()> + Send>),
}

impl Run {
    /// What it runs first.
    #[cfg(feature = "conformance")]
    pub(crate) fn into_future(self) -> BoxFuture<'static, ()> {
        match self {
            Self::Once(future) => future,
            Self::Again(mut make) => make(),
        }
    }
}

/// Asks a source why it does not do what it should.
pub(crate) type Trouble = Arc<dyn Fn() -> Option<String> + Send + Sync>;

pub(crate) struct OnStop(Option<Box<dyn FnOnce() + Send>>);

impl Started {
    /// A source that is in sync when this future says so: its initial requests are in the queue. Workers wait for it. An error ends a
    /// controller that starts.
    pub fn new(synced: impl Future<Output = Result<(), BoxError>> + Send + 'static) -> Self {
        Self {
            synced: Box::pin(synced),
            run: None,
            on_stop: OnStop(None),
            trouble: Arc::new(|| None),
            optional: false,
        }
    }

    /// A source that has nothing to wait for.
    #[must_use]
    pub fn in_sync() -> Self {
        Self::new(std::future::ready(Ok(())))
    }

    /// With something to run as long as the controller does. When it ends, the source has nothing more; the controller goes on. When it
    /// panics, the source has failed, which the status, the log and the controller's [error hook](crate::Builder::on_source_error) say; the
    /// controller goes on all the same.
    #[must_use]
    pub fn run(mut self, run: impl Future<Output = ()> + Send + 'static) -> Self {
        self.run = Some(Run::Once(Box::pin(run)));
        self
    }

    /// As [`run`](Self::run), but made anew when it panics: after a second, doubling to a minute, and a second again when it has run for a
    /// minute.
    #[must_use]
    pub fn run_again<A>(mut self, mut make: impl FnMut() -> A + Send + 'static) -> Self
    where
        A: Future<Output = ()> + Send + 'static,
    {
        self.run = Some(Run::Again(Box::new(move || Box::pin(make()))));
        self
    }

    /// With something to do at the end.
    #[must_use]
    pub fn on_stop(mut self, stop: impl FnOnce() + Send + 'static) -> Self {
        self.on_stop = OnStop(Some(Box::new(stop)));
        self
    }

    /// With somebody to ask why it is not in sync, or does not follow: for the status, and for the error that names it. Must be quick.
    #[must_use]
    pub fn trouble(mut self, ask: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.trouble = Arc::new(ask);
        self
    }

    /// No reconcile waits for it, and its failure ends nothing.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

impl Drop for OnStop {
    fn drop(&mut self) {
        if let Some(stop) = self.0.take()
            && let Err(panic) = contained(stop)
        {
            tracing::error!(panic, "The end of a source panicked");
        }
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started")
            .field("runs", &self.run.is_some())
            .field("optional", &self.optional)
            .finish_non_exhaustive()
    }
}
