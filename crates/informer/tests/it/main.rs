//! Tests of the facade: the layers joined, against the embedded API server.

#![expect(clippy::unwrap_used, reason = "a failed test says where")]

mod control_loop;
mod factory;
mod forms;
mod whole;
