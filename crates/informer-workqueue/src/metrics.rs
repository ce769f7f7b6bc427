//! The numbers of a queue, for whoever collects them.

use std::{fmt, sync::Arc, time::Duration};

use crate::Stats;

/// Is told what happens in a queue: the quantities of client-go's `workqueue_*` metrics. `()` ignores them all.
///
/// Called under the queue's lock: count and return. `unfinished_work_seconds` and `longest_running_processor_seconds` grow while nothing
/// happens, so they are asked for: at each look through the [`Probe`] that [`opened`](Self::opened) gives, instead of a task that
/// refreshes them.
///
/// A queue without one does no work for it.
pub trait Metrics: Send + Sync {
    /// The queue begins. Its probe answers what is in it for as long as it lives.
    fn opened(&self, _probe: Probe) {}

    /// So many items now wait to be handed out, those in work and added again among them (`workqueue_depth`).
    fn depth(&self, _depth: usize) {}

    /// So many of them now wait at this priority (controller-runtime's label `priority` of `workqueue_depth`). All that were told and are
    /// not zero add up to the depth.
    fn depth_at(&self, _priority: i32, _depth: usize) {}

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

impl<M: Metrics + ?Sized> Metrics for Arc<M> {
    fn opened(&self, probe: Probe) {
        (**self).opened(probe);
    }

    fn depth(&self, depth: usize) {
        (**self).depth(depth);
    }

    fn depth_at(&self, priority: i32, depth: usize) {
        (**self).depth_at(priority, depth);
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

/// Asks a queue what is in it, without keeping it alive. Clones ask the same queue.
///
/// It takes the queue's lock: ask outside of whatever lock the methods of [`Metrics`] take.
#[derive(Clone)]
pub struct Probe(Arc<dyn Fn() -> Option<Stats> + Send + Sync>);

impl Probe {
    /// The probe that asks this function.
    pub fn new(ask: impl Fn() -> Option<Stats> + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// What is in the queue; `None` once it is gone.
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        (self.0)()
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").finish_non_exhaustive()
    }
}
