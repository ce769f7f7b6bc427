//! Behaviour of the test kit, through its public API.

mod support;

mod scripted;
mod tasks;
