//! The lock of the handle and the parking of threads, and what stands in for them where loom tries every interleaving.
//!
//! loom's are there in this crate's own tests alone (`RUSTFLAGS="--cfg loom" cargo test --lib`), so that nobody who depends on the crate
//! ever meets loom.

#[cfg(all(test, loom))]
pub(crate) use loom::{
    sync::{Mutex, MutexGuard},
    thread::{Thread, current, park},
};
#[cfg(not(all(test, loom)))]
pub(crate) use std::{
    sync::{Mutex, MutexGuard},
    thread::{Thread, current, park, park_timeout},
};

/// loom has no time: what waits for it is not among its tests.
#[cfg(all(test, loom))]
pub(crate) fn park_timeout(_: std::time::Duration) {
    unreachable!("nothing is delayed under loom");
}
