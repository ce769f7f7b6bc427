//! Tests of the public interface.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod cases;
mod certificates;
mod corpus;
mod credentials;
mod describe;
mod exec;
mod find;
mod hangs;
mod in_cluster;
mod overrides;
mod process;
mod properties;
mod refused;
mod refused_late;
#[cfg(unix)]
mod secrets;
mod support;
