//! The lock and the condition of the handle: the standard library's, or loom's, which tries every interleaving of a test.
//!
//! loom's are there in this crate's own tests alone (`RUSTFLAGS="--cfg loom" cargo test --lib`), so that nobody who depends on the crate
//! ever meets loom.

#[cfg(all(test, loom))]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
