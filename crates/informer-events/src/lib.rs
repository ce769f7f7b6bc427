//! Event recorder with series, aggregation and a spam filter.
//!
//! # What it is
//! A [`Recorder`] says what happened to an object; a [`Broadcaster`] writes it as `events.k8s.io/v1`, in the background. A thousand equal
//! events are two writes and a count. The rules are client-go's, of `tools/events` (series) and of `tools/record` (aggregation, spam filter,
//! and with [`Grouping::Notes`] its way of counting), with their numbers; they are in [`Machine`] and [`Correlator`], which are pure.
//!
//! # What it is not
//! It is no log, and events are no messages: the server forgets them after an hour, and any may be dropped. What was dropped is counted
//! ([`Stats`], [`Metrics`]). The legacy core/v1 form is not written, though the server shows these events in it too.
//!
//! # The contract
//! 1. Recording never waits, for a lock held long, for the server or for room in a queue.
//! 2. Events of one source about one object with the same kind, reason, action and related object are a series: the first is created, the
//!    second patches it with a count of two, all others are counted. The count is written each 30 minutes and when nothing has come for 6.
//! 3. The tenth different event for one reason about an object, with pauses of ten minutes at most, and all that follow become one series,
//!    "(combined from similar events)".
//! 4. A source may write 25 times about an object, and once more each 5 minutes. What goes beyond is counted if the series is known, and
//!    dropped otherwise.
//! 5. At most [`Options::queue`] events wait; what is tried in vain is tried again 10 s later, 12 times in all; what the server rejects
//!    is given up.
//! 6. Writes of one event never overtake each other.
//!
//! # Example
//! ```
//! use informer_core::Resource;
//! use informer_events::{Broadcaster, EventKind, MemorySink, ObjectReference};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! // `ApiSink::new(&client)` writes to a server.
//! let sink = MemorySink::new();
//! let broadcaster = Broadcaster::new(sink.clone(), Default::default());
//! let recorder = broadcaster.recorder("example.com/web-controller");
//!
//! let pods = Resource::namespaced("", "v1", "pods", "Pod");
//! let web = ObjectReference::new(&pods, Some("default"), "web");
//! for _ in 0..1000 {
//!     recorder.event(&web, None, EventKind::Warning, "FailedMount", "Mounting", "volume data is not there");
//! }
//!
//! // Until the program ends, as a rule. What is left is written then.
//! let report = broadcaster.run(async {}).await;
//! assert_eq!(report.abandoned, 0);
//! assert_eq!(sink.events().len(), 1);
//! assert_eq!(sink.events()[0].count(), 1000);
//! # }
//! ```
//!
//! # Cancel safety
//! Dropping the future of [`Broadcaster::run`] ends everything at once. Nothing is spawned.
//!
//! # Features
//! * `k8s-openapi`: `ObjectReference::typed`, for objects of its types. The version of Kubernetes is the program's to choose.
//!
//! # Swap it
//! Implement [`EventSink`] for another place to write to, [`Metrics`] for another way to count. [`Machine`] and [`Correlator`] work without
//! the driver.

mod broadcaster;
mod edge;
mod event;
mod machine;
mod metrics;
mod name;
mod options;
mod recorder;
mod reference;
mod sink;
mod stats;
mod time;

pub use broadcaster::{Broadcaster, Report};
pub use event::{Event, EventKind, EventMeta, EventSeries, NOTE_LIMIT, WORD_LIMIT};
pub use machine::{COMBINED, Correlated, Correlator, Fate, Machine, SeriesId, Verb, Verdict, Write, Written};
pub use metrics::Metrics;
pub use options::{Grouping, Options};
pub use recorder::{Occurrence, Recorder};
pub use reference::ObjectReference;
pub use sink::{ApiSink, BoxEventSink, EventSink, MemorySink, Refusal, SinkError};
pub use stats::Stats;
pub use time::MicroTime;
