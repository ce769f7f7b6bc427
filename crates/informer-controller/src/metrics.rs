//! The numbers of a controller, for whoever collects them.

use std::{sync::Arc, time::Duration};

use crate::{Action, ReconcileError};

/// How a reconcile ended: the label `result` of `controller_runtime_reconcile_total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReconcileResult {
    /// [`Action::Done`](crate::Action::Done).
    Success,
    /// An error of any kind: also a panic, a timeout, and one that is not tried again.
    Error,
    /// [`Action::Requeue`](crate::Action::Requeue).
    Requeue,
    /// [`Action::RequeueAfter`](crate::Action::RequeueAfter).
    RequeueAfter,
}

impl ReconcileResult {
    /// All of them: for series that are to be there from the start.
    pub const ALL: [Self; 4] = [Self::Success, Self::Error, Self::Requeue, Self::RequeueAfter];

    /// What controller-runtime calls it: `success`, `error`, `requeue`, `requeue_after`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Requeue => "requeue",
            Self::RequeueAfter => "requeue_after",
        }
    }
}

/// Is told what happens in one controller: the quantities of controller-runtime's `controller_runtime_*` metrics. `()` ignores them all.
///
/// A controller without one reads no clock for it and calls nothing. Calls come from workers, several at once: count and return.
pub trait ReconcileMetrics: Send + Sync {
    /// So many reconciles at most run at the same time (`max_concurrent_reconciles`). Told once, when the controller is built.
    fn max_concurrent(&self, _workers: usize) {}

    /// A reconcile began (`active_workers` grows by one).
    fn began(&self) {}

    /// A reconcile ended, or was dropped at the end of the grace time (`active_workers` falls by one).
    fn ended(&self) {}

    /// A reconcile ended like this, after so long (`reconcile_total`, `reconcile_time_seconds`; of an error also
    /// `reconcile_errors_total`). Not told of one that was dropped.
    fn reconciled(&self, _result: ReconcileResult, _took: Duration) {}

    /// The error of a reconcile said that trying again is of no use (`terminal_reconcile_errors_total`).
    fn terminal_error(&self) {}

    /// A reconcile panicked (`reconcile_panics_total`).
    fn panicked(&self) {}

    /// The controller's own timeout was over (`reconcile_timeouts_total`). Not told when some other deadline was.
    fn timed_out(&self) {}

    /// The controller has ended and is gone: its series may be dropped.
    fn gone(&self) {}
}

impl ReconcileMetrics for () {}

impl<M: ReconcileMetrics + ?Sized> ReconcileMetrics for Arc<M> {
    fn max_concurrent(&self, workers: usize) {
        (**self).max_concurrent(workers);
    }

    fn began(&self) {
        (**self).began();
    }

    fn ended(&self) {
        (**self).ended();
    }

    fn reconciled(&self, result: ReconcileResult, took: Duration) {
        (**self).reconciled(result, took);
    }

    fn terminal_error(&self) {
        (**self).terminal_error();
    }

    fn panicked(&self) {
        (**self).panicked();
    }

    fn timed_out(&self) {
        (**self).timed_out();
    }

    fn gone(&self) {
        (**self).gone();
    }
}

/// Makes the metrics of each controller by its name: a registry of numbers, or a manager in front of one. Given to
/// [`Builder::metrics_from`](crate::Builder::metrics_from).
pub trait ReconcileMetricsProvider: Send + Sync {
    /// For the reconciles of the controller of this name (label `controller`).
    fn reconciles(&self, controller: &str) -> Arc<dyn ReconcileMetrics>;

    /// For the queue of the controller of this name (labels `name` and `controller`).
    fn queue(&self, controller: &str) -> Arc<dyn informer_workqueue::Metrics>;
}

impl<M: ReconcileMetricsProvider + ?Sized> ReconcileMetricsProvider for Arc<M> {
    fn reconciles(&self, controller: &str) -> Arc<dyn ReconcileMetrics> {
        (**self).reconciles(controller)
    }

    fn queue(&self, controller: &str) -> Arc<dyn informer_workqueue::Metrics> {
        (**self).queue(controller)
    }
}

/// Tells of an attempt that ended.
pub(crate) fn tell(metrics: &dyn ReconcileMetrics, took: Duration, result: &Result<Action, ReconcileError>) {
    let label = match result {
        Ok(Action::Done) => ReconcileResult::Success,
        Ok(Action::Requeue { .. }) => ReconcileResult::Requeue,
        Ok(Action::RequeueAfter { .. }) => ReconcileResult::RequeueAfter,
        Err(error) => {
            if error.is_terminal() {
                metrics.terminal_error();
            }
            if error.is_panic() {
                metrics.panicked();
            }
            if error.is_timeout() {
                metrics.timed_out();
            }
            ReconcileResult::Error
        }
    };
    metrics.reconciled(label, took);
}
