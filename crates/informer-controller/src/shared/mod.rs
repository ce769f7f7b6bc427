//! What the handles and the driver of a controller share.

mod sources;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use ahash::AHashMap;
use informer_core::{BoxClock, Clock, Resource};
use informer_workqueue::{Lease, Outcome, Shutdown, WorkQueue};
use tokio::sync::watch;

use self::sources::Watches;
use crate::{
    Action, Attempt, BoxReconciler, Counts, Fault, Late, Phase, ReconcileError, ReconcileMetrics, Request,
    RunError, Source, SourceError, Status, contain::contained, error::RunErrorKind, id::Ids,
    late::OnSourceError, metrics::tell, names::Claim,
};

pub(crate) struct Shared<R> {
    pub(crate) name: Arc<str>,
    pub(crate) queue: Arc<dyn WorkQueue<R>>,
    pub(crate) reconciler: BoxReconciler<R>,
    /// What it is for.
    pub(crate) resource: Option<Resource>,
    pub(crate) clock: BoxClock,
    pub(crate) options: Options,
    pub(crate) metrics: Option<Arc<dyn ReconcileMetrics>>,
    pub(crate) life: watch::Sender<Life>,
    pub(crate) watches_changed: watch::Sender<()>,
    on_source_error: Option<OnSourceError>,
    work: Mutex<Work<R>>,
    _claim: Option<Claim>,
}

/// What a controller is made of.
pub(crate) struct Parts<R> {
    pub(crate) name: Arc<str>,
    pub(crate) queue: Arc<dyn WorkQueue<R>>,
    pub(crate) reconciler: BoxReconciler<R>,
    pub(crate) resource: Option<Resource>,
    pub(crate) seed: u64,
    pub(crate) clock: BoxClock,
    pub(crate) options: Options,
    pub(crate) metrics: Option<Arc<dyn ReconcileMetrics>>,
    pub(crate) on_source_error: Option<OnSourceError>,
    pub(crate) claim: Option<Claim>,
    pub(crate) sources: Vec<Box<dyn Source<R>>>,
}

/// Numbers that the builder takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) concurrency: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) sync_timeout: Option<Duration>,
    /// `None`: as whoever runs it says.
    pub(crate) late: Option<Late>,
    pub(crate) grace: Duration,
    pub(crate) recover_panics: bool,
    pub(crate) needs_leader_election: bool,
    pub(crate) warm_up: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Life {
    pub(crate) phase: Phase,
    pub(crate) stopped: bool,
    /// Another grace time than the builder's.
    pub(crate) grace: Option<Duration>,
}

struct Work<R> {
    watches: Watches<R>,
    /// No source is added any more.
    ended: bool,
    /// Its sources took longer than they may.
    overdue: bool,
    /// What runs, by the id of the attempt.
    running: BTreeMap<u64, R>,
    /// Requests whose last attempt failed. Looked up only, never iterated.
    failures: AHashMap<R, Failure>,
    counts: Counts,
    n_attempts: u64,
    ids: Ids,
}

struct Failure {
    in_a_row: u32,
    /// `None`: it asked to come again.
    last: Option<ReconcileError>,
}

impl<R: Request> Shared<R> {
    pub(crate) fn new(parts: Parts<R>) -> Self {
        if let Some(metrics) = &parts.metrics {
            metrics.max_concurrent(parts.options.concurrency);
        }
        let mut watches = Watches::default();
        for source in parts.sources {
            watches.add(source);
        }
        let work = Work {
            watches,
            ended: false,
            overdue: false,
            running: BTreeMap::new(),
            failures: AHashMap::new(),
            counts: Counts::default(),
            n_attempts: 0,
            ids: Ids::new(parts.seed, &parts.name),
        };
        Self {
            name: parts.name,
            queue: parts.queue,
            reconciler: parts.reconciler,
            resource: parts.resource,
            clock: parts.clock,
            options: parts.options,
            metrics: parts.metrics,
            life: watch::Sender::new(Life::default()),
            watches_changed: watch::Sender::new(()),
            on_source_error: parts.on_source_error,
            work: Mutex::new(work),
            _claim: parts.claim,
        }
    }

    /// Once.
    pub(crate) fn begin(&self) -> Result<(), RunError> {
        let first = self.life.send_if_modified(|life| {
            let first = life.phase == Phase::Idle;
            if first {
                life.phase = Phase::Syncing;
            }
            first
        });
        if first {
            Ok(())
        } else {
            Err(self.error(RunErrorKind::SecondRun))
        }
    }

    pub(crate) fn error(&self, kind: RunErrorKind) -> RunError {
        RunError {
            name: self.name.clone(),
            kind,
        }
    }

    /// Tells who wants to know that something is wrong with a source.
    pub(crate) fn tell_source_error(&self, source: Arc<str>, fault: Fault, why: Option<Arc<str>>) {
        let error = SourceError {
            controller: self.name.clone(),
            source,
            fault,
            why,
        };
        tracing::error!(
            controller = &*error.controller,
            source = &*error.source,
            fault = ?error.fault,
            error = error.why.as_deref(),
            "Trouble with a source: the controller goes on"
        );
        if let Some(hook) = &self.on_source_error
            && let Err(panic) = contained(|| hook(&error))
        {
            tracing::error!(panic, "The error hook panicked");
        }
    }

