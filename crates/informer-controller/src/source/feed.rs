//! From changes to requests: predicate, mapping, and what is tried again when mapping fails.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{BoxClock, Change, Entry, Key, Meta};
use informer_workqueue::{AddOptions, Config, ItemExponential, Outcome, Queue, WorkQueue, WorkQueueExt};

use super::SourceContext;
use crate::{BoxError, Event, Mapper, Predicate, Request, contain::message};

/// The priority of what is not news: initial objects, resyncs, updates that changed nothing (controller-runtime `handler.LowPriority`).
pub const LOW_PRIORITY: i32 = -100;

/// The longest wait between two attempts at a mapping that fails.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Asked of every change that a controller watches.
pub(crate) type EventFilter = Arc<dyn Fn(&Event<'_>) -> bool + Send + Sync>;

/// What stands between the changes of one kind and the controller's queue.
pub(super) struct Feed<Q: Key, K, R> {
    pub(super) filter: Option<EventFilter>,
    pub(super) meta: Option<Arc<dyn Meta<K>>>,
    pub(super) predicate: Option<Box<dyn Predicate<Q, K>>>,
    mapper: Mutex<Box<dyn Mapper<Q, K, R>>>,
    queue: Arc<dyn WorkQueue<R>>,
    /// Changes whose mapping failed, one for each key; `again` says when they are due.
    failed: Mutex<Failed<Q, K>>,
    again: Queue<Q, BoxClock>,
}

struct Failed<Q, K> {
    changes: BTreeMap<Q, Unmapped<Q, K>>,
    last_error: Option<String>,
}

/// What could not be mapped of an object.
struct Unmapped<Q, K> {
    /// The oldest state whose requests nobody has heard of, where that is not in `latest`.
    oldest: Option<Entry<Q, K>>,
    latest: Change<Q, K>,
    priority: i32,
}

impl<Q: Key, K: Send + Sync + 'static, R: Request> Feed<Q, K, R> {
    pub(super) fn new(mapper: Box<dyn Mapper<Q, K, R>>, context: SourceContext<R>) -> Self {
        let config = Config::default().limiter(ItemExponential::new(Duration::from_millis(5), LONGEST_WAIT));
        Self {
            filter: None,
            meta: None,
            predicate: None,
            mapper: Mutex::new(mapper),
            queue: context.queue,
            failed: Mutex::new(Failed {
                changes: BTreeMap::new(),
                last_error: None,
            }),
            again: Queue::with(config, context.clock),
        }
    }

    /// Something changed.
    pub(super) fn on_change(&self, change: &Change<Q, K>) {
        let priority = priority(change);
        if let Err(error) = self.contained(|| self.enqueue(change, priority)) {
            self.keep(change.clone(), priority, &*error);
        }
    }

    /// Tries again what could not be mapped, as long as it is polled.
    pub(super) async fn retry(&self) {
        while let Some(lease) = self.again.take().await {
            let Some(unmapped) = self.failed().changes.remove(lease.item()) else {
                lease.finish(Outcome::Forget);
                continue;
            };
            let result = self.contained(|| {
                if let Some(current) = unmapped.oldest.clone() {
                    self.map(&Change::Resynced { current }, unmapped.priority)?;
                }
                self.enqueue(&unmapped.latest, unmapped.priority)
            });
            match result {
                Ok(()) => {
                    self.failed().settle();
                    lease.finish(Outcome::Forget);
                }
                Err(error) => {
                    self.put_back(lease.item(), unmapped, &*error);
                    lease.finish(Outcome::Retry);
                }
            }
        }
    }

    /// Why it does not follow, if it does not.
    pub(super) fn trouble(&self) -> Option<String> {
        let failed = self.failed();
        let error = failed.last_error.as_ref()?;
        Some(format!(
            "{} changes could not be mapped: {error}",
            failed.changes.len().max(1)
        ))
    }

    fn enqueue(&self, change: &Change<Q, K>, priority: i32) -> Result<(), BoxError> {
        if let Some(filter) = &self.filter
            && !Event::with(change, self.meta.as_deref(), |event| filter(event))
        {
            return Ok(());
        }
        if let Some(predicate) = &self.predicate
            && !predicate.admits(change)
        {
            return Ok(());
        }
        self.map(change, priority)
    }

    fn map(&self, change: &Change<Q, K>, priority: i32) -> Result<(), BoxError> {
        let how = AddOptions::default().priority(priority);
        let mut mapper = self.mapper.lock().unwrap_or_else(PoisonError::into_inner);
        mapper.map(change, &mut |request| self.queue.add(request, how))
    }

    /// A panic of the user's code is an error like another: the change is not lost.
    fn contained(&self, call: impl FnOnce() -> Result<(), BoxError>) -> Result<(), BoxError> {
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(result) => result,
            Err(panic) => Err(format!("it panicked: {}", message(&*panic)).into()),
        }
    }

    fn keep(&self, latest: Change<Q, K>, priority: i32, error: &(dyn std::error::Error + 'static)) {
        let key = latest.key().clone();
        let unmapped = Unmapped {
            oldest: None,
            latest,
            priority,
        };
        tracing::warn!(
            ?key,
            error,
            "A change could not be mapped to requests, and will be tried again"
        );
        let mut failed = self.failed();
        failed.last_error = Some(error.to_string());
        let merged = match failed.changes.remove(&key) {
            Some(earlier) => earlier.then(unmapped),
            None => unmapped,
        };
        failed.changes.insert(key.clone(), merged);
        drop(failed);
        self.again.add_rate_limited(key);
    }

    fn put_back(&self, key: &Q, unmapped: Unmapped<Q, K>, error: &(dyn std::error::Error + 'static)) {
        tracing::debug!(?key, error, "A change could not be mapped to requests again");
        let mut failed = self.failed();
        failed.last_error = Some(error.to_string());
        // A change that came meanwhile is later.
        let merged = match failed.changes.remove(key) {
            Some(later) => unmapped.then(later),
            None => unmapped,
        };
        failed.changes.insert(key.clone(), merged);
    }

    /// No code of the user's runs under this lock but `Ord` and `Clone` of keys.
    fn failed(&self) -> MutexGuard<'_, Failed<Q, K>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q, K> Failed<Q, K> {
    fn settle(&mut self) {
        if self.changes.is_empty() {
            self.last_error = None;
        }
    }
}

impl<Q: Clone, K> Unmapped<Q, K> {
    /// Both as one: states in between were never heard of, and need not be.
    fn then(self, later: Self) -> Self {
        let first = match self.latest {
            Change::Updated { old, .. } => old,
            Change::Added { new: it, .. }
            | Change::Removed { last: it, .. }
            | Change::Resynced { current: it } => it,
        };
        Self {
            oldest: Some(self.oldest.unwrap_or(first)),
            latest: later.latest,
            priority: self.priority.max(later.priority),
        }
    }
}

fn priority<Q, K>(change: &Change<Q, K>) -> i32 {
    match change {
        Change::Added { initial: true, .. } | Change::Resynced { .. } => LOW_PRIORITY,
        Change::Updated { old, new } if old.stamp.version == new.stamp.version => LOW_PRIORITY,
        Change::Added { .. } | Change::Updated { .. } | Change::Removed { .. } => 0,
    }
}
