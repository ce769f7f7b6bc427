//! The handle of a handler that was added.

use std::{fmt, sync::Arc};

use informer_core::Key;
use tokio::sync::watch;

use crate::{
    driver::{
        mailbox::{Mailbox, Marks},
        serve::is_calling,
    },
    error::Stopped,
    listener::Progress,
    shared::Shared,
};

/// A handler that was added to an informer. Clones are the same handler; dropping them does not remove it.
#[derive(Clone)]
pub struct Registration(Arc<dyn Member>);

impl Registration {
    pub(crate) fn new<Q: Key, K: Send + Sync + 'static>(
        shared: Arc<Shared<Q, K>>,
        mailbox: Arc<Mailbox<Q, K>>,
    ) -> Self {
        Self(Arc::new(Joined { shared, mailbox }))
    }

    /// The handler's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether the informer is in sync and every initial add has returned from the handler, or panicked. Once true, always true.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.0.progress().synced
    }

    /// Waits for [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// When the handler was removed, or the informer stopped, before that.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn synced(&self) -> Result<(), Stopped> {
        let marks = self
            .0
            .marks()
            .wait_for(|marks| marks.synced || marks.ended)
            .await
            .map(|marks| *marks);
        match marks {
            Ok(Marks { synced: true, .. }) => Ok(()),
            Ok(_) | Err(_) => Err(self.0.stopped()),
        }
    }

    /// Removes the handler: no call begins after this returns, except one that was already handed its change. What waited is dropped.
    /// Removing twice, or after a stop, does nothing. Allowed from inside the handler.
    pub fn remove(&self) {
        self.0.remove();
    }

    /// Waits until the handler is removed and no call of it runs. Does not remove it. Returns at once from inside an asynchronous
    /// handler that waits for itself.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn removed(&self) {
        if self.0.is_calling() {
            return;
        }
        // Fails when the mailbox is gone, and then so is the handler.
        let _ = self.0.marks().wait_for(|marks| marks.ended).await;
    }

    /// Changes that wait for the handler, initial ones included.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.0.progress().backlog
    }

    /// Calls that returned or panicked.
    #[must_use]
    pub fn n_delivered(&self) -> u64 {
        self.0.progress().delivered
    }

    /// Changes that the handler was not told since they merged with others.
    #[must_use]
    pub fn n_merged(&self) -> u64 {
        self.0.progress().merged
    }

    /// Calls that panicked.
    #[must_use]
    pub fn n_panics(&self) -> u64 {
        self.0.progress().panics
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("name", &self.name())
            .field("progress", &self.0.progress())
            .finish()
    }
}

/// A handler of any informer.
trait Member: Send + Sync {
    fn name(&self) -> &str;
    fn progress(&self) -> Progress;
    fn marks(&self) -> watch::Receiver<Marks>;
    fn remove(&self);
    fn is_calling(&self) -> bool;
    fn stopped(&self) -> Stopped;
}

struct Joined<Q: Key, K> {
    shared: Arc<Shared<Q, K>>,
    mailbox: Arc<Mailbox<Q, K>>,
}

impl<Q: Key, K: Send + Sync + 'static> Member for Joined<Q, K> {
    fn name(&self) -> &str {
        &self.mailbox.name
    }

    fn progress(&self) -> Progress {
        self.mailbox.progress()
    }

    fn marks(&self) -> watch::Receiver<Marks> {
        self.mailbox.marks()
    }

    fn remove(&self) {
        self.shared.remove(&self.mailbox);
    }

    fn is_calling(&self) -> bool {
        is_calling(self.mailbox.token())
    }

    fn stopped(&self) -> Stopped {
        self.shared.stopped()
    }
}
