//! A name for a candidate that no other has.

use std::{
    env, fs,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

/// `<host>_<random>`, as controller-runtime's default. Another one at each call.
#[must_use]
pub fn unique_identity() -> Arc<str> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| env::var("HOSTNAME").ok())
        .or_else(|| env::var("COMPUTERNAME").ok())
        .map(|host| host.trim().to_owned())
        .filter(|host| !host.is_empty())
        .unwrap_or_else(|| "localhost".to_owned());
    format!("{host}_{:016x}{:016x}", random_seed(), random_seed()).into()
}

/// A number that differs from process to process and from call to call. This is the edge where chance enters.
pub(crate) fn random_seed() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
