//! The rules of an election as a pure state machine.
//!
//! *Inputs*: [`handle_input`](Machine::handle_input) and [`handle_timeout`](Machine::handle_timeout), with the time of a local clock that
//! never goes backward. *Outputs*: [`poll_action`](Machine::poll_action), to be drained after each input and after [`new`](Machine::new), and
//! [`poll_timeout`](Machine::poll_timeout), when to call `handle_timeout` at the latest. One request is open at a time.
//!
//! # Why there is one leader at most
//! A leader leads until the renew deadline after it *sent* the last renewal that went through; the record changed later than that, others
//! saw the change later still, and wait for the lease duration from there. Each by a clock of its own: only the rates matter, not what the
//! clocks show, and they may differ by the lease duration over the renew deadline. Every write carries the version that was read, so that of
//! several that try at once one gets through.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use informer_backoff::SplitMix64;
use informer_core::ResourceVersion;

use crate::{InvalidOptions, Observed, Options, Record, Term};

mod action;
mod attempt;
mod release;

pub use action::{Action, End, Failure, Input, Loss, Why};

/// The rules of one candidate for one run. See the module documentation.
#[derive(Debug)]
pub struct Machine {
    options: Options,
    random: SplitMix64,
    state: State,
    call: Option<Call>,
    /// Counts the requests that were opened or abandoned.
    calls: u64,
    attempt_began: Instant,
    next_attempt: Option<Instant>,
    seen: Option<Seen>,
    reported: Arc<str>,
    /// A write of unknown outcome was abandoned: the server may hold this candidate for the holder.
    dangling: bool,
    actions: VecDeque<Action>,
}

#[derive(Debug)]
enum State {
    Acquiring,
    Leading(Reign),
    Releasing(Releasing),
    Ended,
}

#[derive(Debug)]
struct Reign {
    term: Term,
    /// When the last renewal that went through was sent.
    renewed: Instant,
    /// Asked to stop: when to wait for the work no longer.
    stopping: Option<Instant>,
    work_ended: bool,
}

#[derive(Debug)]
struct Releasing {
    until: Instant,
    conflicts: u32,
    again: Option<Instant>,
}

/// The last record that was seen, and since when it is as it is.
#[derive(Debug)]
struct Seen {
    now: Observed,
    since: Instant,
}

/// The open request.
#[derive(Debug)]
struct Call {
    what: What,
    sent: Instant,
    until: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// An update without a read before it.
    FastUpdate,
    Read,
    Create,
    Update,
    Release,
}

impl Machine {
    /// A candidate that begins at `now` with reading the lock. All its chance comes from `seed`: candidates should have different ones.
    ///
    /// # Errors
    /// When the options are not [valid](Options::validate).
    pub fn new(options: Options, seed: u64, now: Instant) -> Result<Self, InvalidOptions> {
        options.validate()?;
        let mut machine = Self {
            options,
            random: SplitMix64::new(seed),
            state: State::Acquiring,
            call: None,
            calls: 0,
            attempt_began: now,
            next_attempt: None,
            seen: None,
            reported: Arc::from(""),
            dangling: false,
            actions: VecDeque::new(),
        };
        machine.begin_attempt(now);
        Ok(machine)
    }

