//! The tasks that drive connections. They end with the transport.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::task::{AbortHandle, JoinSet};

/// Owns the tasks; dropping it ends them.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    running: Mutex<JoinSet<()>>,
}

impl Tasks {
    /// Spawns on the current runtime.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while running.try_join_next().is_some() {}
        running.spawn(task)
    }
}

/// Lets hyper spawn what an HTTP/2 connection needs, as long as the owner of the tasks is there.
#[derive(Debug, Clone)]
pub(crate) struct Spawner(Weak<Tasks>);

impl Spawner {
    pub(crate) fn new(tasks: &Arc<Tasks>) -> Self {
        Self(Arc::downgrade(tasks))
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Spawner {
    fn execute(&self, task: F) {
        if let Some(tasks) = self.0.upgrade() {
            tasks.spawn(task);
        }
    }
}
