//! Runs a controller: sources, workers, and the end.

mod run;
mod start;
mod work;

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use informer_core::Clock;
use informer_workqueue::{Lease, Shutdown, WorkQueueExt};
use tokio::{
    select,
    task::{JoinError, JoinSet},
};
use tracing::Instrument;

use self::start::Sources;
use crate::{
    Late, Phase, Request, RunError,
    shared::{Options, Shared},
};

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
    elected: impl Future<Output = ()> + Send,
    late: Late,
) -> Result<Ended<R>, RunError> {
    let span = tracing::info_span!("controller", name = &*shared.name);
    let ending = Ending(shared.clone());
    let result = drive(&shared, elected, late).instrument(span).await;
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
    elected: impl Future<Output = ()> + Send,
    late: Late,
) -> Result<Ended<R>, RunError> {
    let Options {
        needs_leader_election,
        warm_up,
        ..
    } = shared.options;
    let mut elected = pin!(async {
        if needs_leader_election {
            elected.await;
        }
    });
    let mut workers = JoinSet::new();
    if !warm_up {
        select! {
            biased;
            () = elect(shared, elected.as_mut()) => {}
            // It never led: nothing of it starts.
            () = stopped(shared) => return Ok(drain(shared, workers).await),
        }
    }
    let mut sources = Sources::start(shared, shared.options.late.unwrap_or(late))?;
    shared.enter(Phase::Syncing);
    select! {
        biased;
        () = stopped(shared) => {}
        synced = sources.synced(shared) => {
            synced?;
            if warm_up {
                stand_by(shared, &mut sources, elected).await?;
            }
            dispatch(shared, &mut sources, &mut workers).await?;
        }
    }
    shared.unwatch_all();
    drop(sources);
    Ok(drain(shared, workers).await)
}

/// Waits to lead; says so only where that takes time.
async fn elect<R: Request>(shared: &Shared<R>, mut elected: Pin<&mut (impl Future<Output = ()> + Send)>) {
    let now = poll_fn(|cx| Poll::Ready(elected.as_mut().poll(cx))).await;
    if now.is_pending() {
        shared.enter(Phase::Standby);
        elected.await;
    }
}

/// Waits to lead while the sources bring requests. Also returns when the controller is stopped.
async fn stand_by<R: Request>(
    shared: &Arc<Shared<R>>,
    sources: &mut Sources,
    elected: Pin<&mut (impl Future<Output = ()> + Send)>,
) -> Result<(), RunError> {
    let mut elected = pin!(elect(shared, elected));
    let mut stopped = pin!(stopped(shared));
    loop {
        select! {
            biased;
            () = &mut stopped => return Ok(()),
            () = &mut elected => return Ok(()),
            stepped = sources.step(shared) => stepped?,
        }
    }
}

/// Hands requests to workers until the controller is stopped, or a queue of the user's ends.
async fn dispatch<R: Request>(
    shared: &Arc<Shared<R>>,
    sources: &mut Sources,
    workers: &mut JoinSet<()>,
) -> Result<(), RunError> {
    let mut stopped = pin!(stopped(shared));
    if !shared.life.borrow().stopped {
        shared.enter(Phase::Running);
        tracing::info!(workers = shared.options.concurrency, "Started");
    }
    loop {
        select! {
            biased;
            () = &mut stopped => return Ok(()),
            stepped = sources.step(shared) => stepped?,
            Some(ended) = workers.join_next() => report(shared, ended),
            lease = shared.queue.take(), if workers.len() < shared.options.concurrency => match lease {
                Some(lease) => spawn(shared, workers, lease),
                None => return Ok(()),
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
    let grace = shared.grace();
    if !within(shared, grace, all(shared, &mut workers)).await {
        cut = shared.running();
        tracing::warn!(?cut, ?grace, "Reconciles run on after the grace time: dropped");
        workers.abort_all();
        within(shared, CANCEL, all(shared, &mut workers)).await;
    }
    Ended { left, cut }
}

async fn all<R: Request>(shared: &Shared<R>, workers: &mut JoinSet<()>) {
    while let Some(ended) = workers.join_next().await {
        report(shared, ended);
    }
}

/// Workers contain the reconciler's panics, unless they were told not to. What is left is foreign code around it: a queue, a clock, the
/// end of a dropped reconcile.
///
/// # Panics
/// With the panic of a worker that was told not to contain it.
fn report<R: Request>(shared: &Shared<R>, ended: Result<(), JoinError>) {
    let Err(error) = ended else {
        return;
    };
    if error.is_panic() {
        tracing::error!(%error, "A worker panicked");
        if !shared.options.recover_panics {
            std::panic::resume_unwind(error.into_panic());
        }
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
    pub(super) async fn sleep(&self, limit: Duration) {
        match self.clock.now().checked_add(limit) {
            Some(at) => self.clock.sleep_until(at).await,
            None => std::future::pending().await,
        }
    }
}
