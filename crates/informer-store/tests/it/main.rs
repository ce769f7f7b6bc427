//! Tests of the store's public interface.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests ends the test where something unexpected comes"
)]

mod add_index;
mod bad_input;
mod by_object;
mod caches;
mod cases;
mod commit;
mod contract;
mod failures;
mod model;
mod pages;
mod read;
mod replace;
mod support;
mod threads;
mod versions;