    /// Whether its sources take longer than they may.
    pub(crate) fn set_overdue(&self, overdue: bool) {
        self.work().overdue = overdue;
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.life.send_modify(|life| life.phase = phase);
    }

    pub(crate) fn stop(&self) {
        self.life.send_modify(|life| life.stopped = true);
    }

    pub(crate) fn stop_within(&self, grace: Duration) {
        self.life.send_modify(|life| {
            life.grace = Some(grace);
            life.stopped = true;
        });
    }

    pub(crate) fn grace(&self) -> Duration {
        self.life.borrow().grace.unwrap_or(self.options.grace)
    }

    /// A worker has a request: what its reconciler is told of it.
    pub(crate) fn begin_attempt(&self, lease: &Lease<R>) -> Attempt {
        let mut work = self.work();
        work.n_attempts += 1;
        let id = work.n_attempts;
        let reconcile_id = work.ids.next_id();
        work.running.insert(id, lease.item().clone());
        let failure = work.failures.get(lease.item());
        let timeout = self.options.timeout;
        Attempt {
            number: failure.map_or(0, |it| it.in_a_row).saturating_add(1),
            last_error: failure.and_then(|it| it.last.clone()),
            deadline: timeout.and_then(|timeout| self.clock.now().checked_add(timeout)),
            id,
            reconcile_id,
            priority: lease.priority(),
        }
    }

    /// When an attempt begins, if somebody wants to know how long it takes; and counts it.
    pub(crate) fn meter_begin(&self) -> Option<Instant> {
        let metrics = self.metrics.as_ref()?;
        metrics.began();
        Some(self.clock.now())
    }

    /// An attempt ended: counts, remembers, and says to the queue what comes next.
    pub(crate) fn end_attempt(
        &self,
        lease: Lease<R>,
        since: Option<Instant>,
        result: &Result<Action, ReconcileError>,
    ) {
        if let Some((metrics, since)) = self.metrics.as_ref().zip(since) {
            tell(
                &**metrics,
                self.clock.now().saturating_duration_since(since),
                result,
            );
        }
        let mut work = self.work();
        let (outcome, priority) = match result {
            Ok(action) => work.succeed(lease.item(), *action),
            Err(error) => {
                work.fail(lease.item(), error);
                let outcome = if error.is_terminal() {
                    Outcome::Done
                } else {
                    Outcome::Retry
                };
                (outcome, None)
            }
        };
        drop(work);
        let priority = priority.unwrap_or_else(|| lease.priority());
        self.queue.done(lease.again_at(priority), outcome);
    }

    /// An attempt runs no more, however it ended.
    pub(crate) fn forget_attempt(&self, id: u64) {
        self.work().running.remove(&id);
        if let Some(metrics) = &self.metrics {
            metrics.ended();
        }
    }

    /// What runs, in the order in which it began.
    pub(crate) fn running(&self) -> Vec<R> {
        self.work().running.values().cloned().collect()
    }

    /// Ends everything at once: for a driver that was dropped.
    pub(crate) fn end(&self) {
        self.work().ended = true;
        self.unwatch_all();
        self.queue.shut_down(Shutdown::Now);
        self.life.send_modify(|life| {
            life.stopped = true;
            life.phase = Phase::Ended;
        });
    }

    pub(crate) fn status(&self) -> Status {
        let queued = self.queue.len();
        let phase = self.life.borrow().phase;
        let waiting_for = match phase {
            Phase::Syncing => self.not_synced().into_iter().map(|(name, _)| name).collect(),
            _ => Vec::new(),
        };
        let sources = self.source_status();
        let work = self.work();
        Status {
            name: self.name.clone(),
            phase,
            waiting_for,
            overdue: work.overdue,
            sources,
            queued,
            running: work.running.len(),
            counts: work.counts,
        }
    }

    /// No code of the user's runs under this lock but `Hash` and `Eq` of requests.
    fn work(&self) -> MutexGuard<'_, Work<R>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Request> Work<R> {
    fn succeed(&mut self, request: &R, action: Action) -> (Outcome, Option<i32>) {
        if let Action::Requeue { priority } = action {
            self.counts.requeued += 1;
            self.remember(request, None);
            return (Outcome::Retry, priority);
        }
        self.failures.remove(request);
        match action {
            Action::RequeueAfter { after, priority } => {
                self.counts.requeued += 1;
                (Outcome::RetryAfter(after), priority)
            }
            Action::Done | Action::Requeue { .. } => {
                self.counts.succeeded += 1;
                (Outcome::Forget, None)
            }
        }
    }

    fn fail(&mut self, request: &R, error: &ReconcileError) {
        self.counts.failed += 1;
        self.counts.terminal += u64::from(error.is_terminal());
        self.counts.panicked += u64::from(error.is_panic());
        self.counts.timed_out += u64::from(error.is_timeout());
        self.remember(request, Some(error.clone()));
    }

    fn remember(&mut self, request: &R, last: Option<ReconcileError>) {
        let in_a_row = self.failures.get(request).map_or(0, |it| it.in_a_row);
        let failure = Failure {
            in_a_row: in_a_row.saturating_add(1),
            last,
        };
        self.failures.insert(request.clone(), failure);
    }
}

impl<R> Drop for Shared<R> {
    fn drop(&mut self) {
        if let Some(metrics) = &self.metrics {
            metrics.gone();
        }
    }
}
