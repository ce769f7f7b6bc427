//! The `informer` program.

fn main() {}
