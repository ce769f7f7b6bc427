//! Controllers, caches, servers and leader election, started and stopped in order.
