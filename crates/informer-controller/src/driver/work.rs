//! One reconcile.

use std::{any::Any, sync::Arc};

use informer_core::{BoxFuture, Clock, ObjectKey};
use informer_workqueue::Lease;
use tokio::select;
use tracing::{Instrument, Span};

use crate::{Action, Attempt, ReconcileError, Reconciler, Request, contain::Contained, shared::Shared};

pub(super) async fn work<R: Request>(shared: Arc<Shared<R>>, lease: Lease<R>) {
    let attempt = shared.begin_attempt(&lease);
    let id = attempt.id;
    let since = shared.meter_begin();
    let _active = Active(&shared, id);
    let span = span(&shared, lease.item(), &attempt);
    async {
        let result = attempt_at(&shared, lease.item().clone(), attempt).await;
        log(&result);
        shared.end_attempt(lease, since, &result);
    }
    .instrument(span)
    .await;
}

/// What the log lines of a reconcile say of it, those of the reconciler among them (controller-runtime
/// `pkg/builder/controller.go`, `doController`). Of the highest level: no filter that lets a line of this crate pass drops it.
fn span<R: Request>(shared: &Shared<R>, request: &R, attempt: &Attempt) -> Span {
    let kind = shared.resource.as_ref();
    let key = (request as &dyn Any).downcast_ref::<ObjectKey>();
    let other = key.is_none().then(|| tracing::field::debug(request));
    tracing::error_span!(
        "reconcile",
        controller = &*shared.name,
        controllerGroup = kind.map(|kind| &*kind.group),
        controllerKind = kind.map(|kind| &*kind.kind),
        namespace = key.and_then(ObjectKey::namespace),
        name = key.map(ObjectKey::name),
        request = other,
        reconcileID = %attempt.reconcile_id,
        attempt = attempt.number,
    )
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

fn log(result: &Result<Action, ReconcileError>) {
    match result {
        Ok(action) => tracing::debug!(?action, "Reconciled"),
        Err(error) => {
            let terminal = error.is_terminal();
            tracing::error!(error = error.chain(), terminal, "Reconcile failed");
        }
    }
}
