//! Tests of the public interface.

mod cases;
mod certificates;
mod credentials;
mod find;
mod in_cluster;
mod overrides;
mod process;
mod refused;
mod support;
