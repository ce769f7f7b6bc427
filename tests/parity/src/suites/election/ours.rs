//! Our side: the machine, whose requests the lease answers at once.

use std::time::{Duration, Instant};

use informer_core::{Clock as _, TokioClock};
use informer_leaderelection::{Action, Input, Machine, Options};

use super::lease::Lease;
use crate::{
    sequence::{self, Op, Step},
    suites::limiter::milliseconds,
    view::View,
};

/// Plays a sequence.
pub(super) fn play(ops: &[String]) -> Vec<Step> {
    let mut ours = Ours::new();
    sequence::play(ops, |op, said, view| {
        *said = ours.play(op);
        ours.look(view);
    })
}

struct Ours {
    machine: Option<Machine>,
    lease: Lease,
    now: Instant,
    began: Instant,
    leader: String,
    leading: bool,
    ended: bool,
    n: u64,
}

impl Ours {
    fn new() -> Self {
        let now = TokioClock.now();
        Self {
            machine: None,
            lease: Lease::default(),
            now,
            began: now,
            leader: String::new(),
            leading: false,
            ended: false,
            n: 0,
        }
    }

    fn play(&mut self, op: Op<'_>) -> Vec<String> {
        match op.verb {
            "start" => self.start(op.arg() == "release"),
            "stop" => self.stop(),
            "wait" => {
                self.n += 1;
                self.pass(milliseconds(op.arg()) + Duration::from_nanos(self.n * 104_729 + 7));
            }
            _ => self.lease.play(op),
        }
        let mut said = self.lease.lines();
        if std::mem::take(&mut self.ended) {
            self.machine = None;
            said.push("ended".to_owned());
        }
        said
    }

    fn start(&mut self, release: bool) {
        if self.machine.is_some() {
            return;
        }
        let mut options = Options::new("me");
        options.release_on_cancel = release;
        self.leader.clear();
        self.machine = Some(Machine::new(options, 1, self.now).expect("the recommended numbers"));
        self.drain();
    }

    fn stop(&mut self) {
        for input in [Input::Stop, Input::WorkEnded] {
            if let Some(machine) = &mut self.machine {
                machine.handle_input(self.now, input);
            }
            self.drain();
        }
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(machine) = &mut self.machine
            && let Some(at) = machine.poll_timeout().filter(|at| *at <= until)
        {
            self.now = at.max(self.now);
            machine.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    /// Does what the machine says; the server answers at once.
    fn drain(&mut self) {
        while let Some(machine) = &mut self.machine
            && let Some(action) = machine.poll_action()
        {
            let since = self.now.saturating_duration_since(self.began);
            let input = match action {
                Action::Read => self.lease.read(since),
                Action::Create(record) => self.lease.write("create", since, record, None),
                Action::Update { record, at } | Action::Release { record, at } => {
                    self.lease.write("update", since, record, Some(at))
                }
                Action::NewLeader(leader) => {
                    leader.as_ref().clone_into(&mut self.leader);
                    continue;
                }
                Action::StartedLeading(_) => {
                    self.leading = true;
                    continue;
                }
                Action::StoppedLeading(_) => {
                    self.leading = false;
                    continue;
                }
                Action::Ended(_) => {
                    self.ended = true;
                    continue;
                }
                _ => continue,
            };
            machine.handle_input(self.now, input);
        }
    }

    fn look(&self, view: &mut View) {
        if self.leading {
            view.put("leading", "yes");
        }
        if !self.leader.is_empty() {
            view.put("leader", &self.leader);
        }
        self.lease.look(view);
    }
}
