//! The numbers of a broadcaster, for whoever collects them.

use std::{sync::Arc, time::Duration};

use crate::{Fate, Verb, Written};

/// Is told what becomes of events; client-go has no numbers for that. `()` ignores them all.
///
/// A broadcaster without one calls nothing. Called by whoever records and by the driver, under no lock: count and return.
pub trait Metrics: Send + Sync {
    /// An event was recorded, and this became of it.
    fn recorded(&self, _fate: Fate) {}

    /// A write ended so, after so long.
    fn written(&self, _verb: Verb, _result: Written, _took: Duration) {}

    /// So many writes wait or are under way.
    fn waiting(&self, _writes: usize) {}
}

impl Metrics for () {}

impl<M: Metrics + ?Sized> Metrics for Arc<M> {
    fn recorded(&self, fate: Fate) {
        (**self).recorded(fate);
    }

    fn written(&self, verb: Verb, result: Written, took: Duration) {
        (**self).written(verb, result, took);
    }

    fn waiting(&self, writes: usize) {
        (**self).waiting(writes);
    }
}
