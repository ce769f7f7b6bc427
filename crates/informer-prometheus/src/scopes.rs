//! What is measured, and how much of that there may be: series go away with whom they are about.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prometheus::IntCounter;

/// Removes the series of these label values.
type Remove = Box<dyn FnOnce(&[&str]) + Send + Sync>;

/// A kind of thing and its name, as label values.
type Name = (&'static str, Vec<String>);

/// Counts whoever writes the series of each name.
pub(crate) struct Scopes {
    max: usize,
    refused: IntCounter,
    writers: Mutex<BTreeMap<Name, usize>>,
}

impl Scopes {
    pub(crate) fn new(max: usize, refused: IntCounter) -> Arc<Self> {
        Arc::new(Self {
            max,
            refused,
            writers: Mutex::default(),
        })
    }

    /// Makes the series of a name, or joins those who write them already. `None` when there are too many: nothing is counted then.
    ///
    /// `remove` runs when the last one is gone. Both run under the lock, so that nobody makes what another removes.
    pub(crate) fn enter<H>(
        self: &Arc<Self>,
        kind: &'static str,
        labels: Vec<String>,
        make: impl FnOnce(&[&str]) -> H,
        remove: impl FnOnce(&[&str]) + Send + Sync + 'static,
    ) -> Option<(H, Lease)> {
        let mut writers = self.lock();
        let name = (kind, labels);
        if !writers.contains_key(&name) && writers.len() >= self.max {
            self.refused.inc();
            return None;
        }
        *writers.entry(name.clone()).or_default() += 1;
        let handles = make(&as_strs(&name.1));
        let lease = Lease {
            scopes: self.clone(),
            name,
            remove: Some(Box::new(remove)),
        };
        Some((handles, lease))
    }

    /// Whether somebody writes the series of a name.
    #[cfg(feature = "informer")]
    pub(crate) fn has(&self, kind: &'static str, labels: &[String]) -> bool {
        self.lock().contains_key(&(kind, labels.to_vec()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Name, usize>> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn as_strs(labels: &[String]) -> Vec<&str> {
    labels.iter().map(String::as_str).collect()
}

/// The right to write some series. They go when the last of those who have it drops it.
pub(crate) struct Lease {
    scopes: Arc<Scopes>,
    name: Name,
    remove: Option<Remove>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut writers = self.scopes.lock();
        let is_last = match writers.get_mut(&self.name) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        if is_last {
            writers.remove(&self.name);
            if let Some(remove) = self.remove.take() {
                remove(&as_strs(&self.name.1));
            }
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.name).finish()
    }
}
