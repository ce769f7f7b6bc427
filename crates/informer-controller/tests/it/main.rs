//! Tests of the controller through its public interface.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod build;
mod informer;
mod life;
mod mapping;
mod outcomes;
mod server;
mod support;
mod workers;
