//! Tests of informer-client.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod cases;
mod discovery;
mod errors;
mod finalizers;
mod kinds;
mod lists;
mod meta;
mod objects;
mod repeated;
mod rest_mapper;
mod scripted;
mod sources;
mod subresources;
mod tables;
mod verbs;
mod wires;
mod wrappers;
