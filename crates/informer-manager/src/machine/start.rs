//! The start: group after group, each when the one before is ready.

use std::time::Instant;

use super::{Action, Election, Id, Late, Machine, Phase, Reason, entry::State};
use crate::Group;

impl Machine {
    /// Launches the group of this stage, and begins to wait for it.
    pub(super) fn enter_stage(&mut self, now: Instant) {
        let Phase::Starting { stage, .. } = self.phase else {
            return;
        };
        let until = self
            .options
            .ready_within
            .and_then(|within| now.checked_add(within));
        self.phase = Phase::Starting { stage, until };
        self.launch_group(Group::START[stage]);
    }

    /// Goes on to the next stages for as long as nothing holds them up.
    pub(super) fn advance_start(&mut self, now: Instant) {
        while let Phase::Starting { stage, until } = self.phase {
            let group = Group::START[stage];
            if group.holds_up() && self.holding_up(group).next().is_some() {
                if until.is_none_or(|until| now < until) {
                    return;
                }
                self.be_late(now, group);
                continue;
            }
            let stage = stage + 1;
            if Group::START[stage] == Group::LeaderElection {
                self.phase = Phase::Running;
                self.campaign();
            } else {
                self.phase = Phase::Starting { stage, until: None };
                self.enter_stage(now);
            }
        }
    }

    fn be_late(&mut self, now: Instant, group: Group) {
        let late: Vec<_> = self.holding_up(group).collect();
        for &id in &late {
            self.actions.push_back(Action::Late(id));
        }
        match self.options.late {
            Late::GoOn => {
                for id in late {
                    if let Some(entry) = self.entries.get_mut(&id) {
                        entry.ready = true;
                    }
                }
            }
            Late::Fail => {
                if let Some(&id) = late.first() {
                    self.stop(now, Reason::NotReady(id));
                }
            }
        }
    }

    fn holding_up(&self, group: Group) -> impl Iterator<Item = Id> + '_ {
        let of_group = self.entries.iter().filter(move |(_, entry)| entry.group == group);
        of_group.filter(|(_, entry)| entry.holds_up()).map(|(&id, _)| id)
    }

    /// Stands for election, or leads at once where there is none.
    fn campaign(&mut self) {
        if self.election == Election::Off {
            self.lead();
        } else {
            self.election = Election::Campaigning;
            self.actions.push_back(Action::Campaign);
        }
    }

    pub(super) fn lead(&mut self) {
        self.leading = true;
        self.actions.push_back(Action::Lead);
        self.launch_group(Group::LeaderElection);
    }

    /// Whether runnables of this group start as they are added.
    pub(super) fn has_turn(&self, group: Group) -> bool {
        match self.phase {
            Phase::Starting { stage, .. } => Group::START[..=stage].contains(&group),
            Phase::Running => group != Group::LeaderElection || self.leading,
            _ => false,
        }
    }

    fn launch_group(&mut self, group: Group) {
        let waiting = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.group == group && entry.state == State::Waiting);
        let ids: Vec<_> = waiting.map(|(&id, _)| id).collect();
        for id in ids {
            self.launch(id);
        }
    }

    pub(super) fn launch(&mut self, id: Id) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.state = State::Running;
            self.actions.push_back(Action::Launch(id));
        }
    }
}
