//! What is behind the informer's lock: the store's writer, the handlers, and what happens between the two.

use std::{mem, sync::Arc, time::Instant};

use informer_core::{Batch, Change, Delta, Key, StoreWriter};

use super::Queue;
use crate::{
    driver::{jobs::Job, mailbox::Mailbox},
    error::Trouble,
    metrics::Claim,
    resync::Resyncs,
    retry::{LastWord, Refused},
    source::Connected,
    status::{HandlerStatus, Refusal, Status},
};

pub(super) struct Hub<Q: Key, K> {
    writer: Box<dyn StoreWriter<Q, K>>,
    pub(super) members: Vec<Arc<Mailbox<Q, K>>>,
    pub(super) resyncs: Resyncs,
    /// Handlers that nobody calls yet.
    pub(super) jobs: Vec<(u64, Job)>,
    pub(super) source: Option<Connected>,
    /// Its name among those that are measured, until it stops.
    pub(super) claim: Option<Claim>,
    last_id: u64,
    pub(super) commit_failures: u64,
    pub(super) commit_error: Option<Arc<str>>,
    pub(super) refused: Refused<Q, K>,
    changes: Vec<Change<Q, K>>,
}

/// What a commit leaves to do.
pub(super) struct Committed<Q, K> {
    /// Goes back to the queue.
    back: Vec<Delta<Q, K>>,
    pub(super) trouble: Option<Trouble>,
    /// So many objects stay refused that the source is to list again.
    pub(super) relist: Option<usize>,
}

impl<Q: Key, K: Send + Sync + 'static> Hub<Q, K> {
    pub(super) fn new(
        writer: Box<dyn StoreWriter<Q, K>>,
        resyncs: Resyncs,
        source: Connected,
        claim: Option<Claim>,
        last_word: LastWord<Q>,
    ) -> Self {
        Self {
            writer,
            members: Vec::new(),
            resyncs,
            jobs: Vec::new(),
            source: Some(source),
            claim,
            last_id: 0,
            commit_failures: 0,
            commit_error: None,
            refused: Refused::new(last_word),
            changes: Vec::new(),
        }
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Forgets handlers that ended. A removed one whose call still runs is kept, so that a stop can name it.
    pub(super) fn prune(&mut self) {
        self.members.retain(|member| !member.has_ended());
    }

    /// The job of a handler that nobody calls yet.
    pub(super) fn take_job(&mut self, id: u64) -> Option<Job> {
        let at = self.jobs.iter().position(|(job, _)| *job == id)?;
        Some(self.jobs.remove(at).1)
    }

    /// To the store, to the handlers, and back to the queue what that is to hand out again.
    pub(super) fn process(
        &mut self,
        now: Instant,
        queue: &Queue<Q, K>,
        batch: &mut Batch<Q, K>,
    ) -> Committed<Q, K> {
        self.refused.supersede(batch);
        let resynced = batch.deltas.iter().any(|delta| matches!(delta, Delta::Resync));
        let mut committed = self.commit(now, batch);
        queue.settle(mem::take(&mut committed.back));
        self.resyncs.handle_progress(resynced, || queue.is_empty());
        committed
    }

    /// Tries once more what the store refused, if it is time.
    pub(super) fn retry(&mut self, now: Instant, batch: &mut Batch<Q, K>) -> Committed<Q, K> {
        self.refused.handle_timeout(now, batch);
        // A list that was refused is with the queue, not here, so nothing goes back.
        self.commit(now, batch)
    }

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

    /// The first objects that the store refuses.
    pub(super) fn refusals(&self) -> Vec<Refusal> {
        let refusals = self.refused.iter().take(Status::MOST_NAMED);
        let refusals = refusals.map(|(key, why)| Refusal {
            key: format!("{key:?}").into(),
            why: why.clone(),
        });
        refusals.collect()
    }

    pub(super) fn handlers(&self) -> Vec<HandlerStatus> {
        let alive = self.members.iter().filter(|member| !member.is_closed());
        let handlers = alive.map(|member| {
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
        handlers.collect()
    }
}
