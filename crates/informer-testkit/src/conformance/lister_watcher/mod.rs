//! The suite for [`ListerWatcher`]: where objects come from.
//!
//! It makes things happen in a [`World`], lists and watches, and looks whether what it is told of fits. What a source cannot do (pages,
//! streaming lists, resuming at an old version) it may refuse by the class of its error; what it does must be right.
//!
//! ```
//! use informer_client::{Client, Selectors};
//! use informer_core::Resource;
//! use informer_testkit::{
//!     FakeApi, FakeTransport, ManualClock, SharedApi, block_on,
//!     conformance::lister_watcher::{Suite, World},
//! };
//! use serde_json::{Value, json};
//!
//! fn pods() -> Resource {
//!     Resource::namespaced("", "v1", "pods", "Pod")
//! }
//!
//! struct Cluster(SharedApi<ManualClock>);
//!
//! impl World for Cluster {
//!     async fn set(&mut self, n: u32) {
//!         let pod = json!({"metadata": {"name": format!("pod-{n}")}, "spec": {"nodeName": self.0.with(|api| api.revision())}});
//!         self.0.with(|api| api.put(&pods(), pod)).expect("a pod is written");
//!     }
//!
//!     async fn remove(&mut self, n: u32) {
//!         let name = format!("pod-{n}");
//!         self.0.with(|api| api.delete(&pods(), Some("default"), &name)).expect("a pod is deleted");
//!     }
//!
//!     fn name(&self, n: u32) -> (Option<String>, String) {
//!         (Some("default".to_owned()), format!("pod-{n}"))
//!     }
//! }
//!
//! let suite = Suite::new("ApiSource", || {
//!     let api = SharedApi::new(FakeApi::with_builtins(), ManualClock::new());
//!     let source = Client::new(FakeTransport::new(api.clone())).objects::<Value>(pods()).source(Selectors::all());
//!     (source, Cluster(api))
//! });
//! block_on(suite.run()).assert_conforms();
//! ```

mod ends;
mod lists;
mod resumes;
mod seen;
mod watches;

use std::future::Future;

use informer_core::{FailureClass, ListerWatcher};

use super::{
    Patience,
    check::{Awaited, Check, Scope, async_checks, runs_async, shown},
};

use ends::{
    a_class_for_each_failure, a_list_given_up, a_quiet_watch_ends_cleanly, an_old_version_is_expired,
    dropped_it_closes,
};
use lists::{
    a_list_is_whole, a_stamp_for_each_state, identities_as_they_are, not_older_than, pages_are_one_list,
};
use resumes::{a_bookmark_skips_nothing, a_resumed_watch, it_may_stream_the_list, the_store_would_follow};
use watches::{
    a_next_given_up, a_watch_goes_on_from_a_list, each_watch_for_itself, every_change_is_told,
    from_the_most_recent, nothing_before_its_version, whoever_waits_is_woken,
};

/// What a source lists and watches, for the suite to change. At first it is empty.
pub trait World {
    /// Creates the nth object, or changes it if it is there.
    fn set(&mut self, n: u32) -> impl Future<Output = ()>;

    /// Deletes the nth object, which is there.
    fn remove(&mut self, n: u32) -> impl Future<Output = ()>;

    /// Namespace and name of the nth object, as its identity has them.
    fn name(&self, n: u32) -> (Option<String>, String);

    /// Sends a bookmark on open watches that asked for some. `false`: it cannot be made to.
    fn bookmark(&mut self) -> impl Future<Output = bool> {
        async { false }
    }

    /// Ends open watches as a server does that is done with them. `false`: it cannot be made to.
    fn end_watches(&mut self) -> impl Future<Output = bool> {
        async { false }
    }

    /// Forgets what happened so far: no watch can begin there any more. `false`: it cannot be made to.
    fn forget(&mut self) -> impl Future<Output = bool> {
        async { false }
    }

    /// Makes the next list or watch fail like this. `false`: it cannot be made to.
    fn fail_next(&mut self, _class: FailureClass) -> impl Future<Output = bool> {
        async { false }
    }

    /// How many lists and watches are being read. `None`: nobody knows.
    fn n_open(&self) -> Option<usize> {
        None
    }
}

/// Checks a source.
pub struct Suite<L, W> {
    subject: String,
    rig: Rig<L, W>,
    scope: Scope,
}

struct Rig<L, W> {
    make: Box<dyn Fn() -> (L, W)>,
    patience: Patience,
}

impl<L: ListerWatcher + 'static, W: World + 'static> Suite<L, W> {
    /// `make` makes a source, and the empty world that it lists and watches.
    pub fn new(subject: &str, make: impl Fn() -> (L, W) + 'static) -> Self {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                make: Box::new(make),
                patience: Patience::default(),
            },
            scope: Scope::default(),
        }
    }

    /// How long to wait for what must come.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.rig.patience = patience;
        self
    }

    runs_async!("ListerWatcher");
}

shown!([L, W] Suite<L, W>);

fn all<L: ListerWatcher + 'static, W: World + 'static>() -> Vec<Check<Awaited<Rig<L, W>>>> {
    async_checks! {
        directed a_list_is_whole: "The list is whole. A feed that ends without it was cut.";
        directed identities_as_they_are: "Read from the bytes, whatever the form of the object holds.";
        directed a_stamp_for_each_state: "Two equal stamps are the same state, so the object need not be looked at.";
        directed pages_are_one_list: "Where the previous page ended. With a token the source sends no version: the token holds it.";
        directed not_older_than: "At least as new as the version.";
        directed a_watch_goes_on_from_a_list: "Changes after this version; `None` begins with the most recent state.";
        directed every_change_is_told: "One event of a watch stream.";
        directed nothing_before_its_version: "Changes after this version; `None` begins with the most recent state.";
        directed from_the_most_recent: "Changes after this version; `None` begins with the most recent state.";
        random a_resumed_watch: "Changes after this version; `None` begins with the most recent state.";
        directed it_may_stream_the_list: "Ask for the initial state in the stream, ended by a bookmark that says so (`sendInitialEvents`, a streaming list).";
        directed a_bookmark_skips_nothing: "Nothing is missing up to here.";
        directed each_watch_for_itself: "Opens a watch.";
        directed whoever_waits_is_woken: "The next event.";
        random a_next_given_up: "Dropping the future of `next` loses no event.";
        directed a_list_given_up: "Dropping the feed closes what it reads from.";
        directed dropped_it_closes: "Dropping the feed closes what it reads from.";
        directed a_quiet_watch_ends_cleanly: "`None` is a clean end.";
        directed an_old_version_is_expired: "410 `Expired` or `Gone`: the resource version or continue token is too old.";
        directed a_class_for_each_failure: "What kind of failure an error of a source is. The reflector decides by the class alone.";
        random the_store_would_follow: "Lists and watches one kind of objects (client-go `ListerWatcher`).";
    }
}
