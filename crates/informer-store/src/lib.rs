//! An indexed cache of objects: one writer, any number of readers, and every read from one point in time.
//!
//! # What it is
//! [`indexed`] makes an empty store and returns its two sides. The [`Writer`] is exclusive: it takes batches of
//! [`Delta`](informer_core::Delta)s, makes the next state aside, and swaps it in whole. A [`Reader`] is cheap to clone; it answers from
//! the state at the moment of the call, and hands out that state as a [`View`] that stays as it is however long it is held. No reader
//! ever waits for the writer, nor makes it wait.
//!
//! # What it is not
//! It is no queue, knows no API server and no codec, puts no bound on the type of its objects, and needs no async runtime. It calls no
//! handlers: a commit returns what changed, and telling it on is the caller's part.
//!
//! # The contract
//! 1. A view is one commit's result, indices and applied version included. Nobody sees half a batch, and a relist never shows a part.
//! 2. Entries are ordered by key (an [`ObjectKey`](informer_core::ObjectKey) by namespace, then name), under an index value as well.
//! 3. An object is shared, never copied: what went in is what is read, and what changes carry.
//! 4. Store and indices agree, also when an index function fails or panics.
//! 5. An index value without objects is not there: nothing remains of it.
//! 6. Changes of a key form a gapless chain: `Added`, `Updated` whose `old` is the previous `new`, `Removed`.
//!
//! # What a commit does
//!
//! | delta | stored | done and told |
//! |---|---|---|
//! | `Upsert` | nothing | stored; `Added`, initial if the batch is |
//! | | same uid, same version | no longer stale; silent |
//! | | same uid, other version | stored; `Updated` |
//! | | other uid | stored; `Removed`, not observed, then `Added` |
//! | `Upsert` by `Sync` | anything | nothing; `Resynced` with what is stored, silent if nothing is |
//! | `Delete` | nothing | silent |
//! | | same uid | taken out; `Removed` with the delta's last state, or else the stored one |
//! | | other uid | taken out; `Removed` with the stored state, not observed |
//! | `Unreadable` | nothing | kept as unreadable until it can be read or is gone ([`View::unreadable`]); silent |
//! | | something | stale; silent |
//! | `Replace` | | `Removed`, not observed, for what is not in the list, in key order; then each item, as an `Upsert`, in list order. The later of two items of one key counts. What could not be read turns stale and stays |
//! | `Resync` | | `Resynced` for each entry |
//! | `Bookmark` | | the applied version alone |
//!
//! A missing uid counts as the same. An entry without a version is the same state only if it is the same allocation.
//!
//! **Applied version.** It follows `Replace` and `Bookmark`, and, if the batch is in the order of the source, upserts by the watch,
//! observed deletes and what could not be read. It does not follow a single object of a list, a delete concluded from a list, or a
//! resync. It moves only forward, unless a `Replace` or `Bookmark` may rewind; of two versions without an order the later one counts; an
//! empty one changes nothing.
//!
//! **Failure.** A delta for which an index function fails or panics changes neither the store nor any index and stays in the batch; the
//! rest is applied, and the [`CommitError`](informer_core::CommitError) names key, index and cause. For an item of a `Replace` the old
//! state of its key stays and turns stale, and an `Upsert` of the item stays in the batch.
//!
//! **Transaction.** A batch is one: readers see all that could be applied of it at once, or nothing yet. Unlike a database's, it does not
//! fail as a whole: what failed is told apart and left to the caller, to try again or to drop (client-go `Transaction`).
//!
//! # Pages
//! [`Reader::page`] lists in pages. Its continue token, [`Continue`], holds the state that the first page was read from and a place in
//! it: every page is of that one time, whatever is written in between, and it neither expires nor fails. It is a value of this process
//! and keeps the objects of its time alive as long as it is held. [`Page::first`] pages through a snapshot of any store.
//!
//! # Beside it
//! [`caches`] has small types above a store: entries that expire, a writer that tells the whole list, and own writes on top of a store
//! that has not seen them yet.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//!
//! use informer_core::{Batch, Cause, Delta, Entry, ObjectKey, Stamp, Store, StoreWriter};
//! use informer_store::{Indexers, indexed};
//!
//! struct Pod {
//!     node: &'static str,
//! }
//!
//! let by_node = |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(pod.node);
//! let (mut writer, reader) = indexed(Indexers::new().with("node", by_node))?;
//!
//! let key = ObjectKey::namespaced("shop", "cart");
//! let cart = Entry::new(key.clone(), Stamp::new("7", "uid-1"), Arc::new(Pod { node: "worker-2" }));
//! let mut changes = Vec::new();
//! writer.commit(&mut Batch::of(Delta::Upsert(cart, Cause::Added), false), &mut changes)?;
//!
//! assert_eq!(changes.len(), 1);
//! assert_eq!(reader.get(&key).map(|it| it.object.node), Some("worker-2"));
//! assert_eq!(reader.index_keys("node", "worker-2")?, [key]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cancel safety
//! Nothing here is async but `wait_for`, which [`StoreExt`](informer_core::StoreExt) provides: dropping it ends the wait.
//!
//! # Swap it
//! Whoever uses a store does so through [`Store`](informer_core::Store), [`Snapshot`](informer_core::Snapshot) and
//! [`StoreWriter`](informer_core::StoreWriter), and takes any other implementation. Run the suites `conformance::store` and
//! `conformance::store_writer` of `informer-testkit` on yours, and `conformance::index_func` on your index functions.

pub mod caches;
mod commit;
mod index;
mod indexers;
mod page;
mod reader;
mod shared;
mod sync;
mod tree;
mod view;
mod writer;

#[cfg(all(test, loom))]
#[path = "../tests/loom/shared.rs"]
mod shared_under_loom;

pub use indexers::{DuplicateIndex, Indexers};
pub use page::{Continue, Page};
pub use reader::{AddIndexError, Reader};
pub use view::{ByObjectError, View};
pub use writer::{Writer, indexed};
