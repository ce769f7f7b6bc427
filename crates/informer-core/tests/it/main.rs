//! Tests of the vocabulary and of what the contracts provide.

mod contract;
mod handle;
mod key;
mod resource;
mod support;
mod version;
