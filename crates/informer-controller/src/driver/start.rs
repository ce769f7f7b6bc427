//! The sources of a controller that runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{select, sync::watch, task::JoinSet};

use super::run::{self, panicked};
use crate::{
    BoxError, Fault, Late, Request, RunError, Source, SourceContext, WatchId,
    contain::{Contained, contained},
    error::RunErrorKind,
    shared::Shared,
};

/// Dropping it ends what they run; what they registered, [`Shared::unwatch_all`] ends.
pub(super) struct Sources {
    /// Those that are not in sync, by the order in which they were added.
    waiting: BTreeMap<WatchId, Waiting>,
    /// Those that a controller which starts waits for, and that never will be.
    failed: BTreeSet<WatchId>,
    late: Late,
    runs: JoinSet<()>,
    changed: watch::Receiver<()>,
    /// The controller starts, and what it waits for must come.
    starting: bool,
}

struct Waiting {
    name: Arc<str>,
    synced: Contained<'static, Result<(), BoxError>>,
    optional: bool,
}

impl Sources {
    /// Starts them all.
    pub(super) fn start<R: Request>(shared: &Arc<Shared<R>>, late: Late) -> Result<Self, RunError> {
        let mut this = Self {
            waiting: BTreeMap::new(),
            failed: BTreeSet::new(),
            late,
            runs: JoinSet::new(),
            changed: shared.watches_changed.subscribe(),
            starting: true,
        };
        this.admit(shared)?;
        Ok(this)
    }

    /// Waits until all that must be are in sync.
    pub(super) async fn synced<R: Request>(&mut self, shared: &Arc<Shared<R>>) -> Result<(), RunError> {
        let limit = shared.options.sync_timeout;
        let over = || async move {
            match limit {
                Some(limit) => shared.sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let mut due = std::pin::pin!(over());
        while self.waiting.values().any(|it| !it.optional) || !self.failed.is_empty() {
            select! {
                biased;
                done = self.step(shared) => done?,
                () = &mut due => {
                    self.overdue(shared, limit.unwrap_or_default())?;
                    due.set(over());
                }
            }
        }
        shared.set_overdue(false);
        self.starting = false;
        Ok(())
    }

    /// They had their time.
    fn overdue<R: Request>(&self, shared: &Arc<Shared<R>>, limit: Duration) -> Result<(), RunError> {
        let culprits = shared.not_synced();
        if self.late == Late::Fail {
            let (names, why) = culprits.into_iter().unzip();
            return Err(shared.error(RunErrorKind::NotSynced(names, why, limit)));
        }
        shared.set_overdue(true);
        for (name, why) in culprits {
            shared.tell_source_error(name, Fault::Late(limit), why.map(Into::into));
        }
        Ok(())
    }

    /// Waits until something happens to a source, and deals with it: one comes, goes, is in sync, fails, or ends. Without an end while
    /// nothing does.
    ///
    /// # Errors
    /// When one fails that a controller which starts waits for.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(super) async fn step<R: Request>(&mut self, shared: &Arc<Shared<R>>) -> Result<(), RunError> {
        let ended = async {
            match self.runs.join_next().await {
                Some(ended) => ended,
                None => std::future::pending().await,
            }
        };
        select! {
            biased;
            // The sender lives as long as `shared`.
            _ = self.changed.changed() => return self.admit(shared),
            settled = poll_fn(|cx| poll_settled(&mut self.waiting, cx)) => return self.settle(shared, settled),
            // Panics of sources are contained in there.
            _ = ended => {}
        }
        Ok(())
    }

    /// Starts those that came, and lets go of those that went.
    fn admit<R: Request>(&mut self, shared: &Arc<Shared<R>>) -> Result<(), RunError> {
        while let Some((id, source)) = shared.next_new() {
            let name = source.name();
            let context = context(shared, &name);
            let started = contained(|| source.start(context));
            match started.unwrap_or_else(|panic| Err(panicked(&panic).into())) {
                Ok(started) => {
                    let (shared_too, named) = (shared.clone(), name.clone());
                    let keep = |run| self.runs.spawn(run::keep(shared_too, id, named, run));
                    let run = started.run.map(keep);
                    let waiting = Waiting {
                        name,
                        synced: Contained(started.synced),
                        optional: started.optional || !self.starting,
                    };
                    if shared.began(id, started.optional, started.trouble, started.on_stop, run) {
                        self.waiting.insert(id, waiting);
                    }
                }
                Err(error) => self.fail(shared, id, name, &*error, !self.starting)?,
            }
        }
        self.waiting.retain(|id, _| shared.is_watched(*id));
        self.failed.retain(|id| shared.is_watched(*id));
        Ok(())
    }

    fn settle<R: Request>(
        &mut self,
        shared: &Arc<Shared<R>>,
        (id, result): (WatchId, Result<(), BoxError>),
    ) -> Result<(), RunError> {
        let Some(Waiting { name, optional, .. }) = self.waiting.remove(&id) else {
            return Ok(());
        };
        match result {
            Ok(()) => {
                tracing::debug!(source = &*name, "In sync");
                shared.settled(id, Ok(()));
                Ok(())
            }
            Err(error) => self.fail(shared, id, name, &*error, optional),
        }
    }

    fn fail<R: Request>(
        &mut self,
        shared: &Arc<Shared<R>>,
        id: WatchId,
        name: Arc<str>,
        error: &(dyn std::error::Error + 'static),
        optional: bool,
    ) -> Result<(), RunError> {
        let why: Arc<str> = error.to_string().into();
        shared.settled(id, Err(why.clone()));
        if !optional && self.late == Late::Fail {
            return Err(shared.error(RunErrorKind::Source(name, (&*why).into())));
        }
        if !optional {
            self.failed.insert(id);
        }
        shared.tell_source_error(name, Fault::Failed, Some(why));
        Ok(())
    }
}

/// What a source is given. It holds nothing of the controller but the queue.
fn context<R: Request>(shared: &Arc<Shared<R>>, name: &Arc<str>) -> SourceContext<R> {
    let mut context = SourceContext::new(shared.queue.clone(), shared.clock.clone());
    let (weak, name) = (Arc::downgrade(shared), name.clone());
    context.report = Some(Arc::new(move |fault, why| {
        if let Some(shared) = weak.upgrade() {
            shared.tell_source_error(name.clone(), fault, Some(why));
        }
    }));
    context
}

fn poll_settled(
    waiting: &mut BTreeMap<WatchId, Waiting>,
    cx: &mut Context<'_>,
) -> Poll<(WatchId, Result<(), BoxError>)> {
    for (id, waiting) in waiting {
        if let Poll::Ready(result) = Pin::new(&mut waiting.synced).poll(cx) {
            let result = result.unwrap_or_else(|panic| Err(panicked(&panic).into()));
            return Poll::Ready((*id, result));
        }
    }
    Poll::Pending
}
