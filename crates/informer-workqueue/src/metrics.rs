//! The numbers of a queue, for whoever collects them.

use std::time::Duration;

/// Is told what happens in a queue: the quantities of client-go's `workqueue_*` metrics. `()` ignores them all.
///
/// Called under the queue's lock: count and return. `unfinished_work_seconds` and `longest_running_processor_seconds` are asked for
/// instead, through [`Queue::stats`](crate::Queue::stats), so that no task has to refresh them.
pub trait Metrics: Send + Sync {
    /// So many items now wait to be handed out, those in work and added again among them (`workqueue_depth`).
    fn depth(&self, _depth: usize) {}

    /// An item that did not wait yet was added (`workqueue_adds_total`).
    fn added(&self) {}

    /// An item was handed out, so long after it became ready (`workqueue_queue_duration_seconds`).
    fn taken(&self, _waited_for: Duration) {}

    /// The work on an item ended, after so long (`workqueue_work_duration_seconds`).
    fn finished(&self, _worked_for: Duration) {}

    /// An item was added with a delay or a rate limit, even if that came to nothing (`workqueue_retries_total`).
    fn retried(&self) {}
}

impl Metrics for () {}

impl<M: Metrics + ?Sized> Metrics for std::sync::Arc<M> {
    fn depth(&self, depth: usize) {
        (**self).depth(depth);
    }

    fn added(&self) {
        (**self).added();
    }

    fn taken(&self, waited_for: Duration) {
        (**self).taken(waited_for);
    }

    fn finished(&self, worked_for: Duration) {
        (**self).finished(worked_for);
    }

    fn retried(&self) {
        (**self).retried();
    }
}
