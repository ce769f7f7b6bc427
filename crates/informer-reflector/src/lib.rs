//! List and watch as a pure state machine with a thin driver.
//!
//! # What it is
//! [`Reflector`] keeps a [`DeltaSink`](informer_core::DeltaSink) in step with a [`ListerWatcher`](informer_core::ListerWatcher): it takes
//! the whole state once (by a streaming list or by a LIST in pages), hands it over as one `Replace`, then follows a watch for as long as it
//! can be followed, and knows for every failure whether to watch again, to list again, and when. The rules are client-go's
//! `tools/cache/reflector.go`, as a pure [`Machine`](machine::Machine) that can be driven by anything.
//!
//! Beside it: [`ObjectWatch`] follows one object, [`until`] waits for a condition, [`RetryWatch`] makes one watch of many, and
//! [`ConsistencyDetector`] checks streaming lists in tests.
//!
//! # What it is not
//! It speaks no HTTP, holds no map of objects, spawns nothing, and needs no async runtime. It does not compare old and new: the store does.
//!
//! # The contract
//! 1. Nothing of a list is seen before the whole of it: one [`Delta::Replace`](informer_core::Delta::Replace) carries it.
//! 2. A watch resumes at the last version received, bookmarks included, byte for byte. Versions are never sorted.
//! 3. A watch that ends quietly is opened again; it never causes a list.
//! 4. An expired version leads to a list not older than what was seen; a list that is refused for its version is repeated at once without
//!    one, and that `Replace` alone says `may_rewind`.
//! 5. Every repetition waits, longer each time, until two minutes of health; `Retry-After` is a minimum. It never gives up.
//! 6. Each object's key is computed once; the transform runs exactly once on each object that goes on, and not on a copy that is dropped
//!    because the sink already holds that state.
//! 7. An object that cannot be decoded, keyed or transformed is reported and skipped; the rest flows.
//! 8. While the sink is not ready, the watch is not read.
//! 9. Whoever does not trust what it was given can have the whole state taken anew: [`Control::relist`].
//!
//! # Example
//! A source of two closures, straight into a store that only counts. The whole of it is in `examples/bare_reflector.rs`.
//! ```
//! use informer_core::{Decoded, Identity, SourceError};
//! use informer_reflector::{ListWatch, feed};
//!
//! let pod = |name: &str| Decoded {
//!     identity: Identity { name: name.into(), ..Identity::default() },
//!     object: format!("the pod {name}"),
//! };
//! let source = ListWatch::new(
//!     move |_request| async move { Ok::<_, SourceError>(feed::list([pod("a"), pod("b")], "7")) },
//!     move |_request| async move { Ok::<_, SourceError>(feed::from_iter([])) },
//! );
//! # let _ = source;
//! ```
//!
//! # Cancel safety
//! Dropping the future of [`Reflector::run`] stops everything at once, whatever it was waiting for; nothing runs on.
//!
//! # Features
//! None.
//!
//! # Swap it
//! The source is any [`ListerWatcher`](informer_core::ListerWatcher), the sink any [`DeltaSink`](informer_core::DeltaSink), key, transform
//! and clock are yours. Anything that pushes the same deltas may stand in its place. Run the suites `conformance::lister_watcher`,
//! `conformance::feed` and `conformance::delta_sink` of `informer-testkit` on your source, its feeds and your sink.

pub mod feed;
pub mod machine;

mod buffer;
mod consistency;
mod control;
mod driver;
mod error;
mod hooks;
mod ingest;
mod life;
mod list_watch;
mod log;
mod metrics;
mod object_watch;
mod open;
mod options;
mod perform;
mod race;
mod reflector;
mod retry_watch;
mod session;
mod status;
mod steps;
mod store_sink;
mod transform;
mod until;
mod wait;

pub use consistency::{CheckedWatch, ConsistencyDetector, ConsistencyReport};
pub use control::Control;
pub use error::{Problem, ReflectorError};
pub use list_watch::ListWatch;
pub use metrics::{Metrics, is_short};
pub use object_watch::ObjectWatch;
pub use options::{FirstVersion, Options, Start};
pub use reflector::Reflector;
pub use retry_watch::{NoVersion, RetryWatch};
pub use status::{LastError, Phase, Request, Status, StatusReader};
pub use store_sink::StoreSink;
pub use transform::{Transform, TransformError};
pub use until::{NotReached, Seen, until};
pub use wait::NotSynced;
