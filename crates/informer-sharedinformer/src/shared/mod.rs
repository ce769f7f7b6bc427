//! What all handles of one informer share: the store's writer and the handlers under one lock, so that a late handler joins between two
//! commits, and the marks that others wait on.

mod hub;

use std::{
    any::Any,
    error::Error,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use informer_core::{
    Batch, BoxClock, Change, Clock, Delta, DeltaQueue, Handle, IndexFunc, Key, Store, StoreWriter,
};
use informer_store::Reader;
use tokio::sync::{Notify, watch};

use self::hub::{Committed, Hub};
use crate::{
    driver::{jobs::Job, mailbox::Mailbox, serve::Reporter},
    error::{BuildError, RunError, RunErrorKind, Stopped, Trouble},
    metrics::{Claim, Meter},
    options::HandlerOptions,
    resync::{Adjusted, Resyncs},
    retry::LastWord,
    source::{Connected, Sink},
    status::{Phase, SourceStatus, Status},
};

pub(crate) type Queue<Q, K> = Handle<Box<dyn DeltaQueue<Q, K>>, Q, K>;

pub(crate) struct Shared<Q: Key, K> {
    pub(crate) name: Arc<str>,
    pub(crate) store: Arc<dyn Store<Q, K>>,
    /// The same store, where it is ours.
    own: Option<Reader<Q, K>>,
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
    meter: Option<Meter>,
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
    pub(crate) last_word: LastWord<Q>,
    pub(crate) measured: Option<(Meter, Claim)>,
}

impl<Q: Key, K: Send + Sync + 'static> Shared<Q, K> {
    pub(crate) fn new(parts: Parts<Q, K>) -> Self {
        let (meter, claim) = parts.measured.unzip();
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
            meter,
            hub: Mutex::new(Hub::new(
                parts.writer,
                parts.resyncs,
                parts.source,
                claim,
                parts.last_word,
            )),
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
            return Err(self.stopped());
        }
        let id = hub.next_id();
        let name = options.name.unwrap_or_else(|| format!("handler {id}").into());
        let store = life.started.then(|| self.store.snapshot());
        let adjusted = hub.resyncs.add(self.clock.now(), id, options.resync);
        let mailbox = Mailbox::new(id, name, options.backlog, store, life.synced)
            .with_room(self.room.clone())
            .measured(self.meter.clone());
        let mailbox = Arc::new(mailbox);
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
        let job = hub.take_job(mailbox.id);
        drop(hub);
        // The handler goes with it, and its `drop` is foreign code.
        drop(job);
    }

    /// Takes a handler out, and tells it before that every object is gone, as far as it was told that they are there. `keep` lives until
    /// the handler has heard all of it.
    pub(crate) fn dismiss(&self, mailbox: &Mailbox<Q, K>, keep: Box<dyn Any + Send>) {
        let mut hub = self.lock();
        hub.resyncs.remove(mailbox.id);
        if let Some(job) = hub.take_job(mailbox.id) {
            // It was told nothing yet.
            drop(hub);
            mailbox.close();
            drop((job, keep));
            return;
        }
        let all = self.store.list();
        let removed = all.into_iter().map(|last| Change::Removed {
            last,
            observed: false,
        });
        let keep = mailbox.dismiss(removed, keep);
        drop(hub);
        // It lets go of an informer, maybe of this one.
        drop(keep);
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
        let began = self.meter.as_ref().map(|meter| (meter.now(), batch.deltas.len()));
        let committed = {
            let mut hub = self.lock();
            let committed = hub.process(self.clock.now(), &self.queue, batch);
            if !self.life.borrow().synced && self.queue.has_synced() {
                self.source_synced(&mut hub);
            }
            self.measure(&hub, began);
            committed
        };
        self.follow_up(committed);
    }

    /// Tries once more what the store refused, if it is time.
    pub(crate) fn retry(&self, batch: &mut Batch<Q, K>) {
        let committed = {
            let mut hub = self.lock();
            let committed = hub.retry(self.clock.now(), batch);
            self.measure(&hub, None);
            committed
        };
        self.follow_up(committed);
    }

    /// Under the lock, so that what is told last is how it is.
    fn measure(&self, hub: &Hub<Q, K>, began: Option<(Instant, usize)>) {
        let Some(meter) = &self.meter else { return };
        if let Some((began, deltas)) = began {
            meter.processed(deltas, meter.now().saturating_duration_since(began));
        }
        meter.queued(self.queue.len());
        meter.stored(self.store.len(), self.store.snapshot().applied());
        meter.refused(hub.refused.len());
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
            self.lock()
                .resyncs
                .handle_progress(false, || self.queue.is_empty());
        }
    }

    /// Stops: no call of a handler begins any more, and the run ends.
    pub(crate) fn stop(&self) {
        let mut hub = self.lock();
        hub.members.iter().for_each(|member| member.close());
        let jobs = mem::take(&mut hub.jobs);
        let source = hub.source.take();
        let claim = hub.claim.take();
        self.life.send_modify(|life| {
            life.stopped = true;
            // A run that never began has ended.
            life.ended |= !life.started;
        });
        drop(hub);
        self.queue.close();
        if let (Some(meter), true) = (&self.meter, claim.is_some()) {
            meter.stopped();
        }
        drop((jobs, source, claim));
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

    pub(crate) fn add_index(
        &self,
        name: Arc<str>,
        function: impl IndexFunc<K> + 'static,
    ) -> Result<(), BuildError> {
        let refuse = |why: String| BuildError::new(format!("informer {:?}: {why}", self.name));
        match &self.own {
            Some(reader) => reader.add_index(name, function).map_err(|error| {
                let cause = error
                    .source()
                    .map_or_else(String::new, |cause| format!(": {cause}"));
                refuse(format!("{error}{cause}"))
            }),
            None => Err(refuse("a store of your own brings its own indices".to_owned())),
        }
    }

    /// Tells this informer from every other one.
    pub(crate) fn token(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn stopped(&self) -> Stopped {
        Stopped {
            name: self.name.clone(),
        }
    }

    pub(crate) fn status(&self) -> Status {
        let life = *self.life.borrow();
        let snapshot = self.store.snapshot();
        let hub = self.lock();
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
            handlers: hub.handlers(),
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
