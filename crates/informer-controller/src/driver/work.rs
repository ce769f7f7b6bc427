//! One reconcile.

use std::sync::Arc;

use informer_core::{BoxFuture, Clock};
use informer_workqueue::Lease;
use tokio::select;
use tracing::Instrument;

use crate::{Action, Attempt, ReconcileError, Reconciler, Request, contain::Contained, shared::Shared};

pub(super) async fn work<R: Request>(shared: Arc<Shared<R>>, lease: Lease<R>) {
    let attempt = shared.begin_attempt(&lease);
    let (id, number) = (attempt.id, attempt.number);
    let since = shared.meter_begin();
    let _active = Active(&shared, id);
    let span = tracing::debug_span!("reconcile", request = ?lease.item(), id, attempt = number);
    async {
        let result = attempt_at(&shared, lease.item().clone(), attempt).await;
        log(&result, number);
        shared.end_attempt(lease, since, &result);
    }
    .instrument(span)
    .await;
}

/// Sees to it that nothing counts as running that was dropped.
struct Active<'a, R: Request>(&'a Shared<R>, u64);

impl<R: Request> Drop for Active<'_, R> {
    fn drop(&mut self) {
        self.0.forget_attempt(self.1);
    }
}

async fn attempt_at<R: Request>(
    shared: &Shared<R>,
    request: R,
    attempt: Attempt,
) -> Result<Action, ReconcileError> {
    let deadline = attempt.deadline.zip(shared.options.timeout);
    let reconcile: BoxFuture<'_, _> = Box::pin(shared.reconciler.reconcile(request, attempt));
    let reconcile = if shared.options.recover_panics {
        let contained = Contained(reconcile);
        Box::pin(async move {
            let panicked = |message: String| Err(ReconcileError::panicked(&message));
            contained.await.unwrap_or_else(panicked)
        })
    } else {
        reconcile
    };
    let Some((at, timeout)) = deadline else {
        return reconcile.await;
    };
    select! {
        biased;
        result = reconcile => result,
        () = shared.clock.sleep_until(at) => Err(ReconcileError::timed_out(timeout)),
    }
}

fn log(result: &Result<Action, ReconcileError>, attempt: u32) {
    match result {
        Ok(action) => tracing::debug!(?action, "Reconciled"),
        Err(error) if error.is_panic() || error.is_terminal() => {
            tracing::error!(error = error.chain(), attempt, "Reconcile failed");
        }
        Err(error) => tracing::warn!(error = error.chain(), attempt, "Reconcile failed"),
    }
}
