//! Queues of deltas, between a source and the store that follows it: in order, and coalescing per key.
//!
//! # What it is
//! Two queues behind one contract, [`DeltaQueue`](informer_core::DeltaQueue).
//!
//! | | [`InOrder`] | [`Coalescing`], [`DeltaFifo`] |
//! |---|---|---|
//! | is client-go's | `RealFIFO`, the queue of its informers since 1.33 | `DeltaFIFO`, that of those before |
//! | order | that of arrival, across keys too | of each key; none across keys |
//! | a list | one delta; the store takes the difference | a delta per object, and one per known key that is gone |
//! | knows the store | no | yes |
//! | a delete of an unknown key | is handed out | is dropped |
//! | merges | nothing | deletes in a row |
//! | a resync | one delta | a `Sync` delta per known key about which nothing waits |
//! | the versions of a batch say how far it is | yes | no, but its bookmarks do |
//!
//! [`DeltaFifo`] is the second on its own terms, all deltas of one key at a time; [`Coalescing`] puts it behind the contract.
//!
//! # What it is not
//! The queues are passive: no lock, no waker, no thread, no clock. [`Handle`](informer_core::Handle) shares one between a producer and a
//! consumer, async or blocking. They hold no state of objects beyond what waits; that is the store's part.
//!
//! # The contract
//! 1. Per key, deltas are handed out in the order in which they were pushed, and none is lost but where the table says so.
//! 2. The keys of a batch are pairwise distinct. `Replace`, `Resync` and `Bookmark` come alone.
//! 3. What belongs to the initial list and what came later never share a batch, and the batch says which it is.
//! 4. One consumer pops a batch, processes it, and settles it before the next. Synced is what was settled, not what was popped.
//! 5. A delta that failed is handed out again unless something later of its key waits. It counts as processed: one bad object keeps no
//!    informer unsynced.
//! 6. A list that arrives while a batch is being processed is judged by where that batch leads.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//!
//! use informer_core::{Batch, Cause, Delta, DeltaQueue, DeltaSink, Entry, Stamp};
//! use informer_deltafifo::{InOrder, Options};
//!
//! let pod = |key: &'static str, version: &str| Entry::new(key, Stamp::new(version, ""), Arc::new(()));
//! let mut queue = InOrder::new(Options::default());
//! queue.push(Delta::Replace {
//!     items: vec![pod("a", "1"), pod("b", "2")],
//!     unreadable: Vec::new(),
//!     at: "2".into(),
//!     may_rewind: false,
//! });
//! queue.push(Delta::Upsert(pod("a", "3"), Cause::Modified));
//!
//! let mut batch = Batch::default();
//! assert_eq!(queue.pop_into(&mut batch, 1000), 1);
//! assert!(batch.initial && !queue.has_synced());
//!
//! // Processed: all of it worked.
//! queue.settle(Vec::new());
//! assert!(queue.has_synced());
//!
//! batch.deltas.clear();
//! assert_eq!(queue.pop_into(&mut batch, 1000), 1);
//! assert!(!batch.initial);
//! ```
//!
//! # Swap it
//! Whoever uses a queue does so through [`DeltaQueue`](informer_core::DeltaQueue), and takes any other implementation. Run the suite
//! `conformance::delta_queue` of `informer-testkit` on yours.

mod coalescing;
mod delta_fifo;
mod deltas;
mod in_order;
mod options;

pub use coalescing::Coalescing;
pub use delta_fifo::{DeltaFifo, Popped};
pub use deltas::{DeltaKind, Deltas, IntoIter};
pub use in_order::InOrder;
pub use options::Options;
