//! Rules of the resync beside the watch (client-go `Reflector.startResync`).

use std::time::{Duration, Instant};

use super::{Action, Failed, Machine, Next, State, after};
use crate::Problem;

/// A shorter period than this would leave no time for anything else.
const SHORTEST: Duration = Duration::from_millis(1);

impl Machine {
    /// Sets the one timer, unless it is set. It is cancelled with the attempt, when the whole state is to be taken again.
    pub(super) fn arm_resync(&mut self, now: Instant) {
        if let (None, true, Some(period)) = (self.resync_at, self.follows(), self.options.resync_period) {
            self.resync_at = Some(after(now, period.max(SHORTEST)));
        }
    }

    pub(super) fn resync_if_due(&mut self, now: Instant) {
        if self.resync_at.take_if(|at| *at <= now).is_some() {
            self.actions.push_back(Action::Resync);
        }
    }

    /// What the sink holds is not what it should be: the state is taken anew.
    pub(super) fn resync_failed(&mut self, now: Instant, failed: Failed) {
        if self.follows() {
            self.actions.push_back(Action::Close);
            self.fail(now, Problem::Resync, failed, Next::Relist);
        }
    }

    /// There is a watch, or a wait before the same watch goes on.
    fn follows(&self) -> bool {
        match self.state {
            State::Watching(_) => true,
            State::Waiting { then, .. } => then == Next::Rewatch,
            State::Listing(_) | State::Streaming(_) => false,
        }
    }
}
