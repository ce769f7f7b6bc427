//! The controller: the handle that programs hold.

use std::{fmt, sync::Arc, time::Duration};

use informer_workqueue::WorkQueue;
use tokio::task::JoinHandle;

use crate::{
    Builder, Ended, Late, Request, RunError, Source, Status, WatchId, driver,
    shared::{Parts, Shared},
};

/// Reconciles what its sources name. Clones are the same controller. See the crate's documentation for the contract.
pub struct Controller<R>(Arc<Shared<R>>);

impl<R: Request> Controller<R> {
    /// Begins a controller of this name.
    pub fn builder(name: impl Into<Arc<str>>) -> Builder<R> {
        Builder::new().named(name)
    }

    pub(crate) fn new(parts: Parts<R>) -> Self {
        Self(Arc::new(Shared::new(parts)))
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
    /// When it was run before, and, unless its builder said [otherwise](Builder::late), when a source cannot start or ends before it is in
    /// sync, and when sources are not in sync in time.
    ///
    /// # Cancel safety
    /// Dropping the future stops the controller at once; reconciles that run are dropped where they await.
    pub async fn run(&self) -> Result<Ended<R>, RunError> {
        self.run_when(std::future::ready(())).await
    }

    /// As [`run`](Self::run), where no reconcile begins before `elected` returns: for a program of which one replica leads. Sources start
    /// then, too, unless the controller [warms up](Builder::warm_up). A controller that [needs no
    /// election](Builder::needs_leader_election) does not wait.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Cancel safety
    /// As [`run`](Self::run).
    pub async fn run_when(&self, elected: impl Future<Output = ()> + Send) -> Result<Ended<R>, RunError> {
        self.0.begin()?;
        driver::run(self.0.clone(), elected, Late::Fail).await
    }

    /// As [`run_when`](Self::run_when), beside others that a failure of this one would end: for a manager. Unless its builder said
    /// [otherwise](Builder::late), sources that are not in sync in time, or never will be, are named and waited for.
    ///
    /// # Errors
    /// When it was run before; with [`Late::Fail`] as [`run`](Self::run).
    ///
    /// # Cancel safety
    /// As [`run`](Self::run).
    pub async fn run_among(&self, elected: impl Future<Output = ()> + Send) -> Result<Ended<R>, RunError> {
        self.0.begin()?;
        driver::run(self.0.clone(), elected, Late::GoOn).await
    }

    /// Runs it on a task of its own.
    ///
    /// # Errors
    /// When it was run before. What else [`run`](Self::run) may answer, [`Running::stop`] and [`Running::ended`] do.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn spawn(&self) -> Result<Running<R>, RunError> {
        self.spawn_when(std::future::ready(()))
    }

    /// Runs it on a task of its own, as [`run_when`](Self::run_when).
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[expect(clippy::disallowed_methods, reason = "`Running` owns the task")]
    pub fn spawn_when(
        &self,
        elected: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Running<R>, RunError> {
        self.0.begin()?;
        let task = tokio::spawn(driver::run(self.0.clone(), elected, Late::Fail));
        Ok(Running {
            controller: self.clone(),
            task,
        })
    }

    /// Whether it reconciles on the leader only; see [`Builder::needs_leader_election`].
    #[must_use]
    pub fn needs_leader_election(&self) -> bool {
        self.0.options.needs_leader_election
    }

    /// Whether its sources start before it leads; see [`Builder::warm_up`].
    #[must_use]
    pub fn warms_up(&self) -> bool {
        self.0.options.warm_up
    }

    /// Watches something more, before the controller runs or while it does. In a controller that runs it starts at once: reconciles do
    /// not wait for it, and one that fails ends nothing; see [`watch_synced`](Self::watch_synced) and [`status`](Self::status).
    ///
    /// # Errors
    /// When the controller has ended.
    pub fn watch(&self, source: impl Source<R> + 'static) -> Result<WatchId, RunError> {
        self.0.watch(Box::new(source))
    }

    /// Watches it no longer: no request comes from it after this returns; what is in the queue is still reconciled. `false`: it was not
    /// watched, or no longer.
    pub fn unwatch(&self, id: WatchId) -> bool {
        self.0.unwatch(id)
    }

    /// Waits until the initial requests of a source are in the queue.
    ///
    /// # Errors
    /// When it failed; and when it is not watched any more.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn watch_synced(&self, id: WatchId) -> Result<(), RunError> {
        self.0.watch_synced(id).await
    }

    /// Stops it, running or not: no reconcile begins after this, except one that a worker already has. Those that run may finish within
    /// the grace time.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// As [`stop`](Self::stop), with another grace time than the builder's: that of a program which stops more than this controller. A
    /// grace time that no clock can reach has no end.
    pub fn stop_within(&self, grace: Duration) {
        self.0.stop_within(grace);
    }

    /// The requests that are being reconciled, in the order in which they began.
    #[must_use]
    pub fn reconciling(&self) -> Vec<R> {
        self.0.running()
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

    /// Watches something more: [`Controller::watch`].
    ///
    /// # Errors
    /// When the controller has ended.
    pub fn watch(&self, source: impl Source<R> + 'static) -> Result<WatchId, RunError> {
        self.controller.watch(source)
    }

    /// Watches it no longer: [`Controller::unwatch`].
    pub fn unwatch(&self, id: WatchId) -> bool {
        self.controller.unwatch(id)
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
