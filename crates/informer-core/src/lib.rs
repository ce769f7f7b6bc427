//! Vocabulary and contracts of the informer machinery.
//!
//! # What it is
//! The types that every layer speaks ([`ObjectKey`], [`ResourceVersion`], [`Entry`], [`Delta`], [`Change`]) and the traits that join the
//! layers. Two types join everything: a [`Delta`] goes from the source through the queue to the store, a [`Change`] from the store to
//! the handlers.
//!
//! # What it is not
//! It holds no algorithm, does no input or output, and needs no async runtime.
//!
//! # The contracts
//! | trait | joins |
//! |---|---|
//! | [`ListerWatcher`], [`Feed`] | a source and the reflector |
//! | [`KeyFunc`] | an object and its key |
//! | [`DeltaSink`] | the reflector and whatever takes its deltas |
//! | [`DeltaQueue`], [`Handle`] | the queue and the pump |
//! | [`StoreWriter`] | the pump and the store |
//! | [`Store`], [`Snapshot`], [`IndexFunc`] | the store and its readers |
//! | [`EventHandler`] | the store and who is told of its changes |
//! | [`Clock`] | drivers and time |
//! | [`Meta`] | objects and who reads their metadata |
//!
//! # Example
//! ```
//! use informer_core::{ObjectKey, ResourceVersion};
//!
//! let key: ObjectKey = "kube-system/dns".parse()?;
//! assert_eq!((key.namespace(), key.name()), (Some("kube-system"), "dns"));
//!
//! let (nine, ten) = (ResourceVersion::new("9"), ResourceVersion::new("10"));
//! assert!(nine.compare(&ten)?.is_lt());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Swap it
//! Whatever implements one of these traits takes the place of whatever else does. `informer-testkit` has a conformance suite for each, in
//! `conformance::{lister_watcher, feed, key_func, delta_sink, delta_queue, store_writer, store, index_func, event_handler, clock}`: run it
//! on yours.
//!
//! # Features
//! * `tokio`: the real [`Clock`], [`TokioClock`](https://docs.rs/informer-core/latest/informer_core/struct.TokioClock.html).

mod clock;
mod delta;
mod failure;
mod handle;
mod handler;
mod identity;
mod key;
mod meta;
mod queue;
mod resource;
mod source;
mod store;
mod sync;
mod version;

#[cfg(all(test, loom))]
#[path = "../tests/loom/handle.rs"]
mod handle_under_loom;

#[cfg(feature = "tokio")]
pub use clock::TokioClock;
pub use clock::{BoxClock, Clock};
pub use delta::{Batch, Cause, Change, Delta, Entry};
pub use failure::{Classify, FailureClass, SourceError};
pub use handle::Handle;
pub use handler::EventHandler;
pub use identity::{DecodeError, Decoded, Identity, Stamp};
pub use key::{Key, KeyError, KeyErrorKind, KeyFunc, NamespaceName, ObjectKey};
pub use meta::{Meta, MetaFields, Owner};
pub use queue::{Closed, DeltaQueue, DeltaSink};
pub use resource::{Resource, Scope};
pub use source::{
    BoxFeed, BoxFuture, BoxListerWatcher, Feed, ListRequest, Listed, ListerWatcher, VersionMatch,
    WatchRequest, Watched,
};
pub use store::{
    CommitError, CommitFailure, IndexError, IndexFunc, Snapshot, Store, StoreExt, StoreWriter, UnknownIndex,
};
pub use version::{Incomparable, ResourceVersion};
