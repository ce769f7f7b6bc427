//! Behaviour of the test kit, through its public API.

#![allow(
    clippy::unwrap_used,
    reason = "a test may unwrap, and so may what tests share"
)]

mod support;

mod apply;
mod crds;
mod deletion;
mod discovery;
mod faults;
mod history;
mod http;
mod lists;
mod namespaces;
mod objects;
mod restore;
mod scripted;
mod selectors;
mod strategic;
mod streaming;
mod tables;
mod tasks;
mod transport;
mod watches;
mod workload;
