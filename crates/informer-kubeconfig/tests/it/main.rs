//! Tests of the public interface.

mod cases;
mod certificates;
mod corpus;
mod credentials;
mod find;
mod in_cluster;
mod overrides;
mod process;
mod properties;
mod refused;
mod support;
