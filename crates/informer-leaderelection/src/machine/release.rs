//! Giving the lease back (client-go `tryRelease`), and only what is still held.

use std::{sync::Arc, time::Instant};

use super::{Action, End, Failure, Machine, Releasing, State, What};
use crate::{Observed, Record};

impl Machine {
    pub(super) fn begin_release(&mut self, now: Instant, until: Instant) {
        self.next_attempt = None;
        self.state = State::Releasing(Releasing {
            until,
            conflicts: 0,
            again: None,
        });
        self.read_to_release(now);
    }

    /// Always by reading first: a renewal whose answer was never heard may have moved the version.
    pub(super) fn read_to_release(&mut self, now: Instant) {
        if let State::Releasing(releasing) = &mut self.state {
            releasing.again = None;
        }
        self.open(now, What::Read, Action::Read);
    }

    /// Decides by what was just read, not by what was held before: client-go at 0.37 would blank another's lease here.
    pub(super) fn on_read_to_release(&mut self, now: Instant, found: Option<Observed>) {
        let Some(found) = found.filter(|found| self.is_me(&found.record)) else {
            return self.end(End::Stopped { released: false });
        };
        let record = Record {
            holder: Arc::from(""),
            duration_seconds: 1,
            acquired: None,
            ..found.record.clone()
        };
        let at = found.version.clone();
        self.see(now, found);
        self.open(now, What::Release, Action::Release { record, at });
    }

    /// After the first conflict at once, then with a pause, until there is nothing left to give back.
    pub(super) fn release_failed(&mut self, now: Instant, failure: Failure) {
        let retry = self.options.retry_period;
        let State::Releasing(releasing) = &mut self.state else {
            return;
        };
        if failure == Failure::Conflict {
            releasing.conflicts += 1;
            if releasing.conflicts == 1 {
                return self.read_to_release(now);
            }
        }
        releasing.again = Some(now + retry);
    }
}
