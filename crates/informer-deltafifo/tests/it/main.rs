//! Tests of the queues' public interface.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests ends the test where something unexpected comes"
)]

mod bad_input;
mod cases;
mod coalescing_model;
mod contract;
mod delta_fifo_model;
mod in_order_model;
mod support;
mod traces;
