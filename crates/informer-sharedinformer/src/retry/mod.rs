//! What could not be applied to the store: when it is tried again, and when the source is asked for the whole state instead. Pure.

use std::{
    collections::BTreeMap,
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use informer_core::{Batch, Cause, CommitError, Delta, Key};

pub(crate) use self::last_word::LastWord;

mod last_word;

const FIRST: Duration = Duration::from_millis(100);
const LAST: Duration = Duration::from_secs(10);

/// After so many attempts in a row a relist is wanted, after twice as many the next, and so on.
const ATTEMPTS: u32 = 5;

/// At the latest after so many more: about every quarter of an hour.
const MOST_ATTEMPTS: u32 = 80;

/// Deltas that the store refused. Those of one object wait here, so that they hold nobody up; a later delta of the same object, or a list,
/// makes them moot. A list that was refused as a whole goes back to the queue instead, and nothing passes it.
///
/// What stays refused may be due to what was missed, so the source is asked to list again, longer apart each time, until all is well.
#[derive(Debug)]
pub(crate) struct Refused<Q, K> {
    parked: BTreeMap<Q, Parked<Q, K>>,
    /// A list was refused.
    blocked: bool,
    /// Attempts in a row after which something was refused still.
    attempts: u32,
    retry_at: Option<Instant>,
    /// The attempt after which a relist is wanted.
    relist_at: u32,
    /// What was parked is being tried once more.
    again: bool,
    last_word: LastWord<Q>,
}

#[derive(Debug)]
struct Parked<Q, K> {
    delta: Delta<Q, K>,
    why: Arc<str>,
}

/// What comes of a refusal.
#[derive(Debug)]
pub(crate) struct Refusal<Q, K> {
    /// Goes back to the queue.
    pub(crate) back: Vec<Delta<Q, K>>,
    /// The source is to list again.
    pub(crate) relist: bool,
}

impl<Q: Key, K> Refused<Q, K> {
    pub(crate) fn new(last_word: LastWord<Q>) -> Self {
        Self {
            parked: BTreeMap::new(),
            blocked: false,
            attempts: 0,
            retry_at: None,
            relist_at: ATTEMPTS,
            again: false,
            last_word,
        }
    }

    /// These are about to be applied: what waits of the same objects is history.
    pub(crate) fn supersede(&mut self, batch: &Batch<Q, K>) {
        for delta in &batch.deltas {
            match delta {
                Delta::Replace { .. } => {
                    self.parked.clear();
                    self.last_word.forget_all();
                    self.blocked = false;
                }
                // A resync repeats what is stored: it is older than what was refused, not newer.
                Delta::Upsert(_, Cause::Sync) => {}
                Delta::Upsert(..) | Delta::Delete { .. } | Delta::Unreadable { .. } => {
                    if let Some(key) = delta.key() {
                        self.parked.remove(key);
                        self.last_word.forget(key);
                    }
                }
                Delta::Resync | Delta::Bookmark { .. } => {}
            }
        }
        if self.is_empty() {
            self.retry_at = None;
        }
    }

    /// These were refused, if any; to be told after each attempt to apply something.
    pub(crate) fn refuse(
        &mut self,
        now: Instant,
        failed: Vec<Delta<Q, K>>,
        error: Option<&CommitError<Q>>,
    ) -> Refusal<Q, K> {
        let mut back = Vec::new();
        let again = mem::take(&mut self.again);
        for delta in failed {
            match delta.key().cloned() {
                // Overtaken while it was tried.
                Some(key) if again && !self.last_word.holds(&key) => {}
                Some(key) => {
                    let why = reason(&key, error);
                    self.last_word.keep(&key);
                    self.parked.insert(key, Parked { delta, why });
                }
                None => {
                    self.blocked |= matches!(delta, Delta::Replace { .. });
                    back.push(delta);
                }
            }
        }
        let mut relist = false;
        if self.is_empty() {
            self.last_word.forget_all();
            *self = Self::new(self.last_word.clone());
        } else if self.retry_at.is_none_or(|at| at <= now) {
            let wait = FIRST.saturating_mul(1 << self.attempts.min(16)).min(LAST);
            self.attempts = self.attempts.saturating_add(1);
            self.retry_at = Some(now + wait);
            if self.attempts >= self.relist_at {
                relist = true;
                self.relist_at = self.attempts.saturating_add(self.attempts.min(MOST_ATTEMPTS));
            }
        }
        Refusal { back, relist }
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
            self.again = true;
            let mut parked = mem::take(&mut self.parked);
            parked.retain(|key, _| self.last_word.holds(key));
            batch.deltas.extend(parked.into_values().map(|it| it.delta));
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

    /// Objects that wait.
    pub(crate) fn len(&self) -> usize {
        self.parked.len()
    }

    /// Each that waits, in key order, and why.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Q, &Arc<str>)> {
        self.parked.iter().map(|(key, parked)| (key, &parked.why))
    }
}

fn reason<Q: Key>(key: &Q, error: Option<&CommitError<Q>>) -> Arc<str> {
    let failure = error.and_then(|error| error.failed.iter().find(|failure| failure.key == *key));
    match failure {
        Some(failure) => match &failure.index {
            Some(index) => format!("index {index:?}: {}", failure.cause).into(),
            None => failure.cause.to_string().into(),
        },
        // A store of somebody's own that does not say.
        None => "refused by the store".into(),
    }
}

#[cfg(test)]
mod tests;
