//! Tests of informer-client.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod cases;
mod discovery;
mod errors;
mod kinds;
mod lists;
mod meta;
mod scripted;
mod sources;
mod verbs;
