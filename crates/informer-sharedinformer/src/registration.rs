//! The handle of a handler that was added.

use std::{any::Any, fmt, sync::Arc};

use informer_core::{BoxFuture, Key};

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

    pub(crate) fn of(member: Arc<dyn Member>) -> Self {
        Self(member)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn member(&self) -> &dyn Member {
        &*self.0
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
        self.0.synced().await
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
        self.0.removed().await;
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

/// A handler of any informer, or of several.
pub(crate) trait Member: Send + Sync {
    fn name(&self) -> &str;
    fn progress(&self) -> Progress;
    fn synced(&self) -> BoxFuture<'_, Result<(), Stopped>>;
    fn removed(&self) -> BoxFuture<'_, ()>;
    fn has_ended(&self) -> bool;
    fn is_calling(&self) -> bool;
    /// Tells its informer from every other one.
    fn informer(&self) -> usize;
    fn remove(&self);
    /// Removes it, and tells it before that all it knows is gone; `keep` lives until then.
    fn dismiss(&self, keep: Box<dyn Any + Send>);
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

    fn synced(&self) -> BoxFuture<'_, Result<(), Stopped>> {
        Box::pin(async {
            let mut marks = self.mailbox.marks();
            let done = marks.wait_for(|marks| marks.synced || marks.ended).await;
            match done.map(|marks| *marks) {
                Ok(Marks { synced: true, .. }) => Ok(()),
                Ok(_) | Err(_) => Err(self.shared.stopped()),
            }
        })
    }

    fn removed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if self.is_calling() {
                return;
            }
            // Fails when the mailbox is gone, and then so is the handler.
            let _ = self.mailbox.marks().wait_for(|marks| marks.ended).await;
        })
    }

    fn has_ended(&self) -> bool {
        self.mailbox.has_ended()
    }

    fn is_calling(&self) -> bool {
        is_calling(self.mailbox.token())
    }

    fn informer(&self) -> usize {
        self.shared.token()
    }

    fn remove(&self) {
        self.shared.remove(&self.mailbox);
    }

    fn dismiss(&self, keep: Box<dyn Any + Send>) {
        self.shared.dismiss(&self.mailbox, keep);
    }
}
