//! The rules of a manager: what starts when, what a failure or a stop does, and in what time. No clock, no task, no lock.
//!
//! Tell it what happened ([`Machine::handle_input`], [`Machine::handle_timeout`], [`Machine::add`], [`Machine::remove`]), then perform
//! every [`Machine::poll_action`], then wait until [`Machine::poll_timeout`] or the next thing that happens. Time never goes backward.

mod entry;
mod start;
mod stop;

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

pub use informer_controller::Late;

pub use self::entry::Id;
use self::{
    entry::{Entry, State},
    stop::Stopping,
};
use crate::Group;

/// How long a stop may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grace {
    /// So long in all. Zero: nothing is waited for.
    For(Duration),
    /// As long as it takes.
    Forever,
}

impl Grace {
    fn until(self, now: Instant) -> Option<Instant> {
        match self {
            Self::For(grace) => now.checked_add(grace),
            Self::Forever => None,
        }
    }
}

impl From<Duration> for Grace {
    fn from(grace: Duration) -> Self {
        Self::For(grace)
    }
}

/// The numbers of a manager.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How long a stop may take; 30 seconds.
    pub grace: Grace,
    /// How long a group may take until it is ready, `None` for ever; two minutes.
    pub ready_within: Option<Duration>,
    /// What happens when it is not: the next group starts without it, or the manager stops with an error.
    pub late: Late,
    /// Whether there is an election. Without one, this replica leads.
    pub election: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grace: Grace::For(Duration::from_secs(30)),
            ready_within: Some(Duration::from_secs(120)),
            late: Late::default(),
            election: false,
        }
    }
}

/// How long what was cut has to reach a point where it can be dropped. What blocks its thread does not; it is named, not waited for.
pub const CUT: Duration = Duration::from_millis(100);

/// How long a lease may take to be released when the grace time is over.
pub const RESIGN: Duration = Duration::from_secs(2);

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The manager was run.
    Start,
    /// It is to stop.
    Stop,
    /// It is to stop and to wait for nothing: a second signal.
    Force,
    /// A runnable is ready.
    Ready(Id),
    /// A runnable ended.
    Ended {
        /// Which.
        id: Id,
        /// With an error or a panic.
        failed: bool,
    },
    /// This replica leads.
    Elected,
    /// This replica led, and does no more.
    Lost,
    /// The candidate ended.
    ElectionEnded {
        /// With an error or a panic.
        failed: bool,
    },
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Run it.
    Launch(Id),
    /// Ask it to stop.
    Stop(Id),
    /// Drop it.
    Cut(Id),
    /// It is not ready in time; the next group starts without it.
    Late(Id),
    /// Stand for election.
    Campaign,
    /// Tell everybody that this replica leads.
    Lead,
    /// Tell everybody that it does not any more.
    Follow,
    /// Give the lease back, and end the candidacy.
    Resign,
    /// Drop the candidacy. The lease runs out by itself.
    CutElection,
    /// The manager has begun to stop, for this reason.
    Stopping(Reason),
    /// All is over.
    Finish,
}

/// Why a manager stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It was told to.
    Told,
    /// A runnable failed.
    Failed(Id),
    /// A runnable was not ready in time.
    NotReady(Id),
    /// It led, and lost that.
    Lost,
    /// The candidate failed or ended.
    Election,
}

/// A runnable that did not end by itself in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Which.
    pub id: Id,
    /// It had been asked to stop. The turn of others had not come when the time was over.
    pub asked: bool,
    /// It did not end when it was dropped either: it blocks its thread.
    pub stuck: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    /// At this place of [`Group::START`], not ready until then.
    Starting {
        stage: usize,
        until: Option<Instant>,
    },
    Running,
    Stopping(Stopping),
    /// What was cut ends, until then at most.
    Cutting {
        until: Instant,
        resign: bool,
    },
    /// The lease is released, until then at most.
    Resigning {
        until: Instant,
    },
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Election {
    Off,
    Waiting,
    Campaigning,
    Resigning,
    Ended,
}

/// A runnable cannot be added any more: the manager stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// The rules of a manager.
#[derive(Debug)]
pub struct Machine {
    options: Options,
    phase: Phase,
    election: Election,
    leading: bool,
    /// It led, and lost that: there is no lease to give back.
    lost: bool,
    forced: bool,
    reason: Option<Reason>,
    entries: BTreeMap<Id, Entry>,
    n_added: u64,
    cut: Vec<Cut>,
    actions: VecDeque<Action>,
}

