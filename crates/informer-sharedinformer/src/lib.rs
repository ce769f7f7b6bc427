//! Shared informers: one list and watch per kind, an indexed store, many handlers.
//!
//! # What it is
//! [`SharedInformer`] joins a source (a reflector over any [`ListerWatcher`](informer_core::ListerWatcher)), a delta queue and a store, and
//! tells any number of handlers of every change: client-go's `SharedIndexInformer`. [`Factory`] shares informers among those who ask for the
//! same objects, client-go's `SharedInformerFactory`; several namespaces are seen as one ([`Namespaces`]), and some objects of an informer
//! as if they were its all ([`View`]). [`Pump`] is the same for one handler and without sharing, client-go's `cache.Controller`.
//!
//! # What it is not
//! It speaks no HTTP and knows no object's fields: sources come from a client crate, or from you. It has no work queue and no workers; a
//! handler that does more than enqueue a key belongs in a controller.
//!
//! # The contract
//! 1. Per key a handler sees a gapless forward chain: `Added`, then `Updated` whose `old` is the `new` before, then `Removed`; `Resynced` in
//!    between repeats the state. States are left out only where the source left them out, or where they merged in a slow handler's backlog.
//! 2. The store has a change before a handler hears of it; a handler that reads the store sees that state or a later one.
//! 3. Another uid under the same key is `Removed`, then `Added`, also where changes merge. A relist is silent about what did not change.
//! 4. A handler may come at any time before the stop. A late one is first told the store as it was when it came, as `Added` with `initial`;
//!    nothing is lost or told twice in between. Adding one stalls nobody.
//! 5. A handler is synced when the informer is and its last initial add has returned, or panicked: [`Registration::has_synced`]. The
//!    informer's own [`has_synced`](SharedInformer::has_synced) says only that the store is filled.
//! 6. Handlers do not wait for one another: each has a [backlog](backlog::Backlog), readable as a number and bounded by merging per key,
//!    unless you choose otherwise ([`BacklogPolicy`]). One that panics goes on with the next change.
//! 7. After [`Registration::remove`] or a stop no call begins, except one that was already handed its change. A stop takes at most 200 ms
//!    and leaves nothing of the informer's running; a call of yours that still runs then is named ([`Ended`]), not awaited.
//! 8. Nothing fails silently: [`SharedInformer::status`] tells phase, health, backlogs and the source's last error, and
//!    [`Builder::on_error`] hears of everything that is survived. What the store refuses is named, tried again, and holds nobody up; if it
//!    stays refused, the source is asked for the whole state anew.
//!
//! # Example
//! ```
//! use std::{task::Poll, time::Duration};
//!
//! use informer_core::{Change, Decoded, Identity, ObjectKey, SourceError, Stamp, Watched};
//! use informer_reflector::{ListWatch, feed};
//! use informer_sharedinformer::{HandlerOptions, SharedInformer};
//!
//! #[derive(Clone)]
//! struct Pod {
//!     node: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A source of two closures. Those of a real cluster come from a client.
//! let source = ListWatch::new(
//!     |_| async {
//!         let identity = Identity {
//!             namespace: Some("default".into()),
//!             name: "web".into(),
//!             stamp: Stamp::new("7", "uid-1"),
//!         };
//!         let pod = Pod { node: "node-1".into() };
//!         Ok::<_, SourceError>(feed::list([Decoded { identity, object: pod }], "7"))
//!     },
//!     |request| async move {
//!         if request.initial_events {
//!             let class = informer_core::FailureClass::Unsupported;
//!             return Err(SourceError::new(class, "no streaming lists here"));
//!         }
//!         // A watch on which nothing happens.
//!         Ok(feed::from_poll_fn(|_| -> Poll<Option<Result<Watched<Pod>, SourceError>>> { Poll::Pending }))
//!     },
//! );
//! let informer = SharedInformer::builder(source)
//!     .name("pods")
//!     .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&pod.node))
//!     .build()?;
//! let told = informer.add_handler(
//!     |change: &Change<ObjectKey, Pod>| assert_eq!(change.key().name(), "web"),
//!     HandlerOptions::default(),
//! )?;
//! let running = informer.spawn()?;
//! informer.wait_synced(Duration::from_secs(5)).await?;
//! told.synced().await?;
//! assert_eq!(informer.lister().by_index("node", "node-1")?.len(), 1);
//! running.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Cancel safety
//! Dropping the future of [`SharedInformer::run`], or a [`Running`], stops the informer. Every wait only ends when its future is dropped.
//!
//! # Swap it
//! Each part is replaced alone: the source of objects ([`ListerWatcher`](informer_core::ListerWatcher)), the reflector itself
//! ([`SharedInformer::fed_by`] and [`Source`]), the key ([`Builder::key`]), the queue ([`QueueKind::Custom`]), the store
//! ([`Builder::store`]), the clock ([`Builder::clock`]), and handlers anyway.

pub mod backlog;

mod builder;
mod driver;
mod error;
mod factory;
mod filter;
mod handler;
mod informer;
mod listed;
mod listener;
mod lister;
pub mod metrics;
mod namespaces;
mod options;
mod pump;
mod queue;
mod registration;
mod resync;
mod retry;
mod selector;
mod shared;
mod source;
mod status;
mod subscription;
mod view;
mod weight;

pub use backlog::BacklogPolicy;
pub use builder::Builder;
pub use error::{BuildError, ForeignRegistration, NotSynced, RunError, Stopped, Trouble};
pub use factory::{Factory, FactoryBuilder, Held, NotAllSynced, Selection, SharedTransform, Sources};
pub use filter::{Filter, Filtered};
pub use handler::AsyncHandler;
pub use informer::{Ended, Running, SharedInformer};
pub use informer_reflector::{Options as ReflectorOptions, Transform, TransformError};
pub use listed::Listed;
pub use lister::{Lister, Page};
pub use metrics::{InformerId, Metrics, MetricsProvider, MetricsRegistry};
pub use namespaces::{Namespaces, NamespacesLister, NotCovered, PartSnapshot, Show, Visit, in_key_order};
pub use options::{HandlerOptions, Resync};
pub use pump::{Pump, PumpHandle};
pub use queue::QueueKind;
pub use registration::Registration;
pub use selector::{LabelSelector, SelectorError};
pub use source::{Connected, Sink, Source, SourceContext};
pub use status::{HandlerStatus, Phase, Refusal, SourceStatus, Status};
pub use subscription::Subscription;
pub use view::{View, ViewSubscription, matching};
