//! A handler that is not ours: it writes down keys.

use std::sync::{Arc, Mutex, PoisonError};

use informer_core::{Change, EventHandler, Key};

/// Writes down the keys of changes, but not of resyncs. Clones share the diary.
#[derive(Debug)]
pub struct Diary<Q>(Arc<Mutex<Vec<Q>>>);

impl<Q> Diary<Q> {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::default())
    }

    /// What was written since the last time.
    #[must_use]
    pub fn tear_out(&self) -> Vec<Q> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<Q> Default for Diary<Q> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q> Clone for Diary<Q> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: Key, K> EventHandler<Q, K> for Diary<Q> {
    fn on_change(&mut self, change: &Change<Q, K>) {
        if !matches!(change, Change::Resynced { .. }) {
            let mut diary = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            diary.push(change.key().clone());
        }
    }
}
