//! Benchmarks of the workspace.