impl Machine {
    /// A manager that was not run yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            phase: Phase::Idle,
            election: if options.election {
                Election::Waiting
            } else {
                Election::Off
            },
            leading: false,
            lost: false,
            forced: false,
            reason: None,
            entries: BTreeMap::new(),
            n_added: 0,
            cut: Vec::new(),
            actions: VecDeque::new(),
        }
    }

    /// Adds a runnable. It starts at once if the turn of its group has come.
    ///
    /// # Errors
    /// When the manager stops or has stopped.
    pub fn add(&mut self, group: Group) -> Result<Id, Closed> {
        if !matches!(self.phase, Phase::Idle | Phase::Starting { .. } | Phase::Running) {
            return Err(Closed);
        }
        self.n_added += 1;
        let id = Id(self.n_added);
        self.entries.insert(id, Entry::new(group));
        if self.has_turn(group) {
            self.launch(id);
        }
        Ok(id)
    }

    /// Stops a runnable and forgets it. Its end, however it comes, is no failure of the manager.
    pub fn remove(&mut self, now: Instant, id: Id) {
        let grace = self.options.grace;
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.removed = true;
        match entry.state {
            State::Waiting => {
                self.entries.remove(&id);
            }
            State::Running => {
                entry.state = State::Stopping;
                entry.until = grace.until(now);
                self.actions.push_back(Action::Stop(id));
            }
            State::Stopping | State::Cut => {}
        }
        self.advance(now);
    }

    /// Something happened.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        match input {
            Input::Start => {
                if self.phase == Phase::Idle {
                    self.phase = Phase::Starting {
                        stage: 0,
                        until: None,
                    };
                    self.enter_stage(now);
                }
            }
            Input::Stop => self.stop(now, Reason::Told),
            Input::Force => {
                self.stop(now, Reason::Told);
                self.force(now);
            }
            Input::Ready(id) => {
                if let Some(entry) = self.entries.get_mut(&id) {
                    entry.ready = true;
                }
            }
            Input::Ended { id, failed } => self.ended(now, id, failed),
            Input::Elected => self.elected(),
            Input::Lost => self.lost(now),
            Input::ElectionEnded { failed } => self.election_ended(now, failed),
        }
        self.advance(now);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        let overdue = |entry: &Entry| entry.until.is_some_and(|until| until <= now);
        let late = self.entries.iter_mut().filter(|(_, entry)| overdue(entry));
        for (&id, entry) in late {
            entry.until = None;
            if entry.state == State::Stopping {
                entry.state = State::Cut;
                self.actions.push_back(Action::Cut(id));
            }
        }
        self.advance(now);
    }

    /// What is to be done next.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), if nothing happens before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Starting { until, .. } => until,
            Phase::Stopping(stopping) => stopping.until,
            Phase::Cutting { until, .. } | Phase::Resigning { until } => Some(until),
            Phase::Idle | Phase::Running | Phase::Finished => None,
        };
        let removed = self.entries.values().filter_map(|entry| entry.until);
        removed.chain(phase).min()
    }

    /// Whether it was run, and everything that was there then has been started, except what waits for an election.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.phase == Phase::Running
    }

    /// The group whose readiness is waited for.
    #[must_use]
    pub fn waits_for(&self) -> Option<Group> {
        match self.phase {
            Phase::Starting { stage, .. } => Group::START.get(stage).copied(),
            _ => None,
        }
    }

    /// Why it stops or stopped.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// Whether a second signal ended it.
    #[must_use]
    pub fn is_forced(&self) -> bool {
        self.forced
    }

    /// How long its stop may take.
    #[must_use]
    pub fn grace(&self) -> Grace {
        self.options.grace
    }

    /// What did not end in time.
    #[must_use]
    pub fn cut(&self) -> &[Cut] {
        &self.cut
    }

    /// A runnable ended: it is forgotten, and an error is a reason to stop, unless it was removed.
    fn ended(&mut self, now: Instant, id: Id, failed: bool) {
        let entry = self.entries.remove(&id);
        if failed && entry.is_some_and(|entry| !entry.removed) {
            self.stop(now, Reason::Failed(id));
        }
    }

    /// Whether this runnable has not ended.
    #[must_use]
    pub fn knows(&self, id: Id) -> bool {
        self.entries.contains_key(&id)
    }

    fn elected(&mut self) {
        if self.election == Election::Campaigning && !self.leading && self.phase == Phase::Running {
            self.lead();
        }
    }

    fn lost(&mut self, now: Instant) {
        if !self.leading {
            return;
        }
        self.leading = false;
        self.lost = true;
        self.actions.push_back(Action::Follow);
        self.stop(now, Reason::Lost);
        if self.reason == Some(Reason::Told) {
            self.reason = Some(Reason::Lost);
        }
        // Somebody else leads, or will in a moment: whatever runs as a leader must not run on.
        self.out_of_time(now);
    }

    fn election_ended(&mut self, now: Instant, failed: bool) {
        let told = self.election == Election::Resigning;
        self.election = Election::Ended;
        if self.leading && !told {
            self.lost(now);
        } else if failed || !told {
            self.stop(now, Reason::Election);
        }
    }

    /// Does whatever has become possible.
    fn advance(&mut self, now: Instant) {
        // Each may lead to the next.
        self.advance_start(now);
        self.advance_stop(now);
        self.advance_cut(now);
        self.advance_resign(now);
    }
}
