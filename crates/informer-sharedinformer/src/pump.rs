//! One source, one queue, one store, one handler: client-go's `cache.Controller`.

use std::{
    fmt,
    sync::Arc,
    task::{Poll, Waker},
};

use informer_core::{EventHandler, IndexFunc, Key, Store};

use crate::{
    BacklogPolicy, Ended, HandlerOptions, Lister, Registration, Status, Stopped,
    driver::{mailbox::Serving, run, serve},
    error::BuildError,
    shared::Shared,
};

/// A store that follows a source, and one handler that is called in step with it (client-go `NewInformer`, `cache.Controller`): made by
/// [`Builder::build_pump`](crate::Builder::build_pump).
///
/// All in one future: no task, no thread, no backlog. The handler is called after its batch is in the store, and the next batch waits for
/// it, so a slow handler slows the store down, and in the end the reading of the watch.
pub struct Pump<Q: Key, K: Send + Sync + 'static, H> {
    handle: PumpHandle<Q, K>,
    serving: Serving<Q, K>,
    handler: H,
}

impl<Q, K, H> Pump<Q, K, H>
where
    Q: Key,
    K: Send + Sync + 'static,
    H: EventHandler<Q, K>,
{
    pub(crate) fn new(shared: Shared<Q, K>, handler: H) -> Self {
        let shared = Arc::new(shared);
        let options = HandlerOptions::named("handler").backlog(BacklogPolicy::Unbounded);
        let mailbox = shared
            .add(options, |_| None)
            .expect("it is new, so it has not stopped");
        Self {
            handle: PumpHandle {
                registration: Registration::new(shared.clone(), mailbox.clone()),
                shared,
            },
            serving: Serving(mailbox),
            handler,
        }
    }

    /// Reads and stops it, also after it has moved into its task.
    #[must_use]
    pub fn handle(&self) -> PumpHandle<Q, K> {
        self.handle.clone()
    }

    /// Runs it until it is stopped; at once over when it was stopped before.
    ///
    /// # Cancel safety
    /// Dropping the future stops it, between two calls of the handler.
    pub async fn run(self) -> Ended
    where
        H: 'static,
    {
        let Self {
            handle,
            serving,
            mut handler,
        } = self;
        let Ok(source) = handle.shared.begin() else {
            return Ended::default();
        };
        let report = handle.shared.report.clone();
        let tell = move || {
            let mailbox = &serving.0;
            while let Poll::Ready(Some(change)) = mailbox.poll_take(Waker::noop()) {
                serve::call(mailbox, &mut handler, &change, &report);
            }
        };
        run::run(handle.shared, source, tell).await
    }
}

impl<Q: Key, K: Send + Sync + 'static, H> fmt::Debug for Pump<Q, K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pump")
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}

/// Reads and stops a [`Pump`]. Clones are of the same pump; dropping them does not stop it.
pub struct PumpHandle<Q: Key, K: Send + Sync + 'static> {
    shared: Arc<Shared<Q, K>>,
    registration: Registration,
}

impl<Q: Key, K: Send + Sync + 'static> PumpHandle<Q, K> {
    /// Its store, to read. It stays readable.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store<Q, K>> {
        self.shared.store.clone()
    }

    /// The store with the questions that controllers ask.
    #[must_use]
    pub fn lister(&self) -> Lister<Q, K> {
        Lister::new(self.store())
    }

    /// Adds an index at any time; when this returns, it holds every object.
    ///
    /// # Errors
    /// When there is an index of that name, the function fails for a stored object, or the store is one of your own.
    pub fn add_index(
        &self,
        name: impl Into<Arc<str>>,
        function: impl IndexFunc<K> + 'static,
    ) -> Result<(), BuildError> {
        self.shared.add_index(name.into(), function)
    }

    /// Whether the first list is in the store and the handler has returned from all of it. Once true, always true.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.registration.has_synced()
    }

    /// Waits for [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// When it ended before that.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn synced(&self) -> Result<(), Stopped> {
        self.registration.synced().await
    }

    /// How it is.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// Stops it for good: when this returns no call of the handler begins any more.
    pub fn stop(&self) {
        self.shared.stop();
    }

    /// Whether it was stopped, or ended.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.shared.life.borrow().stopped
    }
}

impl<Q: Key, K: Send + Sync + 'static> Clone for PumpHandle<Q, K> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            registration: self.registration.clone(),
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static> fmt::Debug for PumpHandle<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PumpHandle")
            .field("status", &self.status())
            .finish()
    }
}
