//! An item in hand.

use std::{fmt, ops::Deref, sync::Arc};

use crate::{Outcome, Ticket};

/// Who takes a lease back: a queue.
pub trait Holder<T>: Send + Sync {
    /// The work under `ticket` ended. If it is added again, then at `priority`.
    ///
    /// Called at most once for each lease; a ticket that is unknown changes nothing.
    fn release(&self, ticket: Ticket, priority: i32, outcome: Outcome);
}

/// An item in the hands of a worker. As long as it lives nobody else is given the item.
///
/// [`finish`](Self::finish) says how the work ended; dropping it is [`Outcome::Done`].
#[must_use = "dropping a lease ends the work on its item"]
pub struct Lease<T> {
    item: T,
    ticket: Ticket,
    priority: i32,
    failures: u32,
    /// `None` once it is finished.
    holder: Option<Arc<dyn Holder<T>>>,
}

impl<T> Lease<T> {
    /// A lease that `holder` gives out.
    pub fn new(item: T, ticket: Ticket, priority: i32, failures: u32, holder: Arc<dyn Holder<T>>) -> Self {
        Self {
            item,
            ticket,
            priority,
            failures,
            holder: Some(holder),
        }
    }

    /// The item.
    #[must_use]
    pub fn item(&self) -> &T {
        &self.item
    }

    /// The priority it was handed out at.
    #[must_use]
    pub fn priority(&self) -> i32 {
        self.priority
    }

    /// How often it failed in a row, as far as the limiter counts.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// The same, to be added again at another priority.
    pub fn again_at(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// The work ended.
    pub fn finish(mut self, outcome: Outcome) {
        self.release(outcome);
    }

    fn release(&mut self, outcome: Outcome) {
        if let Some(holder) = self.holder.take() {
            holder.release(self.ticket, self.priority, outcome);
        }
    }
}

impl<T> Deref for Lease<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.item
    }
}

impl<T> Drop for Lease<T> {
    fn drop(&mut self) {
        self.release(Outcome::Done);
    }
}

impl<T: fmt::Debug> fmt::Debug for Lease<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("item", &self.item)
            .field("priority", &self.priority)
            .field("failures", &self.failures)
            .finish_non_exhaustive()
    }
}
