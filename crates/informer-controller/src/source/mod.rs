//! Where requests come from.

mod channel;
mod informer;

use std::{error::Error, fmt, sync::Arc};

use informer_core::BoxFuture;
use informer_workqueue::WorkQueue;

pub use channel::{ChannelClosed, ChannelSource, Requests, channel};
pub use informer::{InformerSource, LOW_PRIORITY};

/// Puts requests into a controller's queue (controller-runtime `source.Source`).
pub trait Source<R>: Send {
    /// What it is called in status and errors: the kind, or the informer's name.
    fn name(&self) -> Arc<str>;

    /// Begins. Called once, when the controller is run; must not block.
    ///
    /// # Errors
    /// When it can never begin, for example since its informer has stopped. The controller does not run then.
    fn start(self: Box<Self>, queue: Arc<dyn WorkQueue<R>>) -> Result<Started, Box<dyn Error + Send + Sync>>;
}

/// A source that has begun. Dropping it ends the source: no request comes from it afterwards.
pub struct Started {
    pub(crate) synced: BoxFuture<'static, Result<(), Box<dyn Error + Send + Sync>>>,
    pub(crate) run: Option<BoxFuture<'static, ()>>,
    pub(crate) on_stop: OnStop,
}

pub(crate) struct OnStop(Option<Box<dyn FnOnce() + Send>>);

impl Started {
    /// A source that is in sync when this future says so: its initial requests are in the queue. Workers wait for it. An error ends the
    /// controller.
    pub fn new(
        synced: impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send + 'static,
    ) -> Self {
        Self {
            synced: Box::pin(synced),
            run: None,
            on_stop: OnStop(None),
        }
    }

    /// A source that has nothing to wait for.
    #[must_use]
    pub fn in_sync() -> Self {
        Self::new(std::future::ready(Ok(())))
    }

    /// With something to run as long as the controller does. When it ends, the source has nothing more; the controller goes on.
    #[must_use]
    pub fn run(mut self, run: impl Future<Output = ()> + Send + 'static) -> Self {
        self.run = Some(Box::pin(run));
        self
    }

    /// With something to do at the end.
    #[must_use]
    pub fn on_stop(mut self, stop: impl FnOnce() + Send + 'static) -> Self {
        self.on_stop = OnStop(Some(Box::new(stop)));
        self
    }
}

impl Drop for OnStop {
    fn drop(&mut self) {
        if let Some(stop) = self.0.take() {
            stop();
        }
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started")
            .field("runs", &self.run.is_some())
            .finish_non_exhaustive()
    }
}
