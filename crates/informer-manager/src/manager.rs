//! The manager, and its handles.

use std::{fmt, net::SocketAddr, sync::Arc};

use informer_controller::{self as controller, Defaults};
use tokio::{runtime, task::JoinHandle};

use crate::{
    AddError, Builder, Candidate, Checks, Cluster, Group, Informers, Report, RunError, Runnable, Signals,
    Stop, driver::Driver, kinds::Kinds, machine::Input, shared::Shared,
};

/// Starts runnables in order, and stops them all when it is told to or when one fails. See the crate's documentation for the contract.
pub struct Manager {
    pub(crate) handle: Handle,
    pub(crate) candidate: Option<Box<dyn Candidate>>,
    pub(crate) signals: Signals,
    pub(crate) how: Stop,
    pub(crate) addresses: Vec<(Arc<str>, SocketAddr)>,
}

impl Manager {
    /// Begins a manager.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// A handle, which works before, during and after the run.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Where its server of health and the like listens, if it has one.
    #[must_use]
    pub fn health_addr(&self) -> Option<SocketAddr> {
        self.address("health")
    }

    /// Where its server of metrics listens, if it has one.
    #[must_use]
    pub fn metrics_addr(&self) -> Option<SocketAddr> {
        self.address("metrics").or_else(|| self.health_addr())
    }

    fn address(&self, name: &str) -> Option<SocketAddr> {
        let mut addresses = self.addresses.iter();
        addresses.find_map(|(server, address)| (**server == *name).then_some(*address))
    }

    /// Runs until it is told to stop, or something fails; then stops everything, in order and within the grace time.
    ///
    /// # Errors
    /// When something failed, was not ready or did not end in time; when leadership was lost; and when it was told twice to stop.
    ///
    /// # Cancel safety
    /// Dropping the future drops everything that runs where it awaits, without order and grace.
    pub async fn run(self) -> Result<Report, RunError> {
        let driver = Driver::new(self.handle.shared, self.how, self.candidate);
        driver.run(self.signals).await
    }

    /// Runs it on a task of its own.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn spawn(self) -> Running {
        let handle = self.handle();
        let task = runtime::Handle::current().spawn(self.run());
        Running { handle, task }
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager")
            .field("runnables", &self.handle.names())
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

/// What a program holds of a manager while it runs. Clones are the same.
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) live: Checks,
    pub(crate) ready: Checks,
    pub(crate) kinds: Kinds,
    pub(crate) defaults: Arc<Defaults>,
}

impl Handle {
    /// Adds a runnable. It starts when the turn of its group comes, or at once if it has come.
    ///
    /// # Errors
    /// When the manager stops, and when something of that name has not ended yet.
    pub fn add(&self, runnable: impl Runnable) -> Result<(), AddError> {
        self.shared.add(Box::new(runnable))
    }

    /// Begins a controller of this name with the [defaults](Builder::controller_defaults) of this manager. It is [added](Self::add) once it
    /// is built.
    #[must_use]
    pub fn controller<R: controller::Request>(&self, name: impl Into<Arc<str>>) -> controller::Builder<R> {
        controller::Controller::builder(name).defaults(&self.defaults)
    }

    /// What holds for the controllers of this program and they do not say otherwise.
    #[must_use]
    pub fn controller_defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// Stops what has this name and waits until it has ended, within the manager's grace time. Whether there was such a thing. Its end is
    /// no failure.
    ///
    /// # Cancel safety
    /// Once polled it is stopped, also when the future is dropped.
    pub async fn remove(&self, name: &str) -> bool {
        let Some(id) = self.shared.remove(name) else {
            return false;
        };
        self.shared.until(|| !self.shared.has(id)).await;
        true
    }

    /// What has not ended, with its group, in the order in which it was added.
    #[must_use]
    pub fn names(&self) -> Vec<(Arc<str>, Group)> {
        self.shared.names()
    }

    /// Stops the manager, within its grace time. Before its run: the run does nothing.
    pub fn stop(&self) {
        self.shared.input(Input::Stop);
    }

    /// Stops the manager without waiting for anything.
    pub fn stop_now(&self) {
        self.shared.input(Input::Force);
    }

    /// Waits until everything was started, except what waits for an election.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn started(&self) {
        self.shared
            .until(|| self.shared.with(|machine| machine.is_started()))
            .await;
    }

    /// Waits until this replica leads; without an election, until everything was started (controller-runtime `Elected`).
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn elected(&self) {
        let mut leading = self.shared.leading.subscribe();
        // The sender lives as long as `self`.
        let _ = leading.wait_for(|leading| *leading).await;
    }

    /// Whether this replica leads.
    #[must_use]
    pub fn is_leading(&self) -> bool {
        *self.shared.leading.borrow()
    }

    /// Adds a cluster: its cache starts, and `/readyz` asks for its kinds.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_cluster(&self, cluster: &Cluster) -> Result<(), AddError> {
        self.add(cluster.clone())?;
        self.observe(cluster.name(), cluster.clone());
        Ok(())
    }

    /// Removes the cluster of this name: its cache is shut down, and those who depend on it are told. Whether there was one. Controllers that
    /// are for it alone should be [removed](Self::remove) before.
    ///
    /// # Cancel safety
    /// As [`remove`](Self::remove).
    pub async fn remove_cluster(&self, name: &str) -> bool {
        self.forget(name);
        self.remove(&Cluster::runnable_name(name)).await
    }

    /// Asks for the sync of these informers too, in `/readyz` and the debug endpoint; as
    /// [`Builder::observe`].
    pub fn observe(&self, cluster: impl Into<Arc<str>>, informers: impl Informers + 'static) {
        self.kinds.add(cluster.into(), Arc::new(informers));
    }

    /// Asks for those of this cluster no more.
    pub fn forget(&self, cluster: &str) {
        self.kinds.remove(cluster);
    }

    /// What `/healthz` asks. More may be added at any time.
    #[must_use]
    pub fn healthz(&self) -> &Checks {
        &self.live
    }

    /// What `/readyz` asks. More may be added at any time.
    #[must_use]
    pub fn readyz(&self) -> &Checks {
        &self.ready
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("runnables", &self.names())
            .field("leading", &self.is_leading())
            .finish_non_exhaustive()
    }
}

/// A manager that runs on a task of its own. Dropping this stops it, within its grace time.
#[derive(Debug)]
#[must_use = "dropping it stops the manager"]
pub struct Running {
    handle: Handle,
    task: JoinHandle<Result<Report, RunError>>,
}

impl Running {
    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Stops it, and waits until it has ended.
    ///
    /// # Errors
    /// As [`Manager::run`].
    pub async fn stop(self) -> Result<Report, RunError> {
        self.handle.stop();
        self.ended().await
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// As [`Manager::run`].
    pub async fn ended(mut self) -> Result<Report, RunError> {
        match (&mut self.task).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => Ok(Report::default()),
            },
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop();
    }
}