    /// Something happened. An answer that nothing waits for is ignored, and so is one that comes after its time.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        let calls = self.calls;
        // What is due by the clock comes first: a process that was paused must not lead on because an answer was waiting for it.
        self.handle_timeout(now);
        match input {
            Input::Stop => self.stop(now),
            Input::WorkEnded => self.work_ended(now),
            _ if self.calls != calls => {}
            Input::Read(found) => self.on_read(now, found),
            Input::Written(left) => self.on_written(now, left),
            Input::Failed(failure) => self.on_failed(now, failure),
        }
    }

    /// Time passed. Does nothing when nothing is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        match &self.state {
            State::Ended => return,
            State::Leading(reign) if self.deadline(reign) <= now => {
                return self.lose(Loss::RenewDeadline);
            }
            State::Leading(reign) if reign.stopping.is_some_and(|until| until <= now) => {
                return self.lose(Loss::WorkDidNotEnd);
            }
            State::Releasing(releasing) if releasing.until <= now => {
                return self.end(End::Stopped { released: false });
            }
            _ => {}
        }
        if self.call.as_ref().is_some_and(|call| call.until <= now) {
            self.hung(now);
        }
        if self.call.is_none() {
            self.begin_what_is_due(now);
        }
    }

    /// What to do next.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest; `None` after the end.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let call = self.call.as_ref().map(|call| call.until);
        let state = match &self.state {
            State::Acquiring => [self.next_attempt, None, None],
            State::Leading(reign) => [self.next_attempt, Some(self.deadline(reign)), reign.stopping],
            State::Releasing(releasing) => [releasing.again, Some(releasing.until), None],
            State::Ended => return None,
        };
        state.into_iter().chain([call]).flatten().min()
    }

    /// The term, while this candidate leads and its lease lasts.
    #[must_use]
    pub fn term(&self, now: Instant) -> Option<&Term> {
        match &self.state {
            State::Leading(reign) if now < self.deadline(reign) => Some(&reign.term),
            _ => None,
        }
    }

    /// Until when this candidate leads if no further renewal goes through; `None` when it does not lead.
    #[must_use]
    pub fn leads_until(&self) -> Option<Instant> {
        match &self.state {
            State::Leading(reign) => Some(self.deadline(reign)),
            _ => None,
        }
    }

    /// The last record seen, with its version, and since when it is as it is by the clock of this candidate.
    #[must_use]
    pub fn observed(&self) -> Option<(&Observed, Instant)> {
        self.seen.as_ref().map(|seen| (&seen.now, seen.since))
    }

    /// Whom the last record seen names as the holder (client-go `GetLeader`).
    #[must_use]
    pub fn leader(&self) -> Option<&Arc<str>> {
        let holder = &self.seen.as_ref()?.now.record.holder;
        (!holder.is_empty()).then_some(holder)
    }

    /// The run is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    fn stop(&mut self, now: Instant) {
        match &mut self.state {
            State::Acquiring => {
                self.abandon();
                if self.dangling && self.options.release_on_cancel {
                    self.begin_release(now, now + self.options.renew_deadline);
                } else {
                    self.end(End::Stopped { released: false });
                }
            }
            State::Leading(reign) if reign.stopping.is_none() => {
                reign.stopping = Some(now + self.options.lease_duration);
                if reign.work_ended {
                    self.step_down(now);
                } else {
                    self.actions.push_back(Action::EndWork);
                }
            }
            State::Leading(_) | State::Releasing(_) | State::Ended => {}
        }
    }

    fn work_ended(&mut self, now: Instant) {
        if let State::Leading(reign) = &mut self.state {
            reign.work_ended = true;
            if reign.stopping.is_some() {
                self.step_down(now);
            }
        }
    }

    /// Leads no more because that was wanted. It is said before the lease is given back, so that the next leader begins after that.
    fn step_down(&mut self, now: Instant) {
        let State::Leading(reign) = &self.state else {
            return;
        };
        let lapses = reign.renewed + self.options.lease_duration;
        self.abandon();
        self.actions.push_back(Action::StoppedLeading(Why::Stopped));
        if self.options.release_on_cancel {
            self.begin_release(now, lapses.min(now + self.options.renew_deadline));
        } else {
            self.end(End::Stopped { released: false });
        }
    }

    /// Leads no more against its will. The lease is not touched: guarded work may still be running for a moment.
    fn lose(&mut self, loss: Loss) {
        self.abandon();
        self.report();
        self.actions
            .push_back(Action::StoppedLeading(Why::Lost(loss.clone())));
        self.end(End::Lost(loss));
    }

    fn end(&mut self, end: End) {
        self.abandon();
        self.next_attempt = None;
        self.state = State::Ended;
        self.actions.push_back(Action::Ended(end));
    }

    fn deadline(&self, reign: &Reign) -> Instant {
        reign.renewed + self.options.renew_deadline
    }

    fn open(&mut self, now: Instant, what: What, action: Action) {
        let mut until = now + self.options.call_timeout();
        match &self.state {
            State::Leading(reign) => until = until.min(self.deadline(reign)),
            State::Releasing(releasing) => until = until.min(releasing.until),
            State::Acquiring | State::Ended => {}
        }
        self.calls += 1;
        self.call = Some(Call {
            what,
            sent: now,
            until,
        });
        self.actions.push_back(action);
    }

    fn abandon(&mut self) {
        if let Some(call) = self.call.take() {
            self.calls += 1;
            self.dangling |= call.what.makes_holder();
            self.actions.push_back(Action::Abandon);
        }
    }

    /// The open request takes too long.
    fn hung(&mut self, now: Instant) {
        let Some(call) = &self.call else { return };
        let what = call.what;
        self.abandon();
        self.failed(now, what, Failure::Other);
    }

    fn begin_what_is_due(&mut self, now: Instant) {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        match &self.state {
            State::Acquiring | State::Leading(_) if is_due(self.next_attempt) => self.begin_attempt(now),
            State::Releasing(releasing) if is_due(releasing.again) => self.read_to_release(now),
            _ => {}
        }
    }

    /// Takes note of a record that was read. The time counts from when it was first seen as it is.
    fn see(&mut self, now: Instant, found: Observed) {
        match &mut self.seen {
            Some(seen) if seen.now.record == found.record => seen.now.version = found.version,
            seen => {
                *seen = Some(Seen {
                    now: found,
                    since: now,
                });
            }
        }
    }

    fn is_me(&self, record: &Record) -> bool {
        record.holder == self.options.identity
    }

    /// Tells of another holder, at the end of an attempt as client-go's `maybeReportTransition`: what it only saw in passing is not told.
    fn report(&mut self) {
        if let Some(seen) = &self.seen
            && seen.now.record.holder != self.reported
        {
            self.reported = seen.now.record.holder.clone();
            self.actions.push_back(Action::NewLeader(self.reported.clone()));
        }
    }

    /// The record of a write that takes or renews the lock.
    fn draft(&self, before: Option<&Record>) -> Record {
        let mine = before.is_some_and(|record| self.is_me(record));
        let before = before.cloned().unwrap_or_default();
        Record {
            holder: self.options.identity.clone(),
            duration_seconds: self.options.lease_seconds().unwrap_or(u32::MAX),
            acquired: before.acquired.filter(|_| mine),
            ..before
        }
    }

    fn jittered(&mut self) -> Duration {
        let retry = self.options.retry_period;
        self.random
            .next_between(retry, retry + retry.mul_f64(crate::options::JITTER_FACTOR))
    }
}

impl What {
    fn makes_holder(self) -> bool {
        matches!(self, Self::FastUpdate | Self::Create | Self::Update)
    }
}

impl Call {
    fn version_of(seen: Option<&Seen>) -> ResourceVersion {
        seen.map_or_else(ResourceVersion::none, |seen| seen.now.version.clone())
    }
}
