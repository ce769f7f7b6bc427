//! What all handles of one informer share: the store's writer and the handlers under one lock, so that a late handler joins between two
//! commits, and the marks that others wait on.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use informer_core::{Batch, BoxClock, Change, Clock, Delta, DeltaQueue, Handle, Key, Store, StoreWriter};
use informer_store::Reader;
use tokio::sync::{Notify, watch};

use crate::{
    driver::{jobs::Job, mailbox::Mailbox, serve::Reporter},
    error::{RunError, RunErrorKind, Stopped, Trouble},
    options::HandlerOptions,
    resync::{Adjusted, Resyncs},
    retry::Refused,
    source::{Connected, Sink},
    status::{HandlerStatus, Phase, Refusal, SourceStatus, Status},
};

pub(crate) type Queue<Q, K> = Handle<Box<dyn DeltaQueue<Q, K>>, Q, K>;

pub(crate) struct Shared<Q: Key, K> {
    pub(crate) name: Arc<str>,
    pub(crate) store: Arc<dyn Store<Q, K>>,
    /// The same store, where it is ours.
    pub(crate) own: Option<Reader<Q, K>>,
    pub(crate) queue: Queue<Q, K>,
    pub(crate) clock: BoxClock,
    pub(crate) report: Reporter,
    pub(crate) life: watch::Sender<Life>,
    /// There are jobs to start.
    pub(crate) jobs: Notify,
    /// A handler that blocks the informer has room again.
    pub(crate) room: Arc<Notify>,
    source_status: Arc<dyn Fn() -> SourceStatus + Send + Sync>,
    relist: Arc<dyn Fn() + Send + Sync>,
    hub: Mutex<Hub<Q, K>>,
}

/// How far the informer is in its life.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Life {
    pub(crate) started: bool,
    pub(crate) synced: bool,
    pub(crate) stopped: bool,
    /// Nothing of its own runs any more.
    pub(crate) ended: bool,
}

struct Hub<Q: Key, K> {
    writer: Box<dyn StoreWriter<Q, K>>,
    members: Vec<Arc<Mailbox<Q, K>>>,
    resyncs: Resyncs,
    /// Handlers that nobody calls yet.
    jobs: Vec<(u64, Job)>,
    source: Option<Connected>,
    last_id: u64,
    commit_failures: u64,
    commit_error: Option<Arc<str>>,
    refused: Refused<Q, K>,
    changes: Vec<Change<Q, K>>,
}

/// What a commit leaves to do.
struct Committed<Q, K> {
    /// Goes back to the queue.
    back: Vec<Delta<Q, K>>,
    trouble: Option<Trouble>,
    /// So many objects stay refused that the source is to list again.
    relist: Option<usize>,
}

/// What a shared state is made of.
pub(crate) struct Parts<Q: Key, K> {
    pub(crate) name: Arc<str>,
    pub(crate) store: Arc<dyn Store<Q, K>>,
    pub(crate) own: Option<Reader<Q, K>>,
    pub(crate) writer: Box<dyn StoreWriter<Q, K>>,
    pub(crate) queue: Queue<Q, K>,
    pub(crate) clock: BoxClock,
    pub(crate) report: Reporter,
    pub(crate) resyncs: Resyncs,
    pub(crate) source: Connected,
}

