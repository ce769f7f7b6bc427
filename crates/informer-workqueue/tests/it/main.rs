//! Tests of the work queue through its public interface.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod cases;
mod due;
mod handle;
mod limiter;
mod model;
mod order;
mod parallel;
mod stress;
mod support;
mod trace;
mod upstream;
