//! Tests of the vocabulary and of what the contracts provide.

mod contract;
mod corpus;
mod handle;
mod key;
mod properties;
mod resource;
mod support;
mod version;
