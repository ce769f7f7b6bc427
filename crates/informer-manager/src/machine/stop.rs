//! The stop: group after group within the grace time, then at once whatever is left.

use std::time::{Duration, Instant};

use super::{Action, CUT, Cut, Election, Grace, Machine, Phase, RESIGN, Reason, entry::State};
use crate::Group;

/// A stop that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopping {
    /// Its place in [`STEPS`].
    step: usize,
    /// When the grace time is over; `None` if it never is.
    pub(super) until: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Stop(Group),
    /// The candidate has ended. It resigned as soon as the leader's runnables had ended.
    Election,
}

/// controller-runtime's order (`pkg/manager/internal.go`, `engageStopProcedure`), except that the lease is given back as soon as nothing
/// runs that needs it, not after caches and servers.
const STEPS: [Step; 7] = [
    Step::Stop(Group::Others),
    Step::Stop(Group::LeaderElection),
    Step::Stop(Group::Caches),
    Step::Stop(Group::Webhooks),
    Step::Stop(Group::Servers),
    Step::Election,
    Step::Stop(Group::Recorders),
];

impl Machine {
    /// Begins to stop, if it has not begun yet.
    pub(super) fn stop(&mut self, now: Instant, reason: Reason) {
        if !matches!(self.phase, Phase::Idle | Phase::Starting { .. } | Phase::Running) {
            return;
        }
        self.reason = Some(reason);
        self.actions.push_back(Action::Stopping(reason));
        self.entries.retain(|_, entry| entry.state != State::Waiting);
        if self.election == Election::Waiting {
            self.election = Election::Off;
        }
        let until = self.options.grace.until(now);
        self.phase = Phase::Stopping(Stopping { step: 0, until });
        if self.lost || self.options.grace == Grace::For(Duration::ZERO) {
            self.out_of_time(now);
            return;
        }
        if !self.leading {
            // What only prepares holds nobody up; a leader's works, and ends with its group.
            self.ask(Group::WarmUp);
        }
        self.ask(Group::Others);
    }

    /// Waits for nothing from here on, not for the lease either.
    pub(super) fn force(&mut self, now: Instant) {
        self.forced = true;
        match self.phase {
            Phase::Stopping(_) => self.out_of_time(now),
            Phase::Resigning { .. } => self.finish(),
            _ => {}
        }
        if let Phase::Cutting { until, .. } = self.phase {
            self.phase = Phase::Cutting { until, resign: false };
        }
    }

    pub(super) fn advance_stop(&mut self, now: Instant) {
        while let Phase::Stopping(stopping) = self.phase {
            if !self.is_done(STEPS[stopping.step]) {
                if stopping.until.is_some_and(|until| until <= now) {
                    self.out_of_time(now);
                }
                return;
            }
            if STEPS[stopping.step] == Step::Stop(Group::LeaderElection) {
                self.resign();
            }
            let step = stopping.step + 1;
            let Some(&next) = STEPS.get(step) else {
                self.finish();
                return;
            };
            self.phase = Phase::Stopping(Stopping { step, ..stopping });
            if let Step::Stop(group) = next {
                self.ask(group);
                if group == Group::LeaderElection {
                    self.ask(Group::WarmUp);
                }
            }
        }
    }

    fn is_done(&self, step: Step) -> bool {
        let live = |group: Group| self.entries.values().any(|entry| entry.group == group);
        match step {
            Step::Stop(Group::LeaderElection) => !live(Group::LeaderElection) && !live(Group::WarmUp),
            Step::Stop(group) => !live(group),
            Step::Election => matches!(self.election, Election::Off | Election::Ended),
        }
    }

    fn ask(&mut self, group: Group) {
        for (&id, entry) in &mut self.entries {
            if entry.group == group && entry.state == State::Running {
                entry.state = State::Stopping;
                self.actions.push_back(Action::Stop(id));
            }
        }
    }

    fn resign(&mut self) {
        if self.election == Election::Campaigning {
            self.election = Election::Resigning;
            if std::mem::take(&mut self.leading) {
                self.actions.push_back(Action::Follow);
            }
            self.actions.push_back(Action::Resign);
        }
    }

    /// Drops whatever runs.
    pub(super) fn out_of_time(&mut self, now: Instant) {
        if !matches!(self.phase, Phase::Stopping(_)) {
            return;
        }
        for (&id, entry) in &mut self.entries {
            if matches!(entry.state, State::Running | State::Stopping) {
                let asked = entry.state == State::Stopping;
                self.cut.push(Cut {
                    id,
                    asked,
                    stuck: false,
                });
                entry.state = State::Cut;
                self.actions.push_back(Action::Cut(id));
            }
        }
        self.phase = Phase::Cutting {
            until: now + CUT,
            resign: !self.lost,
        };
    }

    pub(super) fn advance_cut(&mut self, now: Instant) {
        let Phase::Cutting { until, resign } = self.phase else {
            return;
        };
        if !self.entries.is_empty() && now < until {
            return;
        }
        // What is left blocks its thread, also what was removed and cut before.
        for cut in &mut self.cut {
            cut.stuck = self.entries.contains_key(&cut.id);
        }
        let leader_is_stuck = self.entries.values().any(|entry| entry.group.leads());
        if resign && !leader_is_stuck && self.election == Election::Campaigning {
            self.resign();
        }
        if resign && self.election == Election::Resigning && !leader_is_stuck {
            self.phase = Phase::Resigning { until: now + RESIGN };
            return;
        }
        self.finish();
    }

    pub(super) fn advance_resign(&mut self, now: Instant) {
        let Phase::Resigning { until } = self.phase else {
            return;
        };
        if self.election == Election::Ended || until <= now {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if matches!(self.election, Election::Campaigning | Election::Resigning) {
            self.actions.push_back(Action::CutElection);
        }
        if std::mem::take(&mut self.leading) {
            self.actions.push_back(Action::Follow);
        }
        self.phase = Phase::Finished;
        self.actions.push_back(Action::Finish);
    }
}
