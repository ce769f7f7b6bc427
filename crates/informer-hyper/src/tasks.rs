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

/// Lets hyper spawn what one HTTP/2 connection needs, as long as the owner of the tasks is there.
#[derive(Debug, Clone)]
pub(crate) struct Spawner {
    tasks: Weak<Tasks>,
    spawned: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Spawner {
    pub(crate) fn new(tasks: &Arc<Tasks>) -> Self {
        Self {
            tasks: Arc::downgrade(tasks),
            spawned: Arc::default(),
        }
    }

    /// Ends all of it: the connection itself is among what hyper spawns, and would go on as long as a stream does.
    pub(crate) fn end(&self) {
        let mut spawned = self.spawned.lock().unwrap_or_else(PoisonError::into_inner);
        spawned.drain(..).for_each(|task| task.abort());
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Spawner {
    fn execute(&self, task: F) {
        if let Some(tasks) = self.tasks.upgrade() {
            let task = tasks.spawn(task);
            let mut spawned = self.spawned.lock().unwrap_or_else(PoisonError::into_inner);
            spawned.retain(|task| !task.is_finished());
            spawned.push(task);
        }
    }
}
