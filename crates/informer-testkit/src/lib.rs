//! Test kit for informers: the API server as a pure model, a manual clock, scripted sources and transports.
//!
//! # What it is
//! * [`FakeApi`]: what informers meet of a Kubernetes API server, as a value: resources, optimistic concurrency, patches and server-side
//!   apply, selectors, pages, watches, bookmarks, streaming lists, a bounded history, custom resources, discovery, and [`Faults`].
//! * [`SharedApi`] and [`FakeTransport`]: the model behind a lock, as a `Transport` without sockets or runtime.
//! * [`ScriptedTransport`] and [`ScriptedSource`]: answers that a test writes down, byte for byte or event for event.
//! * [`ManualClock`], [`Tasks`], [`block_on`]: virtual time and a stepped executor.
//! * [`replay_corpus`]: what a fuzz target holds to, held to by a test.
//! * [`check_trace`]: text traces of a machine.
//! * [`workload`]: a sample cluster whose pods start, run, move, restart and finish.
//! * [`conformance`]: suites that check a layer of your own against the contract of the one it stands in for.
//!
//! # What it is not
//! It needs no async runtime, opens no socket and reads no clock. `informer-apiserver` serves the same model over HTTP. It is no whole
//! API server: [`FakeApi`] says what is left out.
//!
//! # Example
//! ```
//! use informer_core::Resource;
//! use informer_testkit::{FakeApi, WatchOptions};
//! use serde_json::json;
//!
//! let pods = Resource::namespaced("", "v1", "pods", "Pod");
//! let mut api = FakeApi::with_builtins();
//! let watch = api.watch(&pods, &WatchOptions::from_version(api.revision()))?;
//!
//! api.create(&pods, json!({"metadata": {"name": "web"}}))?;
//! api.delete(&pods, Some("default"), "web")?;
//!
//! let events = api.drain_watch(watch);
//! let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str()).collect();
//! assert_eq!(kinds, [Some("ADDED"), Some("DELETED")]);
//! # Ok::<(), informer_testkit::ApiError>(())
//! ```
//!
//! # Time
//! The model learns the time with each request and from [`FakeApi::tick`]; the same calls at the same times with the same seed give the
//! same bytes.
//!
//! # Swap it
//! [`FakeTransport`] and [`ScriptedTransport`] implement `informer_transport::Transport`, [`ScriptedSource`] implements
//! `informer_core::ListerWatcher`, [`ManualClock`] implements `informer_core::Clock`: whatever takes those takes these.

mod api;
mod clock;
pub mod conformance;
mod corpus;
mod faults;
pub mod hostile;
mod http;
mod rng;
mod scripted;
mod shared;
mod tasks;
mod traces;
pub mod workload;

pub use api::{
    ApiError, Cause, DeleteOptions, FakeApi, FieldSelector, LabelSelector, ListOptions, ObjectList, Options,
    Patch, Propagation, ResourceDef, SelectorError, WatchEnd, WatchId, WatchOptions, WatchPoll,
};
pub use clock::ManualClock;
pub use corpus::replay_corpus;
pub use faults::{Fault, Faults, On, Plan};
pub use http::{BodyPoll, ExchangeId, Failure, HeadPoll, LoggedRequest, Reply, RequestLog, Verb};
pub use rng::Rng;
pub use scripted::{
    Answer, BodyHandle, Expect, ListScript, Recorded, ScriptedBody, ScriptedFeed, ScriptedSource,
    ScriptedTransport, SourceRequest,
};
pub use shared::{ApiBody, FakeTransport, SharedApi};
pub use tasks::{TaskId, Tasks, block_on, poll_once};
pub use traces::{check_trace, trace_names};
