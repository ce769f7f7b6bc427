//! One attempt to acquire or to renew (client-go `tryAcquireOrRenew` and `tryCoordinatedRenew`), and when the next one is.

use std::time::Instant;

use super::{Action, Call, End, Failure, Loss, Machine, Reign, State, What};
use crate::{Observed, Term};

impl Machine {
    pub(super) fn begin_attempt(&mut self, now: Instant) {
        self.attempt_began = now;
        self.next_attempt = None;
        let held = self.seen.as_ref().is_some_and(|seen| {
            self.is_me(&seen.now.record) && now < seen.since + seen.now.record.duration()
        });
        if held && !self.options.coordinated {
            self.write(now, What::FastUpdate);
        } else {
            self.open(now, What::Read, Action::Read);
        }
    }

    pub(super) fn on_read(&mut self, now: Instant, found: Option<Observed>) {
        if self.call.take_if(|call| call.what == What::Read).is_none() {
            return;
        }
        match (&self.state, found) {
            (State::Releasing(_), found) => self.on_read_to_release(now, found),
            (_, None) if self.options.coordinated || self.is_held_by_another(now) => self.attempt_failed(now),
            (_, None) => self.write(now, What::Create),
            (_, Some(found)) => {
                self.see(now, found);
                self.judge(now);
            }
        }
    }

    /// Decides by the record just read.
    fn judge(&mut self, now: Instant) {
        let Some(seen) = &self.seen else { return };
        let record = &seen.now.record;
        let mine = self.is_me(record);
        let valid = now < seen.since + record.duration();
        let preferred = record
            .preferred_holder
            .as_deref()
            .is_some_and(|holder| !holder.is_empty());
        if matches!(self.state, State::Leading(_)) {
            // client-go tries on until the renew deadline. There may be another leader by now.
            if !mine {
                let holder = record.holder.clone();
                return self.lose(Loss::TakenOver { holder });
            }
            if self.options.coordinated && preferred {
                return self.lose(Loss::EndOfTerm);
            }
        }
        let may_write = if self.options.coordinated {
            mine && valid && !preferred
        } else {
            !self.is_held_by_another(now)
        };
        if !may_write {
            return self.attempt_failed(now);
        }
        if mine {
            self.actions.push_back(Action::SlowPath);
        }
        self.write(now, What::Update);
    }

    /// The last record that was seen names another, whose lease lasts. Counts also when the lock is gone by now: whoever held it leads on until
    /// the next renewal fails, and creates it again (client-go creates it at once, and there are two leaders for a while).
    fn is_held_by_another(&self, now: Instant) -> bool {
        self.seen.as_ref().is_some_and(|seen| {
            let record = &seen.now.record;
            !record.is_free() && !self.is_me(record) && now < seen.since + record.duration()
        })
    }

    fn write(&mut self, now: Instant, what: What) {
        let before = self.seen.as_ref().map(|seen| &seen.now.record);
        let mut record = self.draft(before);
        if before.is_some_and(|before| !self.is_me(before)) {
            // Also of a lock that is gone, so that terms go on counting (client-go starts over).
            record.transitions = record.transitions.saturating_add(1);
        }
        let action = if what == What::Create {
            Action::Create(record)
        } else {
            let at = Call::version_of(self.seen.as_ref());
            Action::Update { record, at }
        };
        self.open(now, what, action);
    }

    pub(super) fn on_written(&mut self, now: Instant, left: Observed) {
        let Some(call) = self.call.take_if(|call| call.what != What::Read) else {
            return;
        };
        if call.what == What::Release {
            self.see(now, left);
            return self.end(End::Stopped { released: true });
        }
        if !self.is_me(&left.record) {
            return self.failed(now, call.what, Failure::Other);
        }
        // Whatever write is still on its way carries an older version and comes too late.
        self.dangling = false;
        let term = Term {
            transitions: left.record.transitions,
            version: left.version.clone(),
        };
        self.see(now, left);
        if call.sent + self.options.renew_deadline <= now {
            // It took so long that there is nothing left of the lease.
            return self.attempt_failed(now);
        }
        self.next_attempt = Some(now + self.options.retry_period);
        self.report();
        match &mut self.state {
            State::Leading(reign) => reign.renewed = call.sent,
            _ => {
                self.state = State::Leading(Reign {
                    term: term.clone(),
                    renewed: call.sent,
                    stopping: None,
                    work_ended: false,
                });
                self.actions.push_back(Action::StartedLeading(term));
            }
        }
    }

    pub(super) fn on_failed(&mut self, now: Instant, failure: Failure) {
        if let Some(call) = self.call.take() {
            self.dangling |= failure == Failure::Other && call.what.makes_holder();
            self.failed(now, call.what, failure);
        }
    }

    /// The request failed, or hung and was abandoned.
    pub(super) fn failed(&mut self, now: Instant, what: What, failure: Failure) {
        match &self.state {
            State::Releasing(_) => self.release_failed(now, failure),
            State::Acquiring | State::Leading(_) if what == What::FastUpdate => {
                self.open(now, What::Read, Action::Read);
            }
            State::Acquiring | State::Leading(_) => self.attempt_failed(now),
            State::Ended => {}
        }
    }

    /// Candidates wait from here, by chance up to 2.2 times as long (client-go `wait.JitterUntil`); a leader counts from the beginning of the
    /// attempt (`wait.PollUntilContextTimeout`).
    fn attempt_failed(&mut self, now: Instant) {
        self.report();
        let next = match self.state {
            State::Leading(_) => now.max(self.attempt_began + self.options.retry_period),
            _ => now + self.jittered(),
        };
        self.next_attempt = Some(next);
    }
}
