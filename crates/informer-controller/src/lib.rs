//! Controllers: a reconciler that is called for whatever changed, again until it succeeds.
//!
//! # What it is
//! The controller of controller-runtime over shared informers: [`Source`]s whose changes pass [`Predicate`]s and are mapped to requests by
//! a [`Mapper`]; a work queue; and workers that call a [`Reconciler`] with one request at a time.
//!
//! # What it is not
//! It does not run the informers, elects no leader, and starts no other controllers: that is for the program, or a manager. It never hands
//! the object to the reconciler: the reconciler reads the newest state itself, where an object that is missing was deleted.
//!
//! # The contract
//! 1. No reconcile begins before every source is in sync and its initial objects were enqueued, except those that are optional or were
//!    added while it runs. If that takes too long, the controller names the culprit, and ends with an error, or waits on where others run
//!    beside it ([`Late`]); other controllers do not wait.
//! 2. A request is never reconciled twice at the same time. One that is enqueued meanwhile is reconciled once more afterwards.
//! 3. A failed request comes back after a delay that doubles with each failure, a successful one only when something happens or it asked
//!    for it; an [`Attempt`] says which it is and what failed before. One whose error is [`terminal`] waits for the next change.
//! 4. A panic is a failure of that request. It stops nothing else. A panic of a source is that source's alone, which is run again where it
//!    can be.
//! 5. A change whose mapping fails is mapped again later. Nothing is lost.
//! 6. After [`Controller::stop`] no reconcile begins. Those that run may finish within the grace time; what waited is reported.
//!
//! # Example
//! ```
//! use std::{convert::Infallible, time::Duration};
//! use informer_controller::{Action, Controller, channel};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (requests, source) = channel("doorbell");
//! let (done, mut seen) = tokio::sync::mpsc::unbounded_channel();
//! let controller = Controller::builder("porter")
//!     .source(source)
//!     .reconcile(move |door: &'static str, attempt| {
//!         let done = done.clone();
//!         async move {
//!             assert_eq!(attempt.number, 1);
//!             let _ = done.send(door);
//!             Ok::<_, Infallible>(Action::requeue_after(Duration::from_secs(60)))
//!         }
//!     })
//!     .build()?;
//!
//! let running = controller.spawn()?;
//! requests.send("front").await?;
//! assert_eq!(seen.recv().await, Some("front"));
//! let ended = running.stop().await?;
//! assert_eq!(ended.left, ["front"]); // It would have come again in a minute.
//! # Ok(()) }
//! ```
//! With a shared informer: `Controller::builder("pods").watches(&informer, ForObject)`; see `examples/reconcile.rs`.
//!
//! # Cancel safety
//! Dropping the future of [`Controller::run`] stops the controller at once: reconciles that run are dropped where they await.
//!
//! # Features
//! `conformance`: suites that check a [`Source`], [`Mapper`], [`Predicate`] or queue of your own, for tests.
//!
//! # Swap it
//! * Sources: [`Source`]. Mapping: [`Mapper`]. Filters: [`Predicate`]. Where informers come from: [`KindProvider`], [`Watchable`].
//! * The queue, its limiter and order: any [`WorkQueue`](informer_workqueue::WorkQueue).
//! * Time: any [`Clock`](informer_core::Clock). Numbers: [`ReconcileMetrics`].

mod action;
mod builder;
#[cfg(feature = "conformance")]
pub mod conformance;
mod contain;
mod controller;
mod driver;
mod error;
mod event;
mod id;
mod kind;
mod late;
mod mapper;
mod metrics;
mod names;
mod objects;
mod predicate;
mod reconciler;
mod shared;
mod source;
mod status;
mod terminal;
mod watchable;

pub use action::{Action, Attempt};
pub use builder::{Builder, Defaults};
pub use controller::{Controller, Running};
pub use driver::Ended;
pub use error::{BuildError, MissingMeta, ReconcileError, RunError};
pub use event::{Event, EventKind, State};
pub use id::ReconcileId;
pub use kind::{FnProvider, Kind, KindProvider, provider_fn};
pub use late::{Fault, Late, SourceError};
pub use mapper::{
    AsyncMapFn, ForObject, ForOwner, MapFn, Mapper, TryMapFn, async_map_fn, map_fn, try_map_fn,
};
pub use metrics::{ReconcileMetrics, ReconcileMetricsProvider, ReconcileResult};
pub use objects::{ObjectReconciler, reconcile_objects};
pub use predicate::{
    And, Changed, GenerationChanged, LabelsMatch, NewObjectFn, Not, ObjectFn, Or, Predicate, PredicateExt,
    PredicateFns, VersionChanged, annotations_changed, changed, labels_changed, new_object_fn, object_fn,
};
pub use reconciler::{BoxReconciler, FnReconciler, Reconciler, reconcile_fn};
pub use source::{
    ChannelClosed, ChannelSource, FnSource, Gate, InformerSource, KindSource, LOW_PRIORITY, Optional,
    Requests, Source, SourceContext, Started, TaskSource, channel, gate, optional, retried_source, source_fn,
    task_source,
};
pub use status::{Counts, Phase, SourceStatus, Status, WatchId};
pub use terminal::{Terminal, terminal};
pub use watchable::{BoxError, Watchable};

use std::{fmt::Debug, hash::Hash};

/// What a request must be: the key of an object as a rule. Implemented for every type that fits.
pub trait Request: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + Sync + 'static> Request for T {}
