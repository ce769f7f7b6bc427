//! Tests of the store's public interface.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests ends the test where something unexpected comes"
)]

mod add_index;
mod cases;
mod commit;
mod contract;
mod failures;
mod model;
mod read;
mod replace;
mod support;
mod threads;
mod versions;
