//! The controller: the handle that programs hold.

use std::{fmt, sync::Arc};

use informer_workqueue::WorkQueue;
use tokio::task::JoinHandle;

use crate::{Builder, Ended, Request, RunError, Status, driver, shared::Shared};

/// Reconciles what its sources name. Clones are the same controller. See the crate's documentation for the contract.
pub struct Controller<R>(Arc<Shared<R>>);

impl<R: Request> Controller<R> {
    /// Begins a controller of this name.
    pub fn builder(name: impl Into<Arc<str>>) -> Builder<R> {
        Builder::new(name.into())
    }

    pub(crate) fn new(shared: Shared<R>) -> Self {
        Self(Arc::new(shared))
    }

    /// The controller's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its queue, for requests that come from nowhere else.
    #[must_use]
    pub fn queue(&self) -> &Arc<dyn WorkQueue<R>> {
        &self.0.queue
    }

    /// Runs it until it is stopped: starts its sources, waits until they are in sync, reconciles. Does not run the informers.
    ///
    /// # Errors
    /// When it was run before, when a source cannot start or ends before it is in sync, and when sources are not in sync in time.
    ///
    /// # Cancel safety
    /// Dropping the future stops the controller at once; reconciles that run are dropped where they await.
    pub async fn run(&self) -> Result<Ended<R>, RunError> {
        let sources = self.0.begin()?;
        driver::run(self.0.clone(), sources).await
    }

    /// Runs it on a task of its own.
    ///
    /// # Errors
    /// When it was run before. What else [`run`](Self::run) may answer, [`Running::stop`] and [`Running::ended`] do.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[expect(clippy::disallowed_methods, reason = "`Running` owns the task")]
    pub fn spawn(&self) -> Result<Running<R>, RunError> {
        let sources = self.0.begin()?;
        let task = tokio::spawn(driver::run(self.0.clone(), sources));
        Ok(Running {
            controller: self.clone(),
            task,
        })
    }

    /// Stops it, running or not: no reconcile begins after this, except one that a worker already has. Those that run may finish within
    /// the grace time.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// How it is.
    #[must_use]
    pub fn status(&self) -> Status {
        self.0.status()
    }
}

impl<R> Clone for Controller<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: Request> fmt::Debug for Controller<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// A controller that runs on a task of its own. Dropping this stops it, within the grace time.
#[must_use = "dropping it stops the controller"]
pub struct Running<R: Request> {
    controller: Controller<R>,
    task: JoinHandle<Result<Ended<R>, RunError>>,
}

impl<R: Request> Running<R> {
    /// The controller.
    #[must_use]
    pub fn controller(&self) -> &Controller<R> {
        &self.controller
    }

    /// Stops it, and waits for the reconciles that run, within the grace time.
    ///
    /// # Errors
    /// As [`Controller::run`].
    pub async fn stop(self) -> Result<Ended<R>, RunError> {
        self.controller.stop();
        self.ended().await
    }

    /// Waits until it ends, without stopping it.
    ///
    /// # Errors
    /// As [`Controller::run`].
    ///
    /// # Panics
    /// With the panic of a source or queue of the user's, if that is how it ended.
    pub async fn ended(mut self) -> Result<Ended<R>, RunError> {
        match (&mut self.task).await {
            Ok(ended) => ended,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => Ok(Ended::default()),
            },
        }
    }
}

impl<R: Request> Drop for Running<R> {
    fn drop(&mut self) {
        self.controller.stop();
    }
}

impl<R: Request> fmt::Debug for Running<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("controller", &self.controller)
            .finish_non_exhaustive()
    }
}
