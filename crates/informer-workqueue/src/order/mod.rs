//! In which order ready items are handed out.

mod fifo;
mod priority;

use std::time::Instant;

pub use fifo::Fifo;
pub use priority::Priority;

/// Holds the items that are ready and says which is next (client-go `workqueue.Queue`).
///
/// The queue never pushes an item that is in here, and touches only items that are. `now` never goes backward.
pub trait Order<T>: Send {
    /// An item is ready.
    fn push(&mut self, now: Instant, item: T, priority: i32);

    /// An item that is in here was added again; `priority` is the highest of all its adds.
    fn touch(&mut self, now: Instant, item: &T, priority: i32);

    /// Moves the next item out.
    fn pop(&mut self, now: Instant) -> Option<T>;

    /// Items in here.
    fn len(&self) -> usize;

    /// Whether none is.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
