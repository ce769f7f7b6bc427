//! The suite for [`DeltaQueue`]: what waits between a source and the store that follows it.
//!
//! It plays source and consumer: it pushes the changes of a small world, pops, commits to a plain store, settles, and looks whether the
//! batches are what they must be and whether the store follows the world. A queue may keep an order across keys or not
//! ([`Batch::in_order`](informer_core::Batch::in_order) says so, and only where it does is one asked for), may hand out a list as one
//! delta or key by key, and may merge deletes that follow one another.
//!
//! ```
//! use informer_deltafifo::{Coalescing, InOrder, Options};
//! use informer_testkit::conformance::delta_queue;
//!
//! // `known` is the store that the suite's consumer writes, for a queue that looks into it.
//! delta_queue::Suite::new("Coalescing", |known| Coalescing::new(known, Options::default()))
//!     .run()
//!     .assert_conforms();
//! delta_queue::Suite::new("InOrder", |_known| InOrder::new(Options::default()))
//!     .run()
//!     .assert_conforms();
//! ```

mod batches;
mod line;
mod pressure;
mod synced;
mod world;

use std::sync::Arc;

use informer_core::{DeltaQueue, Store};

use super::{
    Samples, Things,
    check::{Check, Plain, Scope, checks, runs, shown},
};

use batches::{
    about_the_whole_alone, at_most_so_many, failed_comes_again, in_the_order_of_the_source,
    keys_are_distinct, len_is_what_waits, moot_does_not, nothing_is_left_out, nothing_waits_at_first,
    the_order_of_a_key,
};
use pressure::{keeps_no_waker, known_is_exact, nobody_reads, push_when_not_ready, pushes_back, ready_again};
use synced::{
    a_failure_keeps_nobody_unsynced, an_empty_list_syncs, initial_and_later_apart, not_before_it_is_settled,
    synced_for_good,
};
use world::{
    a_bookmark_arrives, a_list_may_rewind, a_list_meets_what_waits, a_resync_repeats, the_store_follows,
};

type MakeQueue<Q, K> = Box<dyn Fn(Arc<dyn Store<Q, K>>) -> Box<dyn DeltaQueue<Q, K>>>;

/// Checks a delta queue.
pub struct Suite<S: Samples = Things> {
    subject: String,
    rig: Rig<S>,
    scope: Scope,
}

/// Makes queues under test.
struct Rig<S: Samples> {
    samples: S,
    make: MakeQueue<S::Key, S::Object>,
    pushes_back_by: u32,
}

impl Suite {
    /// For a queue of any key and object. `make` makes an empty one; it gets the store that the consumer writes.
    pub fn new<D>(
        subject: &str,
        make: impl Fn(Arc<dyn Store<<Things as Samples>::Key, <Things as Samples>::Object>>) -> D + 'static,
    ) -> Self
    where
        D: DeltaQueue<<Things as Samples>::Key, <Things as Samples>::Object> + 'static,
    {
        Self::over(Things, subject, make)
    }
}

impl<S: Samples> Suite<S> {
    /// For a queue of these keys and objects.
    pub fn over<D>(
        samples: S,
        subject: &str,
        make: impl Fn(Arc<dyn Store<S::Key, S::Object>>) -> D + 'static,
    ) -> Self
    where
        D: DeltaQueue<S::Key, S::Object> + 'static,
    {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                samples,
                make: Box::new(move |known| Box::new(make(known))),
                pushes_back_by: 10_000,
            },
            scope: Scope::default(),
        }
    }

    /// When so many deltas wait, at the latest, it must ask the source to wait. 10 000 unless you say otherwise.
    #[must_use]
    pub fn pushes_back_by(mut self, n_waiting: u32) -> Self {
        self.rig.pushes_back_by = n_waiting;
        self
    }

    runs!("DeltaQueue");
}

shown!([S: Samples] Suite<S>);

fn all<S: Samples>() -> Vec<Check<Plain<Rig<S>>>> {
    checks! {
        directed nothing_waits_at_first: "Moves up to `max` deltas into `batch` (empty on entry) and returns how many.";
        directed at_most_so_many: "Moves up to `max` deltas into `batch` (empty on entry) and returns how many.";
        directed keys_are_distinct: "Keys in a batch are pairwise distinct; `Replace`, `Resync` and `Bookmark` come alone; deltas of the initial list and later ones never mix, and the batch says which they are.";
        directed about_the_whole_alone: "Keys in a batch are pairwise distinct; `Replace`, `Resync` and `Bookmark` come alone; deltas of the initial list and later ones never mix, and the batch says which they are.";
        directed initial_and_later_apart: "Keys in a batch are pairwise distinct; `Replace`, `Resync` and `Bookmark` come alone; deltas of the initial list and later ones never mix, and the batch says which they are.";
        directed the_order_of_a_key: "Deltas of one key are handed out in the order in which they were pushed.";
        directed in_the_order_of_the_source: "They come in the order of the source, so that the version of an upsert or delete tells how far the source was followed.";
        directed nothing_is_left_out: "No state is left out; deletes that follow one another may merge, and a delete of what nobody heard of may be dropped.";
        directed not_before_it_is_settled: "Called once after each popped batch was processed: counts towards synced, and takes back what failed, to be handed out again unless a later delta made it moot.";
        directed an_empty_list_syncs: "Whether the whole of the first replace was processed. Once true, always true.";
        directed synced_for_good: "Whether the whole of the first replace was processed. Once true, always true.";
        directed a_failure_keeps_nobody_unsynced: "What failed counts as processed: one bad object keeps nobody unsynced.";
        directed failed_comes_again: "Called once after each popped batch was processed: counts towards synced, and takes back what failed, to be handed out again unless a later delta made it moot.";
        directed moot_does_not: "Called once after each popped batch was processed: counts towards synced, and takes back what failed, to be handed out again unless a later delta made it moot.";
        directed len_is_what_waits: "Deltas that wait.";
        directed pushes_back: "Whether a push is welcome. While pending, the driver stops reading its watch; nothing ever blocks a thread.";
        directed ready_again: "As a [`DeltaSink`] it answers `poll_ready` by its length alone and keeps no waker: that is the handle's part.";
        directed keeps_no_waker: "As a [`DeltaSink`] it answers `poll_ready` by its length alone and keeps no waker: that is the handle's part.";
        directed push_when_not_ready: "Legal also when not ready (a list that was begun is finished), dropped when closed.";
        directed nobody_reads: "Ready once nobody reads any more, also while a push would be welcome: what a driver waits on beside a quiet watch.";
        directed known_is_exact: "The stored object of exactly this stamp, so that a relist reuses it and drops its own copy.";
        directed a_resync_repeats: "Repeat the cached state to handlers that are due.";
        directed a_bookmark_arrives: "Nothing of interest happened up to this version.";
        directed a_list_may_rewind: "The list may be older than what the store has: the applied version follows it backward.";
        directed a_list_meets_what_waits: "The whole of the source at one version: one atomic delta whose difference to the store is taken at commit.";
        random the_store_follows: "Whatever is pushed, popped and settled: once nothing waits, the store that commits the batches holds what the source holds, and has never applied a version before what it brought.";
    }
}
