//! The suite for [`StoreWriter`]: what a commit does with each delta.
//!
//! Each check is a short story of commits, made in the store under test and in a plain map that follows the rules one by one; after each
//! commit it compares what was told, what is read, the indices, the applied version, and what was left in the batch. Changes are compared
//! key by key: the contract says nothing of an order across keys.
//!
//! ```
//! use informer_store::{Indexers, indexed};
//! use informer_testkit::conformance::store_writer;
//!
//! let report = store_writer::Suite::new("informer-store", |indices| {
//!     let add = |all: Indexers<_>, (name, function)| all.with_shared(name, function);
//!     indexed(indices.into_iter().fold(Indexers::new(), add)).expect("no index is there twice")
//! })
//! .run();
//! report.assert_conforms();
//! ```

mod applied;
mod both;
mod entries;
mod random;
mod refused;
mod wholes;

use informer_core::{Store, StoreWriter};

use super::{
    Indices, Samples, Things,
    check::{Check, Plain, Scope, checks, runs, shown},
    rig::{StoreRig, store_suite},
};

use applied::{applied_by_marks_alone, applied_follows, applied_goes_forward, applied_without_order};
use entries::{
    a_delete, a_delete_of_another, a_delete_of_nothing, a_new_key, a_sync, another_uid, another_version,
    the_stored_stamp, unreadable, without_a_version,
};
use random::as_the_rules_say;
use refused::{all_at_once, appends, refused_by_error, refused_by_panic, refused_in_a_list};
use wholes::{a_bookmark, a_key_twice, a_list, a_list_again, a_list_with_gaps, a_resync};

store_suite! {
    /// Checks the writer of a store.
    "StoreWriter"
}

fn all<S: Samples>() -> Vec<Check<Plain<StoreRig<S>>>> {
    checks! {
        directed a_new_key: "An upsert of a key that is not there is stored and told as `Added`, initial if the batch is.";
        directed another_version: "Another version of the same object is stored and told as `Updated`, whose `old` is what was stored.";
        directed another_uid: "Another uid is another object: it is stored and told as `Removed`, not observed, then `Added`.";
        directed the_stored_stamp: "An upsert of the stored stamp changes nothing and tells nobody, except that `Cause::Sync` is told as `Resynced`.";
        directed without_a_version: "Where objects have no version, the same allocation is the same state, and any other is another.";
        directed a_sync: "A `Cause::Sync` repeats what is stored and brings nothing back.";
        directed a_delete: "A delete takes the entry out and tells `Removed`, with the last state that the delta brings, else with what was stored.";
        directed a_delete_of_nothing: "A delete of a key that is not there tells nothing.";
        directed a_delete_of_another: "A delete of another uid takes the entry out as well, and tells what was stored, not observed.";
        directed unreadable: "`Unreadable` turns the entry stale and tells nobody; the next state that can be read ends that.";
        directed a_list: "A `Replace` takes the difference: `Removed`, not observed, for what is not in it, and each item as an upsert.";
        directed a_list_again: "What a `Replace` does not change it does not tell.";
        directed a_key_twice: "Of two items of one key in a `Replace` the later one counts.";
        directed a_list_with_gaps: "What a `Replace` could not read stays and turns stale.";
        directed a_resync: "A `Resync` tells `Resynced` for each entry.";
        directed a_bookmark: "A `Bookmark` moves the applied version alone.";
        directed applied_follows: "The applied version follows `Replace` and `Bookmark`, and, where the batch is in order, upserts by the watch, observed deletes and what could not be read.";
        directed applied_by_marks_alone: "Where the batch is not in order, only `Replace` and `Bookmark` move the applied version.";
        directed applied_goes_forward: "It moves only forward, unless a `Replace` or `Bookmark` may rewind.";
        directed applied_without_order: "Of two versions that cannot be compared the later one to come counts, and an empty one changes nothing.";
        directed refused_by_error: "A delta that cannot be applied changes nothing, stays in the batch, and the rest is applied.";
        directed refused_by_panic: "A delta that cannot be applied changes nothing, stays in the batch, and the rest is applied.";
        directed refused_in_a_list: "An item of a `Replace` that cannot be applied leaves the old state, which turns stale, and stays in the batch as an upsert.";
        directed all_at_once: "Applies the deltas of a batch in one step, visible to readers all at once, and appends what changed.";
        directed appends: "Applies the deltas of a batch in one step, visible to readers all at once, and appends what changed.";
        random as_the_rules_say: "Drains from `batch` what it applied.";
    }
}
