//! Tests of informer-cache.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod client;
mod forms;
mod isolation;
mod kinds;
mod namespaces;
mod own_writes;
mod own_writes_edges;
mod precedence;
mod reads;
mod server;
mod support;
mod wires;
