//! What a runnable is told while it runs, and what it leaves behind.

use std::{
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

/// How a runnable is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// Begin nothing new, finish what runs.
    #[default]
    Finish,
    /// Drop what runs, where it awaits, as controller-runtime cancels the contexts of its reconcilers.
    Cancel,
}

/// A runnable's view of its manager. Clones are the same.
#[derive(Clone)]
pub struct Life {
    stop: watch::Receiver<Option<Stop>>,
    leading: watch::Receiver<bool>,
    left: Arc<Mutex<Left>>,
}

type Busy = Box<dyn Fn() -> Vec<String> + Send>;

#[derive(Default)]
struct Left {
    undone: Vec<String>,
    busy: Option<Busy>,
}

impl Life {
    pub(crate) fn new(stop: watch::Receiver<Option<Stop>>, leading: watch::Receiver<bool>) -> Self {
        Self {
            stop,
            leading,
            left: Arc::default(),
        }
    }

    /// Waits until the runnable is to stop, and says how.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn stopping(&self) -> Stop {
        let mut stop = self.stop.clone();
        match stop.wait_for(Option::is_some).await {
            Ok(how) => how.unwrap_or_default(),
            // The manager is gone.
            Err(_) => Stop::Cancel,
        }
    }

    /// Whether it is to stop.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.borrow().is_some() || self.stop.has_changed().is_err()
    }

    /// Waits until this replica leads; without an election, until everything else has started.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn leading(&self) {
        let mut leading = self.leading.clone();
        if leading.wait_for(|leading| *leading).await.is_err() {
            // The manager is gone, and whoever waits here is dropped with it.
            std::future::pending().await
        }
    }

    /// Whether this replica leads.
    #[must_use]
    pub fn is_leading(&self) -> bool {
        *self.leading.borrow()
    }

    /// Names something that waits and will not be done, for the manager's [`Report`](crate::Report).
    pub fn leave_undone(&self, what: impl Into<String>) {
        self.left().undone.push(what.into());
    }

    /// Says what to ask for the names of what runs, if it must be cut.
    pub fn name_busy(&self, busy: impl Fn() -> Vec<String> + Send + 'static) {
        self.left().busy = Some(Box::new(busy));
    }

    pub(crate) fn take_undone(&self) -> Vec<String> {
        mem::take(&mut self.left().undone)
    }

    pub(crate) fn busy(&self) -> Vec<String> {
        self.left().busy.as_ref().map_or_else(Vec::new, |busy| busy())
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Life")
            .field("stopping", &self.is_stopping())
            .field("leading", &self.is_leading())
            .finish_non_exhaustive()
    }
}
