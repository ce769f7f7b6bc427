//! From changes to requests: filter, predicate, mapping, and what is mapped later or again.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use informer_core::{BoxClock, BoxFuture, Change, Key, Meta};
use informer_workqueue::{
    AddOptions, Config, DelayedCopy, ItemExponential, Outcome, Queue, WorkQueue, WorkQueueExt,
};
use tokio::sync::Notify;

use super::{
    SourceContext,
    unmapped::{Kept, Unmapped},
};
use crate::{
    AsyncMapFn, BoxError, Event, Mapper, Predicate, Request,
    contain::{Contained, message},
};

/// The priority of what is not news: initial objects, resyncs, updates that changed nothing (controller-runtime `handler.LowPriority`).
pub const LOW_PRIORITY: i32 = -100;

/// The longest wait between two attempts at a mapping that fails.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Asked of every change that a controller watches.
pub(crate) type EventFilter = Arc<dyn Fn(&Event<'_>) -> bool + Send + Sync>;

/// How the requests of a change are found.
pub(super) enum Mapping<Q, K, R> {
    /// In the informer's handler.
    Now(Mutex<Box<dyn Mapper<Q, K, R>>>),
    /// By a future.
    Later(AsyncMapFn<Q, K, R>),
}

/// What stands between the changes of one kind and the controller's queue.
pub(super) struct Feed<Q: Key, K, R> {
    pub(super) filter: Option<EventFilter>,
    pub(super) meta: Option<Arc<dyn Meta<K>>>,
    pub(super) predicate: Option<Box<dyn Predicate<Q, K>>>,
    mapping: Mapping<Q, K, R>,
    queue: Arc<dyn WorkQueue<R>>,
    /// False once nothing more may come: requests are added while it is held.
    open: Mutex<bool>,
    /// Changes whose mapping failed, or waits for its turn; `again` says when they are due.
    unmapped: Mutex<Unmapped<Q, K>>,
    again: Queue<Q, BoxClock>,
    /// Something was tried.
    tried: Notify,
}

impl<Q: Key, K: Send + Sync + 'static, R: Request> Feed<Q, K, R> {
    pub(super) fn new(mapping: Mapping<Q, K, R>, context: SourceContext<R>) -> Self {
        let config = Config::default()
            .limiter(ItemExponential::new(Duration::from_millis(5), LONGEST_WAIT))
            .delayed_copy(DelayedCopy::Absorb);
        Self {
            filter: None,
            meta: None,
            predicate: None,
            mapping,
            queue: context.queue,
            open: Mutex::new(true),
            unmapped: Mutex::default(),
            again: Queue::with(config, context.clock),
            tried: Notify::new(),
        }
    }

    /// Something changed.
    pub(super) fn on_change(&self, change: &Change<Q, K>) {
        let priority = priority(change);
        let mut admitted = false;
        let result = contained(|| {
            if !self.admits(change) {
                return Ok(());
            }
            admitted = true;
            match &self.mapping {
                Mapping::Now(mapper) => self.map(mapper, change, priority),
                Mapping::Later(_) => {
                    self.unmapped().keep(Kept::new(change.clone(), priority, true));
                    let how = AddOptions::default().priority(priority);
                    self.again.add(change.key().clone(), how);
                    Ok(())
                }
            }
        });
        if let Err(error) = result {
            let key = change.key().clone();
            tracing::warn!(
                ?key,
                error = &*error,
                "A change could not be mapped to requests, and will be tried again"
            );
            let kept = Kept::new(change.clone(), priority, admitted);
            self.unmapped().keep_failed(kept, error.to_string());
            self.again.add_rate_limited(key);
        }
    }

    /// Maps what waits for that, and again what could not be mapped, as long as it is polled.
    pub(super) async fn run(&self) {
        let n = match &self.mapping {
            Mapping::Now(_) => 1,
            Mapping::Later(function) => function.at_once.get(),
        };
        let mut workers: Vec<BoxFuture<'_, ()>> = Vec::new();
        workers.resize_with(n, || Box::pin(self.work()));
        poll_fn(|cx| {
            workers.retain_mut(|worker| Pin::new(worker).poll(cx).is_pending());
            if workers.is_empty() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    async fn work(&self) {
        while let Some(lease) = self.again.take().await {
            let key = lease.item();
            let Some(kept) = self.unmapped().take(key) else {
                lease.finish(Outcome::Forget);
                continue;
            };
            let outcome = match self.map_kept(&kept).await {
                Ok(()) => {
                    self.unmapped().mapped(key);
                    Outcome::Forget
                }
                Err(error) => {
                    tracing::debug!(?key, error = &*error, "A change could not be mapped to requests");
                    self.unmapped().put_back(key, kept, error.to_string());
                    Outcome::Retry
                }
            };
            self.tried.notify_one();
            lease.finish(outcome);
        }
    }

    async fn map_kept(&self, kept: &Kept<Q, K>) -> Result<(), BoxError> {
        let admitted = kept.admitted || contained(|| Ok(self.admits(&kept.latest)))?;
        match &self.mapping {
            Mapping::Now(mapper) => contained(|| {
                if let Some(current) = kept.oldest().cloned() {
                    self.map(mapper, &Change::Resynced { current }, kept.priority)?;
                }
                if admitted {
                    self.map(mapper, &kept.latest, kept.priority)?;
                }
                Ok(())
            }),
            Mapping::Later(function) => {
                let mut requests: Vec<R> = Vec::new();
                let states = if admitted {
                    kept.states().collect()
                } else {
                    Vec::from_iter(kept.oldest())
                };
                for state in states {
                    let state = state.clone();
                    // The call itself is inside the future, so that a panic of it is one of the future's.
                    let asked = Contained(Box::pin(async move { function.call(state).await }));
                    let named = asked.await.map_err(panicked)??;
                    for request in named {
                        if !requests.contains(&request) {
                            requests.push(request);
                        }
                    }
                }
                requests
                    .into_iter()
                    .for_each(|request| self.emit(request, kept.priority));
                Ok(())
            }
        }
    }

    /// Waits until each object of the beginning was tried, where that is not done in the handler. Asked once what is there was told.
    pub(super) async fn first_tried(&self) {
        if matches!(self.mapping, Mapping::Now(_)) {
            return;
        }
        while !self.unmapped().begun() {
            self.tried.notified().await;
        }
    }

    /// Nothing comes from it after this.
    pub(super) fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// Why it does not follow, if it does not.
    pub(super) fn trouble(&self) -> Option<String> {
        self.unmapped().trouble()
    }

    fn admits(&self, change: &Change<Q, K>) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|filter| Event::with(change, self.meta.as_deref(), |event| filter(event)))
            && self
                .predicate
                .as_ref()
                .is_none_or(|predicate| predicate.admits(change))
    }

    fn map(
        &self,
        mapper: &Mutex<Box<dyn Mapper<Q, K, R>>>,
        change: &Change<Q, K>,
        priority: i32,
    ) -> Result<(), BoxError> {
        let mut mapper = mapper.lock().unwrap_or_else(PoisonError::into_inner);
        mapper.map(change, &mut |request| self.emit(request, priority))
    }

    fn emit(&self, request: R, priority: i32) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if *open {
            self.queue.add(request, AddOptions::default().priority(priority));
        }
    }

    /// No code of the user's runs under this lock but `Ord` and `Clone` of keys.
    fn unmapped(&self) -> MutexGuard<'_, Unmapped<Q, K>> {
        self.unmapped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A panic of the user's code is an error like another: the change is not lost.
fn contained<T>(call: impl FnOnce() -> Result<T, BoxError>) -> Result<T, BoxError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result,
        Err(panic) => Err(panicked(message(&*panic).to_owned())),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn panicked(message: String) -> BoxError {
    format!("it panicked: {message}").into()
}

fn priority<Q, K>(change: &Change<Q, K>) -> i32 {
    match change {
        Change::Added { initial: true, .. } | Change::Resynced { .. } => LOW_PRIORITY,
        Change::Updated { old, new } if old.stamp.version == new.stamp.version => LOW_PRIORITY,
        Change::Added { .. } | Change::Updated { .. } | Change::Removed { .. } => 0,
    }
}
