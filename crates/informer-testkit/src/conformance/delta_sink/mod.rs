//! The suite for [`DeltaSink`]: what a reflector, or whatever stands in its place, pushes to.
//!
//! A sink alone shows nothing, so that the suite needs its [`Ends`]: the sink, and how to learn what became of what was pushed. For a queue
//! without a handle use [`delta_queue`](super::delta_queue): this suite asks that who waits is woken, which is not a passive queue's part.
//!
//! ```
//! use informer_core::{Batch, DeltaQueue, Handle};
//! use informer_deltafifo::{InOrder, Options};
//! use informer_testkit::conformance::delta_sink::{Ends, Suite};
//!
//! Suite::new("a handle around InOrder", || {
//!     let handle = Handle::new(InOrder::new(Options::default()));
//!     let (consumer, closer) = (handle.clone(), handle.clone());
//!     let take = move || {
//!         let mut batch = Batch::default();
//!         while !consumer.is_empty() {
//!             let popped = consumer.pop_blocking(&mut batch, 1000);
//!             popped.expect("something waits");
//!             consumer.settle(Vec::new());
//!         }
//!         batch.deltas
//!     };
//!     Ends::handing_out(handle, take).closed_by(move || closer.close())
//! })
//! .run()
//! .assert_conforms();
//! ```

mod closed;
mod pushes;
mod used;

use std::{fmt, sync::Arc};

use informer_core::{Batch, Delta, DeltaSink, Key, Store};

use super::{
    Samples, Things,
    check::{Check, Plain, Scope, checks, runs, shown},
    reference::SharedReference,
};

use closed::{closed_drops, closed_is_said, closed_wakes};
use pushes::{
    known_is_exact, nothing_blocks, push_when_not_ready, the_store_follows, welcome_at_first,
    what_is_pushed_arrives, whoever_waits_is_woken,
};

/// A sink under test, and its other side.
pub struct Ends<Q, K> {
    sink: Option<Box<dyn DeltaSink<Q, K>>>,
    store: Arc<dyn Store<Q, K>>,
    process: Box<dyn FnMut()>,
    close: Option<Box<dyn FnMut()>>,
}

impl<Q: Key, K: Send + Sync + 'static> Ends<Q, K> {
    /// A sink whose deltas end in a store. `process` returns when all that was pushed has got there.
    pub fn into_store(
        sink: impl DeltaSink<Q, K> + 'static,
        store: impl Store<Q, K> + 'static,
        process: impl FnMut() + 'static,
    ) -> Self {
        Self {
            sink: Some(Box::new(sink)),
            store: Arc::new(store),
            process: Box::new(process),
            close: None,
        }
    }

    /// A sink whose deltas `take` hands out: all that were pushed since it was last called, in their order.
    pub fn handing_out(
        sink: impl DeltaSink<Q, K> + 'static,
        mut take: impl FnMut() -> Vec<Delta<Q, K>> + 'static,
    ) -> Self {
        let store = SharedReference::new();
        let writer = store.clone();
        Self::into_store(sink, store, move || {
            for delta in take() {
                writer.lock().commit(&mut Batch::of(delta, false), &|_| true);
            }
        })
    }

    /// With what makes the other side go away.
    #[must_use]
    pub fn closed_by(mut self, close: impl FnMut() + 'static) -> Self {
        self.close = Some(Box::new(close));
        self
    }
}

impl<Q, K> fmt::Debug for Ends<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").finish_non_exhaustive()
    }
}

/// Checks a sink.
pub struct Suite<S: Samples = Things> {
    subject: String,
    rig: Rig<S>,
    scope: Scope,
}

struct Rig<S: Samples> {
    samples: S,
    make: Box<dyn Fn() -> Ends<S::Key, S::Object>>,
    n_pushes: u32,
}

impl Suite {
    /// For a sink of any key and object. `make` makes an empty one, and its other side.
    pub fn new(
        subject: &str,
        make: impl Fn() -> Ends<<Things as Samples>::Key, <Things as Samples>::Object> + 'static,
    ) -> Self {
        Self::over(Things, subject, make)
    }
}

impl<S: Samples> Suite<S> {
    /// For a sink of these keys and objects.
    pub fn over(samples: S, subject: &str, make: impl Fn() -> Ends<S::Key, S::Object> + 'static) -> Self {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                samples,
                make: Box::new(make),
                n_pushes: 10_000,
            },
            scope: Scope::default(),
        }
    }

    /// So many pushes in a row, at most, fill a sink that can be full. 10 000 unless you say otherwise. One that is never full is none the
    /// worse.
    #[must_use]
    pub fn full_after(mut self, n_pushes: u32) -> Self {
        self.rig.n_pushes = n_pushes;
        self
    }

    runs!("DeltaSink");
}

shown!([S: Samples] Suite<S>);

fn all<S: Samples>() -> Vec<Check<Plain<Rig<S>>>> {
    checks! {
        directed welcome_at_first: "Whether a push is welcome. While pending, the driver stops reading its watch; nothing ever blocks a thread.";
        directed what_is_pushed_arrives: "Takes a delta.";
        directed nothing_blocks: "Whether a push is welcome. While pending, the driver stops reading its watch; nothing ever blocks a thread.";
        directed push_when_not_ready: "Legal also when not ready (a list that was begun is finished), dropped when closed.";
        directed whoever_waits_is_woken: "Whether a push is welcome. While pending, the driver stops reading its watch; nothing ever blocks a thread.";
        directed closed_is_said: "[`Closed`]: nobody reads any more, and the driver ends.";
        directed closed_wakes: "Ready once nobody reads any more, also while a push would be welcome: what a driver waits on beside a quiet watch.";
        directed closed_drops: "Legal also when not ready (a list that was begun is finished), dropped when closed.";
        directed known_is_exact: "The stored object of exactly this stamp, so that a relist reuses it and drops its own copy.";
        random the_store_follows: "Takes a delta.";
    }
}
