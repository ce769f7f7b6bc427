//! Runs a controller: sources, workers, and the end.

mod contain;
mod start;
mod work;

use std::{sync::Arc, time::Duration};

use informer_core::Clock;
use informer_workqueue::{Lease, Shutdown, WorkQueueExt};
use tokio::{
    select,
    task::{JoinError, JoinSet},
};
use tracing::Instrument;

use self::start::Sources;
use crate::{Phase, Request, RunError, Source, shared::Shared};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended<R> {
    /// Requests that waited, for a worker or for their time, and were not reconciled.
    pub left: Vec<R>,
    /// Requests whose reconcile was dropped when the grace time was over.
    pub cut: Vec<R>,
}

impl<R> Default for Ended<R> {
    fn default() -> Self {
        Self {
            left: Vec::new(),
            cut: Vec::new(),
        }
    }
}

/// How long reconciles have, once they are cancelled, to reach the point where that can happen. One that blocks its thread does not; it is
/// named and not waited for.
const CANCEL: Duration = Duration::from_millis(100);

pub(crate) async fn run<R: Request>(
    shared: Arc<Shared<R>>,
    sources: Vec<Box<dyn Source<R>>>,
) -> Result<Ended<R>, RunError> {
    let span = tracing::info_span!("controller", name = &*shared.name);
    let ending = Ending(shared.clone());
    let result = drive(&shared, sources).instrument(span).await;
    drop(ending);
    result
}

/// Sees to it that nothing is taken from the queue any more, also when the driver is dropped.
struct Ending<R: Request>(Arc<Shared<R>>);

impl<R: Request> Drop for Ending<R> {
    fn drop(&mut self) {
        self.0.end();
    }
}

async fn drive<R: Request>(
    shared: &Arc<Shared<R>>,
    sources: Vec<Box<dyn Source<R>>>,
) -> Result<Ended<R>, RunError> {
    let mut sources = Sources::start(shared, sources)?;
    let mut workers = JoinSet::new();
    select! {
        biased;
        () = stopped(shared) => {}
        synced = sources.synced(shared) => {
            synced?;
            shared.enter(Phase::Running);
            tracing::info!(workers = shared.options.concurrency, "Started");
            dispatch(shared, &mut sources, &mut workers).await;
        }
    }
    drop(sources);
    Ok(drain(shared, workers).await)
}

/// Hands requests to workers until the controller is stopped, or a queue of the user's ends.
async fn dispatch<R: Request>(shared: &Arc<Shared<R>>, sources: &mut Sources, workers: &mut JoinSet<()>) {
    let mut stopped = std::pin::pin!(stopped(shared));
    loop {
        select! {
            biased;
            () = &mut stopped => return,
            () = sources.supervise() => {}
            Some(ended) = workers.join_next() => report(ended),
            lease = shared.queue.take(), if workers.len() < shared.options.concurrency => match lease {
                Some(lease) => spawn(shared, workers, lease),
                None => return,
            },
        }
    }
}

fn spawn<R: Request>(shared: &Arc<Shared<R>>, workers: &mut JoinSet<()>, lease: Lease<R>) {
    workers.spawn(work::work(shared.clone(), lease).in_current_span());
}

/// Reports what waits, lets finish what runs, and cuts what takes too long.
async fn drain<R: Request>(shared: &Arc<Shared<R>>, mut workers: JoinSet<()>) -> Ended<R> {
    shared.enter(Phase::Draining);
    let left = shared.queue.shut_down(Shutdown::Drain { queued: false });
    tracing::info!(running = workers.len(), left = left.len(), "Stopping");
    let mut cut = Vec::new();
    if !within(shared, shared.options.grace, all(&mut workers)).await {
        cut = shared.running();
        tracing::warn!(?cut, grace = ?shared.options.grace, "Reconciles run on after the grace time: dropped");
        workers.abort_all();
        within(shared, CANCEL, all(&mut workers)).await;
    }
    Ended { left, cut }
}

async fn all(workers: &mut JoinSet<()>) {
    while let Some(ended) = workers.join_next().await {
        report(ended);
    }
}

/// Workers contain the reconciler's panics. What is left is foreign code around it: a queue, a clock, the end of a dropped reconcile.
fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "A worker panicked");
    }
}

/// Whether the future ended within this time.
async fn within<R: Request>(shared: &Shared<R>, limit: Duration, future: impl Future<Output = ()>) -> bool {
    select! {
        biased;
        () = future => true,
        () = shared.sleep(limit) => false,
    }
}

async fn stopped<R: Request>(shared: &Shared<R>) {
    // The sender lives as long as `shared`.
    let _ = shared.life.subscribe().wait_for(|life| life.stopped).await;
}

impl<R: Request> Shared<R> {
    /// Waits for so long; without end if the clock cannot say when that is.
    async fn sleep(&self, limit: Duration) {
        match self.clock.now().checked_add(limit) {
            Some(at) => self.clock.sleep_until(at).await,
            None => std::future::pending().await,
        }
    }
}
