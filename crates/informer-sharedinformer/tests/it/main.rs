//! Tests of the shared informer through its public interface.

#![expect(clippy::unwrap_used, reason = "a failed test says where")]

mod backlog;
mod bad_input;
mod cases;
mod commit;
mod contract;
mod contract_states;
mod corpus;
mod factory;
mod filter;
mod handlers;
mod late;
mod life;
mod lister;
mod metrics;
mod namespaces;
mod properties;
mod pump;
mod resync;
mod selector;
mod support;
mod view;
mod world;
