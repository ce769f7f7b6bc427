//! Tests of informer-events.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod correlator;
mod driver;
mod model;
mod recorder;
mod reference;
mod server;
mod support;
mod trace;
mod upstream;
