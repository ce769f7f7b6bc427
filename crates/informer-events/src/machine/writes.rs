//! What waits to be written, is being written, or is to be tried again: at most one write per series.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use super::{SeriesId, correlator::with_series};
use crate::{Event, EventSeries, Refusal};

/// How an event is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// It is created.
    Create,
    /// The series of the one that is there is patched.
    Patch,
}

/// One request to be made. What came of it is told by [`Machine::handle_written`](super::Machine::handle_written).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Write {
    /// Whose.
    pub id: SeriesId,
    /// How.
    pub verb: Verb,
    /// What.
    pub event: Event,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Written {
    /// The server has it.
    Done,
    /// It is to be tried again, later or in the other way.
    Again,
    /// It is given up: the server will not have it.
    Rejected,
    /// It is given up: it was tried too often.
    Exhausted,
}

#[derive(Debug, Clone)]
struct Pending {
    first: Arc<Event>,
    series: Option<EventSeries>,
    verb: Verb,
    tries: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    InFlight { newer: bool },
    Waiting(Instant),
}

/// The writes.
#[derive(Debug, Clone, Default)]
pub(super) struct Writes {
    pending: BTreeMap<SeriesId, Pending>,
    ready: VecDeque<SeriesId>,
    waiting: BTreeSet<(Instant, SeriesId)>,
    n_in_flight: usize,
}

impl Writes {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether a write of this series is there already.
    pub(super) fn has(&self, id: SeriesId) -> bool {
        self.pending.contains_key(&id)
    }

    /// Writes the state of a series, in the place of an older one that was not sent yet.
    pub(super) fn push(&mut self, id: SeriesId, verb: Verb, first: Arc<Event>, series: Option<EventSeries>) {
        if self.update(id, series) {
            return;
        }
        let pending = Pending {
            first,
            series,
            verb,
            tries: 0,
            state: State::Ready,
        };
        self.pending.insert(id, pending);
        self.ready.push_back(id);
    }

    /// If a write of this series is there, makes it one of this state, or has it followed by one.
    pub(super) fn update(&mut self, id: SeriesId, series: Option<EventSeries>) -> bool {
        let Some(pending) = self.pending.get_mut(&id) else {
            return false;
        };
        pending.series = series;
        if let State::InFlight { newer } = &mut pending.state {
            *newer = true;
        }
        true
    }

    /// Whether a write of this series is there and will begin after now.
    pub(super) fn will_send(&self, id: SeriesId) -> bool {
        self.pending
            .get(&id)
            .is_some_and(|pending| pending.state != State::InFlight { newer: false })
    }

    /// The next write to be sent, as long as fewer than so many are.
    pub(super) fn poll(&mut self, max_in_flight: usize) -> Option<Write> {
        if self.n_in_flight >= max_in_flight.max(1) {
            return None;
        }
        let id = self.ready.pop_front()?;
        let pending = self.pending.get_mut(&id)?;
        pending.state = State::InFlight { newer: false };
        self.n_in_flight += 1;
        Some(Write {
            id,
            verb: pending.verb,
            event: with_series(&pending.first, pending.series),
        })
    }

    /// When the first of those that wait is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.waiting.first().map(|(at, _)| *at)
    }

    /// Those that waited long enough are ready.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(at, id)) = self.waiting.first() {
            if at > now {
                break;
            }
            self.waiting.pop_first();
            self.make_ready(id);
        }
    }

    /// Nobody waits any more.
    pub(super) fn hurry(&mut self) {
        for (_, id) in std::mem::take(&mut self.waiting) {
            self.make_ready(id);
        }
    }

    fn make_ready(&mut self, id: SeriesId) {
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.state = State::Ready;
            self.ready.push_back(id);
        }
    }

    /// What the server said. `delay` is how long to wait before the next try, if there is one (client-go `events.recordEvent` and
    /// `attemptRecording`).
    pub(super) fn handle_written(
        &mut self,
        now: Instant,
        id: SeriesId,
        result: Result<(), Refusal>,
        max_tries: u32,
        delay: Duration,
    ) -> Option<Written> {
        let pending = self.pending.get_mut(&id)?;
        let State::InFlight { newer } = pending.state else {
            return None;
        };
        self.n_in_flight -= 1;
        let is_series = pending.series.is_some();
        let wait = match (result, pending.verb) {
            // The retry of a create whose answer was lost.
            (Ok(()), _) => {
                self.done(id, newer);
                return Some(Written::Done);
            }
            (Err(Refusal::Exists), Verb::Create) if !is_series => {
                self.done(id, newer);
                return Some(Written::Done);
            }
            // It was deleted, or its time on the server was over.
            (Err(Refusal::Gone), Verb::Patch) => {
                pending.verb = Verb::Create;
                pending.state = State::Ready;
                self.ready.push_front(id);
                return Some(Written::Again);
            }
            // Two of a kind in a short time: the first had not been there yet when the series was patched.
            (Err(Refusal::Exists), Verb::Create) => {
                pending.verb = Verb::Patch;
                delay
            }
            (Err(Refusal::Unavailable { retry_after }), _) => delay.max(retry_after.unwrap_or_default()),
            (Err(_), _) => {
                self.pending.remove(&id);
                return Some(Written::Rejected);
            }
        };
        pending.tries += 1;
        if pending.tries >= max_tries {
            self.pending.remove(&id);
            return Some(Written::Exhausted);
        }
        let at = now.checked_add(wait).unwrap_or(now);
        pending.state = State::Waiting(at);
        self.waiting.insert((at, id));
        Some(Written::Again)
    }

    fn done(&mut self, id: SeriesId, newer: bool) {
        if !newer {
            self.pending.remove(&id);
            return;
        }
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.verb = Verb::Patch;
            pending.tries = 0;
            pending.state = State::Ready;
            self.ready.push_back(id);
        }
    }

    /// Gives everything up. Returns how many there were.
    pub(super) fn abandon(&mut self) -> usize {
        let left = self.len();
        *self = Self::default();
        left
    }
}
