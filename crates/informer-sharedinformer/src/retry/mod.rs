//! What could not be applied to the store, and when it is tried again. Pure.

use std::{
    collections::BTreeMap,
    mem,
    time::{Duration, Instant},
};

use informer_core::{Batch, Delta, Key};

const FIRST: Duration = Duration::from_millis(100);
const LAST: Duration = Duration::from_secs(10);

/// Deltas that the store refused. Those of one object wait here, so that they hold nobody up; a later delta of the same object, or a list,
/// makes them moot. A list that was refused as a whole goes back to the queue instead, and nothing passes it.
#[derive(Debug)]
pub(crate) struct Refused<Q, K> {
    parked: BTreeMap<Q, Delta<Q, K>>,
    /// A list was refused.
    blocked: bool,
    /// Attempts in a row after which something was refused still.
    attempts: u32,
    retry_at: Option<Instant>,
}

impl<Q: Key, K> Refused<Q, K> {
    pub(crate) fn new() -> Self {
        Self {
            parked: BTreeMap::new(),
            blocked: false,
            attempts: 0,
            retry_at: None,
        }
    }

    /// These are about to be applied: what waits of the same objects is history.
    pub(crate) fn supersede(&mut self, batch: &Batch<Q, K>) {
        for delta in &batch.deltas {
            match delta {
                Delta::Replace { .. } => {
                    self.parked.clear();
                    self.blocked = false;
                }
                Delta::Upsert(..) | Delta::Delete { .. } | Delta::Unreadable { .. } => {
                    delta.key().and_then(|key| self.parked.remove(key));
                }
                Delta::Resync | Delta::Bookmark { .. } => {}
            }
        }
        self.rest();
    }

    /// These were refused. Returns what goes back to the queue.
    pub(crate) fn refuse(&mut self, now: Instant, failed: Vec<Delta<Q, K>>) -> Vec<Delta<Q, K>> {
        let mut back = Vec::new();
        for delta in failed {
            match delta.key().cloned() {
                Some(key) => drop(self.parked.insert(key, delta)),
                None => {
                    self.blocked |= matches!(delta, Delta::Replace { .. });
                    back.push(delta);
                }
            }
        }
        if self.is_empty() {
            self.rest();
        } else if self.retry_at.is_none_or(|at| at <= now) {
            let wait = FIRST.saturating_mul(1 << self.attempts.min(16)).min(LAST);
            self.attempts += 1;
            self.retry_at = Some(now + wait);
        }
        back
    }

    /// When [`handle_timeout`](Self::handle_timeout) is next of use.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.retry_at
    }

    /// What is to be tried now, into an empty batch. Whatever waits has been overtaken, so its versions say nothing.
    pub(crate) fn handle_timeout(&mut self, now: Instant, batch: &mut Batch<Q, K>) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.blocked = false;
            batch.initial = false;
            batch.in_order = false;
            batch.deltas.extend(mem::take(&mut self.parked).into_values());
        }
    }

    /// Whether the queue must wait.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Whether all is well.
    pub(crate) fn is_empty(&self) -> bool {
        self.parked.is_empty() && !self.blocked
    }

    fn rest(&mut self) {
        if self.is_empty() {
            self.attempts = 0;
            self.retry_at = None;
        }
    }
}

#[cfg(test)]
mod tests;
