//! The sources of a controller that runs.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{select, task::JoinSet};

use crate::{Request, RunError, Source, Started, error::RunErrorKind, shared::Shared, source::OnStop};

/// Dropping it ends them all.
pub(super) struct Sources {
    /// Those that are not in sync.
    waiting: Vec<(Arc<str>, Started)>,
    on_stop: Vec<OnStop>,
    runs: JoinSet<()>,
}

impl Sources {
    /// Starts them all.
    pub(super) fn start<R: Request>(
        shared: &Arc<Shared<R>>,
        sources: Vec<Box<dyn Source<R>>>,
    ) -> Result<Self, RunError> {
        let mut this = Self {
            waiting: Vec::new(),
            on_stop: Vec::new(),
            runs: JoinSet::new(),
        };
        for source in sources {
            let name = source.name();
            match source.start(shared.queue.clone()) {
                Ok(mut started) => {
                    if let Some(run) = started.run.take() {
                        this.runs.spawn(run);
                    }
                    this.waiting.push((name, started));
                }
                Err(error) => {
                    return Err(shared.error(RunErrorKind::Source(name, error.to_string().into())));
                }
            }
        }
        shared.wait_for(this.names());
        Ok(this)
    }

    /// Waits until all are in sync.
    pub(super) async fn synced<R: Request>(&mut self, shared: &Shared<R>) -> Result<(), RunError> {
        let Some(limit) = shared.options.sync_timeout else {
            return poll_fn(|cx| self.poll_synced(shared, cx)).await;
        };
        select! {
            biased;
            done = poll_fn(|cx| self.poll_synced(shared, cx)) => done,
            () = shared.sleep(limit) => Err(shared.error(RunErrorKind::NotSynced(self.names(), limit))),
        }
    }

    fn poll_synced<R: Request>(
        &mut self,
        shared: &Shared<R>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), RunError>> {
        let before = self.waiting.len();
        let mut at = 0;
        while let Some((name, started)) = self.waiting.get_mut(at) {
            match started.synced.as_mut().poll(cx) {
                Poll::Pending => at += 1,
                Poll::Ready(Ok(())) => {
                    tracing::debug!(source = &**name, "In sync");
                    let (_, started) = self.waiting.remove(at);
                    self.on_stop.push(started.on_stop);
                }
                Poll::Ready(Err(error)) => {
                    let kind = RunErrorKind::Source(name.clone(), error.to_string().into());
                    return Poll::Ready(Err(shared.error(kind)));
                }
            }
        }
        if self.waiting.len() < before {
            shared.wait_for(self.names());
        }
        if self.waiting.is_empty() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    /// Returns when something that a source runs has ended; never while nothing runs.
    ///
    /// # Panics
    /// With the panic of a source.
    pub(super) async fn supervise(&mut self) {
        match self.runs.join_next().await {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
            None => std::future::pending().await,
        }
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.waiting.iter().map(|(name, _)| name.clone()).collect()
    }
}
