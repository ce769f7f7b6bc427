//! The suite for [`Store`] and [`Snapshot`](informer_core::Snapshot): the readers' side of a cache.
//!
//! It fills the store through its [`StoreWriter`], whose own rules [`store_writer`](super::store_writer)
//! checks, and looks whether what it reads fits: at one point in time, in order, by index, while somebody writes, and whether those who
//! wait are woken.
//!
//! ```
//! use informer_store::{Indexers, indexed};
//! use informer_testkit::conformance::store;
//!
//! let report = store::Suite::new("informer-store", |indices| {
//!     let add = |all: Indexers<_>, (name, function)| all.with_shared(name, function);
//!     indexed(indices.into_iter().fold(Indexers::new(), add)).expect("no index is there twice")
//! })
//! .run();
//! report.assert_conforms();
//! ```

mod indices;
mod reads;
mod threads;
mod waits;

use informer_core::{Store, StoreWriter};

use super::{
    Indices, Samples, Things,
    check::{Check, Plain, Scope, checks, runs, shown},
    rig::{StoreRig, store_suite},
};

use indices::{a_visit_breaks, an_index_forgets, an_unknown_index, values_are_folded};
use reads::{
    a_scan_begins_behind, a_snapshot_stays, empty_at_first, everything_is_found, one_state_for_every_query,
    the_length, the_object_itself,
};
use threads::{a_reader_does_not_wait, a_writer_does_not_wait, nothing_torn_is_seen};
use waits::{a_version_is_waited_for, whoever_waits_is_woken};

store_suite! {
    /// Checks the readers' side of a store.
    "Store and Snapshot"
}

fn all<S: Samples>() -> Vec<Check<Plain<StoreRig<S>>>> {
    checks! {
        directed empty_at_first: "The version up to which the source's changes are in it; empty before the first list.";
        directed everything_is_found: "All entries in key order, from one snapshot.";
        directed the_object_itself: "One object as it is held: key, stamp, and the object, allocated once and shared.";
        directed a_snapshot_stays: "The state now, which stays as it is however long it is held.";
        random one_state_for_every_query: "Several queries on it see the same state.";
        directed a_scan_begins_behind: "Visits entries in key order, from behind `after`, until `visit` breaks.";
        directed a_visit_breaks: "Visits the entries under a value of an index, in key order, until `visit` breaks.";
        directed an_index_forgets: "The entries under a value of an index, in key order, from one snapshot.";
        directed values_are_folded: "Duplicates are folded; no value at all leaves the object out of the index.";
        directed an_unknown_index: "When there is no such index; the error names those that exist.";
        directed the_length: "Objects in it.";
        directed a_reader_does_not_wait: "Never waits for the writer, nor makes it wait.";
        directed a_writer_does_not_wait: "Never waits for the writer, nor makes it wait.";
        directed whoever_waits_is_woken: "Ready once the applied version differs from `seen`; else the waker is kept until the next commit.";
        directed a_version_is_waited_for: "Waits until the store has applied `version` or a later one.";
        directed nothing_torn_is_seen: "One point in time of a store, however long it is held.";
    }
}
