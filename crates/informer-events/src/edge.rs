//! Where the wall time, chance and the name of the machine enter.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The wall time.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the edge where wall time enters"
)]
pub(crate) fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A seed that no other process has.
pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one(0_u8)
}

/// The name of this machine, which in a pod is that of the pod; `unknown` where it cannot be told.
pub(crate) fn hostname() -> String {
    let of_environment = std::env::var("HOSTNAME").ok();
    let of_kernel = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    of_environment
        .filter(|name| !name.is_empty())
        .or_else(of_kernel)
        .map_or_else(|| "unknown".to_owned(), |name| name.trim().to_owned())
}
