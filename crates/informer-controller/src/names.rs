//! Names of controllers that are measured: no two write one series.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The names that are taken in this process.
static TAKEN: Mutex<BTreeSet<Arc<str>>> = Mutex::new(BTreeSet::new());

/// A name that is taken as long as this lives.
pub(crate) struct Claim(Arc<str>);

impl Claim {
    /// `None`: somebody has it.
    pub(crate) fn take(name: &Arc<str>) -> Option<Self> {
        taken().insert(name.clone()).then(|| Self(name.clone()))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        taken().remove(&self.0);
    }
}

fn taken() -> MutexGuard<'static, BTreeSet<Arc<str>>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}
