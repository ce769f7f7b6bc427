//! Tests of the vocabulary and of what the contracts provide.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests ends the test where something unexpected comes"
)]

mod contract;
mod handle;
mod key;
mod resource;
mod support;
mod version;
