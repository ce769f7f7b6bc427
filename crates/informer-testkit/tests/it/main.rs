//! Behaviour of the test kit, through its public API.

#![allow(
    clippy::unwrap_used,
    reason = "a test may unwrap, and so may what tests share"
)]

mod support;

mod crds;
mod discovery;
mod faults;
mod history;
mod http;
mod lists;
mod objects;
mod scripted;
mod selectors;
mod streaming;
mod tasks;
mod transport;
mod watches;
mod workload;
