//! The shared informer: the handle that programs hold.

use std::{fmt, sync::Arc, time::Duration};

use informer_core::{
    BoxClock, Clock, Entry, EventHandler, IndexFunc, Key, ListerWatcher, NamespaceName, ObjectKey, Store,
};
use tokio::{runtime, select, sync::watch, task::JoinHandle};

use crate::{
    builder::Builder,
    driver::{jobs::Job, run},
    error::{BuildError, ForeignRegistration, NotSynced, RunError, Stopped},
    handler::AsyncHandler,
    listed::Listed,
    lister::Lister,
    options::HandlerOptions,
    registration::Registration,
    shared::Shared,
    source::Source,
    status::Status,
    subscription::Subscription,
    view::View,
};

/// One list and watch of a kind, an indexed store that follows it, and any number of handlers (client-go `SharedIndexInformer`).
///
/// Clones are the same informer. See the crate's documentation for the contract.
pub struct SharedInformer<Q: Key, K>(Arc<Shared<Q, K>>);

impl<K: Send + Sync + 'static> SharedInformer<ObjectKey, K> {
    /// Begins an informer of this source, keyed by namespace and name.
    pub fn builder<L>(source: L) -> Builder<ObjectKey, K, Listed<L, NamespaceName>>
    where
        L: ListerWatcher<Object = K> + 'static,
    {
        Builder::new(Listed::new(source, NamespaceName))
    }
}

impl<Q: Key, K: Send + Sync + 'static> SharedInformer<Q, K> {
    /// Begins an informer that something else than a reflector fills.
    pub fn fed_by<S: Source<Q, K>>(source: S) -> Builder<Q, K, S> {
        Builder::new(source)
    }

    pub(crate) fn new(shared: Shared<Q, K>) -> Self {
        Self(Arc::new(shared))
    }

    pub(crate) fn clock(&self) -> &BoxClock {
        &self.0.clock
    }

    /// Those of its objects for which `wanted` is true, as if they were an informer's own. Whatever `wanted` reads must not change: it is
    /// asked about each state of an object, by handlers and readers alike.
    pub fn view(&self, wanted: impl Fn(&Entry<Q, K>) -> bool + Send + Sync + 'static) -> View<Q, K> {
        View::new(self.clone(), wanted)
    }

    /// The informer's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether both are handles of one informer.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Runs it, until it is stopped. Handlers run on the runtime that polls this, one task or thread each.
    ///
    /// # Errors
    /// When it was run before, or stopped before it ran: an informer runs once.
    ///
    /// # Cancel safety
    /// Dropping the future stops the informer as [`stop`](Self::stop) does.
    pub async fn run(&self) -> Result<Ended, RunError> {
        let source = self.0.begin()?;
        Ok(run::run(self.0.clone(), source, || {}).await)
    }

    /// Runs it on a task of its own.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn spawn(&self) -> Result<Running<Q, K>, RunError> {
        // Before the run begins, which cannot be undone.
        let runtime = runtime::Handle::current();
        let source = self.0.begin()?;
        let task = runtime.spawn(run::run(self.0.clone(), source, || {}));
        Ok(Running {
            informer: self.clone(),
            task: Some(task),
        })
    }

    /// Stops it for good, running or not: when this returns no call of a handler begins any more, except one that was already handed its
    /// change. The store stays readable.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.life.borrow().stopped
    }

    /// Adds a handler, before, during or after the start of the informer. It is called on a task, one change after the other; it should be
    /// quick and not block. One that comes late is first told all objects in the store, each as `Added` with `initial`, then every change
    /// since: nothing is lost or told twice.
    ///
    /// # Errors
    /// When the informer has stopped.
    pub fn add_handler(
        &self,
        handler: impl EventHandler<Q, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        let report = self.0.report.clone();
        self.add(options, |mailbox| Some(Job::sync(mailbox, handler, report)))
    }

    /// As [`add_handler`](Self::add_handler), for a handler that awaits: an `async` closure, or one that returns a future.
    ///
    /// # Errors
    /// When the informer has stopped.
    pub fn add_async_handler(
        &self,
        handler: impl AsyncHandler<Q, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        let report = self.0.report.clone();
        self.add(options, |mailbox| {
            Some(Job::asynchronous(mailbox, handler, report))
        })
    }

    /// As [`add_handler`](Self::add_handler), for a handler that may block: it is called on a thread of its own.
    ///
    /// # Errors
    /// When the informer has stopped.
    pub fn add_blocking_handler(
        &self,
        handler: impl EventHandler<Q, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        let report = self.0.report.clone();
        self.add(options, |mailbox| Some(Job::blocking(mailbox, handler, report)))
    }

    /// As [`add_handler`](Self::add_handler), as a stream.
    ///
    /// # Errors
    /// When the informer has stopped.
    pub fn subscribe(&self, options: HandlerOptions) -> Result<Subscription<Q, K>, Stopped> {
        let mailbox = self.0.add(options, |_| None)?;
        Ok(Subscription::new(self.0.clone(), mailbox))
    }

    /// Removes a handler of this informer, as [`Registration::remove`] does, which asks for no informer (client-go `RemoveEventHandler`).
    /// Removing twice, or after a stop, does nothing.
    ///
    /// # Errors
    /// When the registration is another informer's; then nothing happens to that one.
    pub fn remove_handler(&self, registration: &Registration) -> Result<(), ForeignRegistration> {
        if registration.member().informer() != self.0.token() {
            return Err(ForeignRegistration {
                informer: self.0.name.clone(),
                handler: registration.name().into(),
            });
        }
        registration.remove();
        Ok(())
    }

    fn add(
        &self,
        options: HandlerOptions,
        job: impl FnOnce(Arc<crate::driver::mailbox::Mailbox<Q, K>>) -> Option<Job>,
    ) -> Result<Registration, Stopped> {
        let mailbox = self.0.add(options, job)?;
        Ok(Registration::new(self.0.clone(), mailbox))
    }

    /// The store, to read. It can be read at any time, also before the start and after a stop.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store<Q, K>> {
        self.0.store.clone()
    }

    /// Adds an index at any time; when this returns, it holds every object (client-go `AddIndexers`).
    ///
    /// # Errors
    /// When there is an index of that name, the function fails for a stored object, or the store is one of your own.
    pub fn add_index(
        &self,
        name: impl Into<Arc<str>>,
        function: impl IndexFunc<K> + 'static,
    ) -> Result<(), BuildError> {
        self.0.add_index(name.into(), function)
    }

    /// The store with the questions that controllers ask.
    #[must_use]
    pub fn lister(&self) -> Lister<Q, K> {
        Lister::new(self.0.store.clone())
    }

    /// Whether the first list is in the store. Once true, always true. What a handler has seen, its own
    /// [`Registration::has_synced`] tells.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.0.life.borrow().synced
    }

    /// Waits for [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// When the informer stopped before that.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn synced(&self) -> Result<(), Stopped> {
        let mut life = self.0.life.subscribe();
        let done = life.wait_for(|life| life.synced || life.stopped).await;
        match done {
            Ok(life) if life.synced => Ok(()),
            Ok(_) | Err(_) => Err(self.0.stopped()),
        }
    }

    /// Waits for [`has_synced`](Self::has_synced), for so long at most.
    ///
    /// # Errors
    /// When it took longer or the informer stopped; the error says what the source is doing and what failed last.
    pub async fn wait_synced(&self, within: Duration) -> Result<(), NotSynced> {
        let until = self.0.clock.now() + within;
        let waited = select! {
            biased;
            done = self.synced() => match done {
                Ok(()) => return Ok(()),
                Err(Stopped { .. }) => None,
            },
            () = self.0.clock.sleep_until(until) => Some(within),
        };
        let source = self.0.source_status();
        let cause = if self.0.life.borrow().started {
            source.to_string()
        } else {
            "it was not run".to_owned()
        };
        Err(NotSynced {
            name: self.0.name.clone(),
            waited,
            cause: cause.into(),
            class: source.class,
        })
    }

    /// How it is.
    #[must_use]
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// Waits until it has stopped and nothing of its own runs.
    pub async fn ended(&self) {
        let mut life: watch::Receiver<_> = self.0.life.subscribe();
        // The sender lives as long as `self`.
        let _ = life.wait_for(|life| life.ended).await;
    }
}

