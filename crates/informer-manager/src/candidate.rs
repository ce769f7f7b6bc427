//! Who stands for election.

use std::{fmt, sync::Arc};

use informer_core::BoxFuture;
use tokio::sync::watch;

use crate::{BoxError, Check, machine::Input, shared::Shared};

/// Stands for election on behalf of a manager.
///
/// Dyn-compatible. To swap in an election of your own, implement this.
pub trait Candidate: Send + 'static {
    /// What the election is called, in errors: the name of the lease, where there is one.
    fn name(&self) -> Arc<str> {
        "leader election".into()
    }

    /// What `/healthz` and `/readyz` ask of it, and under which name; nothing by default.
    fn check(&self) -> Option<(Arc<str>, Arc<dyn Check>)> {
        None
    }

    /// Stands for election until it is told to resign, and tells the seat when it leads and when it does no more.
    ///
    /// Once [`Seat::resigned`] returns it gives back what it holds and ends. It must not end before, except with an error.
    ///
    /// # Cancel safety
    /// Dropping the future ends the candidacy; nothing is given back then.
    fn campaign(self: Box<Self>, seat: Seat) -> BoxFuture<'static, Result<(), BoxError>>;
}

/// What a [`Candidate`] tells its manager, and is told by it. Clones are the same.
#[derive(Clone)]
pub struct Seat {
    shared: Arc<Shared>,
    resign: watch::Receiver<bool>,
}

impl Seat {
    pub(crate) fn new(shared: Arc<Shared>, resign: watch::Receiver<bool>) -> Self {
        Self { shared, resign }
    }

    /// This replica leads from now on.
    pub fn elected(&self) {
        self.shared.input(Input::Elected);
    }

    /// This replica led, and does no more: the manager drops what runs, and ends.
    pub fn lost(&self) {
        self.shared.input(Input::Lost);
    }

    /// Waits until the candidate is to resign: whatever needed the lease has ended.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn resigned(&self) {
        let mut resign = self.resign.clone();
        if resign.wait_for(|resign| *resign).await.is_err() {
            // The manager is gone, and the candidate is dropped with it.
            std::future::pending().await
        }
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").finish_non_exhaustive()
    }
}
