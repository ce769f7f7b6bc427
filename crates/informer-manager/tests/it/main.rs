//! Tests of the manager.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod cluster;
mod cm_04;
mod controllers;
mod election;
mod events;
mod health;
mod model;
mod order;
mod script;
mod serve;
mod signals;
mod stop;
mod support;
mod traces;
