//! A work queue: each item at most once in it, never with two workers at once, now or later, at a limited rate.
//!
//! # What it is
//! client-go's `util/workqueue` and the merge rules of controller-runtime's priority queue, as one pure [`Machine`] with async and
//! blocking handles around it ([`Queue`]). Items are small values (keys); what there is to do about an item, the worker finds out.
//!
//! # What it is not
//! It knows nothing of Kubernetes, needs no async runtime, starts no task and no thread, keeps nothing on disk and promises no order
//! beyond its [`Order`].
//!
//! # The contract
//! 1. An item added twice before it is taken is handed out once.
//! 2. An item is never with two workers at once. Added while a worker has it, it is handed out again, once, after that worker is done.
//! 3. No add is lost: after each add the item is handed out by a take that begins later, or reported by [`WorkQueue::shut_down`].
//! 4. Of two delays for one item the earlier counts; an add without a delay does not wait for one. What becomes of the delayed copy then
//!    says [`DelayedCopy`].
//! 5. Memory is proportional to the distinct items that wait, run, or have failed and were not forgotten.
//! 6. A [`Lease`] that is dropped is done: a forgotten `Done` cannot be written, nor one done twice.
//!
//! # Example
//! ```
//! use informer_workqueue::{AddOptions, Outcome, Queue, Shutdown, ThreadClock, WorkQueue};
//!
//! let queue = Queue::new(ThreadClock);
//! queue.add("a", AddOptions::default());
//! queue.add("a", AddOptions::default());
//!
//! let lease = queue.take_blocking().expect("it is not shut down");
//! assert_eq!((*lease.item(), queue.len()), ("a", 0));
//! lease.finish(Outcome::Retry); // comes back after 5 ms, then 10, 20, …
//!
//! let lease = queue.take_blocking().expect("it is not shut down");
//! assert_eq!(lease.failures(), 1);
//! lease.finish(Outcome::Forget);
//!
//! queue.shut_down(Shutdown::Now);
//! assert!(queue.take_blocking().is_none());
//! ```
//!
//! # Cancel safety
//! Dropping the future of [`Queue::take`], [`Queue::drained`] or [`Queue::drain`] loses nothing: an item is moved out only when the future returns, and a
//! wake-up that a dropped future had received is passed on to the next worker.
//!
//! # Swap it
//! * The queue: implement [`WorkQueue`] (three methods and a length).
//! * The limit: implement [`RateLimiter`], or combine [`ItemExponential`], [`FastSlow`], [`Bucket`], [`MaxOf`], [`MaxWait`].
//! * The order: implement [`Order`], or take [`Fifo`] or [`Priority`].
//! * Time: any [`Clock`](informer_core::Clock); [`ThreadClock`] needs no runtime.
//! * Numbers: implement [`Metrics`].

mod clock;
mod config;
mod drain;
mod handle;
mod lease;
mod limiter;
mod machine;
mod metrics;
mod options;
mod order;
mod parallel;
mod sync;
mod work_queue;

#[cfg(all(test, loom))]
#[path = "../tests/loom/handle.rs"]
mod handle_under_loom;

pub use clock::ThreadClock;
pub use config::{Config, DelayedCopy};
pub use drain::Drained;
pub use handle::{Queue, Take};
pub use lease::{Holder, Lease};
pub use limiter::{
    Bucket, FastSlow, ItemExponential, MaxOf, MaxWait, RateLimiter, default_controller_limiter,
    default_item_limiter,
};
pub use machine::{Machine, Stats, Taken, Ticket};
pub use metrics::{Metrics, Probe};
pub use options::{AddOptions, Outcome, Shutdown};
pub use order::{Fifo, Order, Priority};
pub use parallel::parallelize;
pub use work_queue::{Item, WorkQueue, WorkQueueExt};
