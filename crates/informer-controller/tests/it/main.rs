//! Tests of the controller through its public interface.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod build;
mod conformance;
mod defaults;
mod informer;
mod kinds;
mod later;
mod life;
mod lines;
mod mapping;
mod namespaces;
mod outcomes;
mod panics;
mod predicates;
mod queues;
mod server;
mod support;
mod table;
mod workers;
