//! Tests of informer-transport.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod api_error;
mod cases;
mod chunking;
mod codec;
mod corpus;
mod dynamic;
mod limit;
mod list;
mod properties;
#[cfg(feature = "protobuf")]
mod protobuf;
mod request;
mod tables;
mod watch;