impl<Q: Key, K> Clone for SharedInformer<Q, K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: Key, K: Send + Sync + 'static> fmt::Debug for SharedInformer<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer")
            .field("status", &self.status())
            .finish()
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Ended {
    /// Handlers of which a call still runs: foreign code that is not waited for longer than a moment.
    pub still_running: Vec<Arc<str>>,
}

/// An informer that runs on a task of its own. Dropping this stops it.
#[must_use = "dropping it stops the informer"]
pub struct Running<Q: Key, K: Send + Sync + 'static> {
    informer: SharedInformer<Q, K>,
    task: Option<JoinHandle<Ended>>,
}

impl<Q: Key, K: Send + Sync + 'static> Running<Q, K> {
    /// The informer.
    #[must_use]
    pub fn informer(&self) -> &SharedInformer<Q, K> {
        &self.informer
    }

    /// Stops it, and waits until nothing of its own runs: at most a fifth of a second.
    ///
    /// # Panics
    /// With the informer's own panic, if that is how it ended: an index function's or a store's.
    pub async fn stop(mut self) -> Ended {
        self.informer.stop();
        let task = self
            .task
            .take()
            .expect("taken only here and in detach, which both consume it");
        match task.await {
            Ok(ended) => ended,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => Ended::default(),
            },
        }
    }

    /// Lets it run on, until the informer itself is stopped.
    pub fn detach(mut self) {
        self.task = None;
    }
}

impl<Q: Key, K: Send + Sync + 'static> Drop for Running<Q, K> {
    fn drop(&mut self) {
        if self.task.is_some() {
            self.informer.stop();
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static> fmt::Debug for Running<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("informer", &self.informer)
            .finish()
    }
}