impl<Q: Key, K: Send + Sync + 'static> Shared<Q, K> {
    pub(crate) fn new(parts: Parts<Q, K>) -> Self {
        Self {
            name: parts.name,
            store: parts.store,
            own: parts.own,
            queue: parts.queue,
            clock: parts.clock,
            report: parts.report,
            life: watch::Sender::default(),
            jobs: Notify::new(),
            room: Arc::new(Notify::new()),
            source_status: parts.source.status.clone(),
            relist: parts.source.relist.clone(),
            hub: Mutex::new(Hub {
                writer: parts.writer,
                members: Vec::new(),
                resyncs: parts.resyncs,
                jobs: Vec::new(),
                source: Some(parts.source),
                last_id: 0,
                commit_failures: 0,
                commit_error: None,
                refused: Refused::new(),
                changes: Vec::new(),
            }),
        }
    }

    /// Begins the one run.
    pub(crate) fn begin(&self) -> Result<Connected, RunError> {
        let refused = |kind| RunError {
            name: self.name.clone(),
            kind,
        };
        let mut hub = self.lock();
        let life = *self.life.borrow();
        if life.started {
            return Err(refused(RunErrorKind::Running));
        }
        let source = hub.source.take().filter(|_| !life.stopped);
        let source = source.ok_or_else(|| refused(RunErrorKind::Stopped))?;
        self.life.send_modify(|life| life.started = true);
        Ok(source)
    }

    /// Adds a handler. Between two commits, so that what it is told of the store and what follows join without gap or double.
    pub(crate) fn add(
        &self,
        options: HandlerOptions,
        job: impl FnOnce(Arc<Mailbox<Q, K>>) -> Option<Job>,
    ) -> Result<Arc<Mailbox<Q, K>>, Stopped> {
        let mut hub = self.lock();
        let life = *self.life.borrow();
        if life.stopped {
            return Err(Stopped {
                name: self.name.clone(),
            });
        }
        hub.last_id += 1;
        let id = hub.last_id;
        let name = options.name.unwrap_or_else(|| format!("handler {id}").into());
        let store = life.started.then(|| self.store.snapshot());
        let adjusted = hub.resyncs.add(self.clock.now(), id, options.resync);
        let room = self.room.clone();
        let mailbox = Arc::new(Mailbox::new(id, name, options.backlog, store, life.synced, room));
        hub.prune();
        hub.members.push(mailbox.clone());
        hub.jobs.extend(job(mailbox.clone()).map(|job| (id, job)));
        drop(hub);
        self.jobs.notify_one();
        self.log_resync(&mailbox.name, adjusted);
        Ok(mailbox)
    }

    fn log_resync(&self, handler: &str, adjusted: Option<Adjusted>) {
        let informer = &*self.name;
        match adjusted {
            None => {}
            Some(Adjusted::Disabled) => {
                tracing::warn!(
                    informer,
                    handler,
                    "The informer does not resync, so the handler is not resynced"
                );
            }
            Some(Adjusted::Raised(to)) => {
                tracing::warn!(
                    informer,
                    handler,
                    ?to,
                    "The handler's resync period is shorter than allowed"
                );
            }
        }
    }

    /// Takes a handler out. No call of it begins any more.
    pub(crate) fn remove(&self, mailbox: &Mailbox<Q, K>) {
        mailbox.close();
        let mut hub = self.lock();
        hub.resyncs.remove(mailbox.id);
        let at = hub.jobs.iter().position(|(id, _)| *id == mailbox.id);
        let job = at.map(|at| hub.jobs.remove(at));
        drop(hub);
        // The handler goes with it, and its `drop` is foreign code.
        drop(job);
    }

    /// Handlers that nobody calls yet.
    pub(crate) fn take_jobs(&self) -> Vec<(u64, Job)> {
        mem::take(&mut self.lock().jobs)
    }

    /// Whether the pump may read on.
    pub(crate) fn has_room(&self) -> bool {
        self.lock().members.iter().all(|member| member.has_room())
    }

    /// Applies a batch that the queue handed out.
    pub(crate) fn process(&self, batch: &mut Batch<Q, K>) {
        let committed = {
            let mut hub = self.lock();
            hub.refused.supersede(batch);
            let mut committed = hub.commit(self.clock.now(), batch);
            self.queue.settle(mem::take(&mut committed.back));
            if !self.life.borrow().synced && self.queue.has_synced() {
                self.source_synced(&mut hub);
            }
            committed
        };
        self.follow_up(committed);
    }

    /// Tries once more what the store refused, if it is time.
    pub(crate) fn retry(&self, batch: &mut Batch<Q, K>) {
        let now = self.clock.now();
        let committed = {
            let mut hub = self.lock();
            hub.refused.handle_timeout(now, batch);
            hub.commit(now, batch)
        };
        self.follow_up(committed);
    }

    /// What a commit leaves to do where no lock is held.
    fn follow_up(&self, committed: Committed<Q, K>) {
        if let Some(trouble) = committed.trouble {
            (self.report)(trouble);
        }
        if let Some(refused) = committed.relist {
            (self.report)(Trouble::Relist { refused });
            (self.relist)();
        }
    }

    /// When to retry, and whether nothing may pass what was refused.
    pub(crate) fn next_retry(&self) -> (Option<Instant>, bool) {
        let hub = self.lock();
        (hub.refused.poll_timeout(), hub.refused.is_blocked())
    }

    fn source_synced(&self, hub: &mut Hub<Q, K>) {
        hub.members.iter().for_each(|member| member.source_synced());
        hub.resyncs.start(self.clock.now());
        self.life.send_modify(|life| life.synced = true);
        tracing::info!(informer = &*self.name, objects = self.store.len(), "Synced");
    }

    /// When the resync schedule is next of use.
    pub(crate) fn next_resync(&self) -> Option<Instant> {
        self.lock().resyncs.poll_timeout()
    }

    /// Repeats the cached state if a handler is due.
    pub(crate) fn resync(&self, sink: &mut Sink<Q, K>) {
        let due = self.lock().resyncs.handle_timeout(self.clock.now());
        if due {
            informer_core::DeltaSink::push(sink, Delta::Resync);
        }
    }

    /// Stops: no call of a handler begins any more, and the run ends.
    pub(crate) fn stop(&self) {
        let mut hub = self.lock();
        hub.members.iter().for_each(|member| member.close());
        let jobs = mem::take(&mut hub.jobs);
        let source = hub.source.take();
        self.life.send_modify(|life| {
            life.stopped = true;
            // A run that never began has ended.
            life.ended |= !life.started;
        });
        drop(hub);
        self.queue.close();
        drop((jobs, source));
    }

    /// The run has ended, by itself or by being dropped.
    pub(crate) fn end(&self) {
        self.stop();
        self.life.send_modify(|life| life.ended = true);
    }

    /// Those who were handlers at the end.
    pub(crate) fn members(&self) -> Vec<Arc<Mailbox<Q, K>>> {
        self.lock().members.clone()
    }

    pub(crate) fn status(&self) -> Status {
        let life = *self.life.borrow();
        let snapshot = self.store.snapshot();
        let hub = self.lock();
        let handlers = hub
            .members
            .iter()
            .filter(|member| !member.is_closed())
            .map(|member| {
                let progress = member.progress();
                HandlerStatus {
                    name: member.name.clone(),
                    synced: progress.synced,
                    backlog: progress.backlog,
                    delivered: progress.delivered,
                    merged: progress.merged,
                    panics: progress.panics,
                    calling: progress.calling,
                }
            });
        Status {
            name: self.name.clone(),
            phase: life.phase(),
            synced: life.synced,
            healthy: hub.refused.is_empty(),
            refused: hub.refused.len(),
            refusals: hub.refusals(),
            objects: self.store.len(),
            queued: self.queue.len(),
            applied: snapshot.applied().clone(),
            commit_failures: hub.commit_failures,
            last_commit_error: hub.commit_error.clone(),
            handlers: handlers.collect(),
            source: (self.source_status)(),
        }
    }

    pub(crate) fn source_status(&self) -> SourceStatus {
        (self.source_status)()
    }

    /// A panic under the lock comes from a store's writer or an index function: the members are as whole as before.
    fn lock(&self) -> MutexGuard<'_, Hub<Q, K>> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q: Key, K: Send + Sync + 'static> Hub<Q, K> {
    /// Forgets handlers that ended. A removed one whose call still runs is kept, so that a stop can name it.
    fn prune(&mut self) {
        self.members.retain(|member| !member.has_ended());
    }

    /// To the store, then to the handlers.
    fn commit(&mut self, now: Instant, batch: &mut Batch<Q, K>) -> Committed<Q, K> {
        let result = self.writer.commit(batch, &mut self.changes);
        self.distribute();
        let failed = mem::take(&mut batch.deltas);
        let n_failed = failed.len();
        let refusal = self.refused.refuse(now, failed, result.as_ref().err());
        let trouble = result.err().map(|error| {
            let error: Arc<str> = error.to_string().into();
            self.commit_failures += 1;
            self.commit_error = Some(error.clone());
            Trouble::Commit {
                failed: n_failed,
                error,
            }
        });
        Committed {
            back: refusal.back,
            trouble,
            relist: refusal.relist.then(|| self.refused.len()),
        }
    }

    fn refusals(&self) -> Vec<Refusal> {
        let refusals = self.refused.iter().take(Status::MOST_NAMED);
        let refusals = refusals.map(|(key, why)| Refusal {
            key: format!("{key:?}").into(),
            why: why.clone(),
        });
        refusals.collect()
    }

    /// Tells each handler what changed; a repetition of the state only those that are due.
    fn distribute(&mut self) {
        self.prune();
        if self.changes.is_empty() {
            return;
        }
        for member in &self.members {
            let due = self.resyncs.is_due(member.id);
            let for_it = |change: &&Change<Q, K>| due || !matches!(change, Change::Resynced { .. });
            member.offer(self.changes.iter().filter(for_it).cloned());
        }
        self.changes.clear();
    }
}

impl Life {
    fn phase(self) -> Phase {
        match self {
            Self { stopped: true, .. } => Phase::Stopped,
            Self { started: false, .. } => Phase::Idle,
            Self { synced: false, .. } => Phase::Syncing,
            _ => Phase::Synced,
        }
    }
}
