//! One dial at a time: whoever wants a connection that can be shared waits for the one that is being opened.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::{Mutex, MutexGuard};

use crate::Error;

/// Many informers begin at once, and one HTTP/2 connection serves them all. Those who waited for a dial that failed share its error: an
/// address where nothing answers costs everybody one timeout, not one after another.
#[derive(Debug)]
pub(crate) struct Flight {
    gate: Mutex<Option<Failure>>,
    n_landed: AtomicU64,
    /// Connections turned out to carry one request each, so that there is nothing to wait for.
    is_single: AtomicBool,
}

/// The latest dial, if it failed.
#[derive(Debug)]
struct Failure {
    number: u64,
    error: Error,
}

/// What somebody who wants a connection may do.
#[derive(Debug)]
pub(crate) enum Turn<'a> {
    /// Dial, together with others.
    Alone,
    /// Look for a connection that came meanwhile, else dial while others wait.
    First(Ticket<'a>),
    /// The dial that was under way has failed.
    Failed(Error),
}

/// Held while dialing.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    flight: &'a Flight,
    gate: MutexGuard<'a, Option<Failure>>,
}

impl Flight {
    pub(crate) fn new(is_single: bool) -> Self {
        Self {
            gate: Mutex::new(None),
            n_landed: AtomicU64::new(0),
            is_single: AtomicBool::new(is_single),
        }
    }

    /// Waits for the turn.
    pub(crate) async fn turn(&self) -> Turn<'_> {
        if self.is_single.load(Ordering::Acquire) {
            return Turn::Alone;
        }
        // A dial that is under way now, or begins later, is one whose failure concerns the caller.
        let concerned_from = self.n_landed.load(Ordering::Acquire) + 1;
        let gate = self.gate.lock().await;
        match &*gate {
            Some(failure) if failure.number >= concerned_from => Turn::Failed(failure.error.clone()),
            _ if self.is_single.load(Ordering::Acquire) => Turn::Alone,
            _ => Turn::First(Ticket { flight: self, gate }),
        }
    }

    /// What connections turned out to be.
    pub(crate) fn learned(&self, is_single: bool) {
        self.is_single.store(is_single, Ordering::Release);
    }
}

impl Ticket<'_> {
    /// The dial is over. One that is dropped instead was given up, and the next in line dials.
    pub(crate) fn landed(mut self, error: Option<&Error>) {
        let number = self.flight.n_landed.fetch_add(1, Ordering::AcqRel) + 1;
        *self.gate = error.map(|error| Failure {
            number,
            error: error.clone(),
        });
    }
}
