//! One candidate of an election, against client-go's.
//!
//! The operations are explained in `tests/reference/oracle/election.go`.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use informer_core::{Clock as _, ResourceVersion, TokioClock};
use informer_leaderelection::{Action, Failure, Input, Machine, MicroTime, Observed, Options, Record};

use super::{Suite, limiter::milliseconds};
use crate::{
    difference::{Difference, Differences},
    oracle::Version,
    random::Random,
    sequence::{Op, Step},
    view::View,
};

/// See the module.
#[derive(Debug)]
pub(super) struct Election;

impl Suite for Election {
    fn name(&self) -> &'static str {
        "election"
    }

    fn version(&self) -> Version {
        Version::Atomic
    }

    fn share(&self) -> u64 {
        3
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        Generator::new(random).ops()
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        let mut ours = Ours::new();
        let mut view = View::default();
        ops.iter()
            .map(|op| {
                let said = ours.play(Op::read(op));
                ours.look(&mut view);
                Step {
                    said,
                    seen: view.changes(),
                }
            })
            .collect()
    }

    fn translate(&self, _: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        let mut leads = false;
        answer
            .iter()
            .map(|step| {
                let mut step = step.clone();
                let led = leads;
                if let Some(leading) = step.seen.get("leading") {
                    leads = !leading.is_empty();
                }
                if !led && leads {
                    renew_later(&mut step, met);
                }
                if led && !leads {
                    give_up_at_once(&mut step, met);
                }
                step
            })
            .collect()
    }
}

/// client-go renews in the moment in which it has acquired; ours a retry period later.
fn renew_later(step: &mut Step, met: &mut Differences) {
    for line in &mut step.said {
        let calls: Vec<&str> = line.split("; ").collect();
        let is_write = |call: &str| call.starts_with("create ") || call.starts_with("update ");
        let acquired = calls
            .iter()
            .position(|call| is_write(call) && call.ends_with(" -> ok"));
        if let Some(at) = acquired.filter(|at| at + 1 < calls.len()) {
            met.met(Difference::RenewsAtOnce);
            *line = calls[..=at].join("; ");
            return;
        }
    }
}

/// Where the lease is another's, client-go looks again until the renew deadline; ours leads no more.
fn give_up_at_once(step: &mut Step, met: &mut Differences) {
    let is_taken = |line: &String| {
        let last = line.rsplit("; ").next().unwrap_or_default();
        last.starts_with("get -> ") && !last.starts_with("get -> me ") && !last.ends_with("fail")
    };
    if let Some(at) = step.said.iter().position(is_taken)
        && let Some(end) = step.said.iter().position(|line| line == "ended")
        && at + 1 < end
    {
        met.met(Difference::TakenOver);
        step.said.drain(at + 1..end);
    }
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
        if let Some(record) = &self.lease.now {
            view.put("lease", format!("{} {}", holder(record), record.transitions));
        }
    }
}

/// The lock, and the server that holds it.
#[derive(Default)]
struct Lease {
    now: Option<Record>,
    stored: u64,
    ticks: i64,
    failing: BTreeSet<String>,
    once: BTreeMap<String, String>,
    calls: Vec<String>,
    at: Duration,
    said: Vec<String>,
}

impl Lease {
    fn play(&mut self, op: Op<'_>) {
        match op.verb {
            "take" => {
                let record = Record {
                    holder: op.arg().into(),
                    duration_seconds: 15,
                    transitions: self.now.as_ref().map_or(0, |now| now.transitions + 1),
                    ..Record::default()
                };
                self.store(record);
            }
            "renew" => self.now.clone().into_iter().for_each(|now| self.store(now)),
            "free" => {
                if let Some(now) = self.now.clone() {
                    self.store(Record {
                        holder: "".into(),
                        duration_seconds: 1,
                        ..now
                    });
                }
            }
            "drop" => self.now = None,
            "fail" => self.failing.extend(op.args().map(str::to_owned)),
            "heal" => {
                self.failing.clear();
                self.once.clear();
            }
            "once" => {
                let answers = op.args().filter_map(|arg| arg.split_once('='));
                self.once
                    .extend(answers.map(|(call, answer)| (call.to_owned(), answer.to_owned())));
            }
            other => panic!("no operation {other:?}"),
        }
    }

    fn store(&mut self, mut record: Record) {
        self.ticks += 1_000_000;
        record.renewed = Some(MicroTime::from_micros(self.ticks));
        self.stored += 1;
        self.now = Some(record);
    }

    /// Says a request and how it is answered, if nothing is against it.
    fn call(&mut self, kind: &str, since: Duration, text: String) -> String {
        let failing = if self.failing.contains(kind) { "fail" } else { "ok" };
        let answer = self.once.remove(kind).unwrap_or_else(|| failing.to_owned());
        if since != self.at {
            self.flush();
            self.at = since;
        }
        self.calls.push(text);
        answer
    }

    fn answer(&mut self, answer: &str) {
        if let Some(call) = self.calls.last_mut() {
            call.push_str(" -> ");
            call.push_str(answer);
        }
    }

    fn flush(&mut self) {
        let mut line = std::mem::take(&mut self.calls).join("; ");
        let before = self.said.last().map_or("", String::as_str);
        let rest = line.strip_prefix(before).and_then(|rest| rest.strip_prefix("; "));
        if let Some(rest) = rest.filter(|rest| rest.starts_with("get ")) {
            line = rest.to_owned();
        }
        if !line.is_empty() && line != before {
            self.said.push(line);
        }
    }

    fn lines(&mut self) -> Vec<String> {
        self.flush();
        std::mem::take(&mut self.said)
    }

    fn read(&mut self, since: Duration) -> Input {
        if self.call("get", since, "get".to_owned()) != "ok" {
            self.answer("fail");
            return Input::Failed(Failure::Other);
        }
        let Some(record) = self.now.clone() else {
            self.answer("none");
            return Input::Read(None);
        };
        self.answer(&format!("{} {}", holder(&record), record.transitions));
        Input::Read(Some(Observed {
            record,
            version: self.version(),
        }))
    }

    fn write(&mut self, kind: &str, since: Duration, record: Record, at: Option<ResourceVersion>) -> Input {
        let Record {
            transitions,
            duration_seconds,
            ..
        } = record;
        let text = format!("{kind} {} {transitions} {duration_seconds}s", holder(&record));
        let mut answer = self.call(kind, since, text);
        let fits = match at {
            None => self.now.is_none(),
            Some(at) => self.now.is_some() && at == self.version(),
        };
        if !fits && matches!(answer.as_str(), "ok" | "unheard") {
            "conflict".clone_into(&mut answer);
        }
        self.answer(&answer);
        if matches!(answer.as_str(), "ok" | "unheard") {
            self.store(record);
        }
        match (answer.as_str(), self.now.clone()) {
            ("ok", Some(record)) => Input::Written(Observed {
                record,
                version: self.version(),
            }),
            ("conflict", _) => Input::Failed(Failure::Conflict),
            _ => Input::Failed(Failure::Other),
        }
    }

    fn version(&self) -> ResourceVersion {
        ResourceVersion::new(&*self.stored.to_string())
    }
}

fn holder(record: &Record) -> &str {
    if record.is_free() {
        "nobody"
    } else {
        &record.holder
    }
}

/// Makes scripts in which no moment that chance decides is decisive: waits are either shorter than what it takes to lose or take a lease,
/// together, or longer than all of it.
struct Generator<'a> {
    random: &'a mut Random,
    ops: Vec<String>,
    release: bool,
    running: bool,
    leads: bool,
    /// Nobody else holds the lease.
    is_free: bool,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random) -> Self {
        let release = random.once_in(2);
        Self {
            random,
            ops: Vec::new(),
            release,
            running: false,
            leads: false,
            is_free: true,
        }
    }

    fn ops(mut self) -> Vec<String> {
        if self.random.once_in(2) {
            self.take("o1");
        }
        for _ in 0..self.random.below(8) + 2 {
            if self.running && self.leads {
                self.leading();
            } else if self.running {
                self.waiting();
            } else {
                self.running = true;
                let how = if self.release { "start release" } else { "start" };
                self.ops.push(how.to_owned());
                self.short();
                self.leads = self.is_free;
            }
        }
        self.ops
    }

    fn take(&mut self, who: &str) {
        self.ops.push(format!("take {who}"));
        self.is_free = false;
    }

    /// So long that whoever runs leads.
    fn acquire(&mut self) {
        self.long();
        self.leads = true;
        self.is_free = true;
    }

    /// As a candidate that does not lead.
    fn waiting(&mut self) {
        match self.random.below(6) {
            0 => {
                self.take("o2");
                self.short();
                self.ops.push("renew".to_owned());
                self.short();
            }
            1 => {
                self.take("o1");
                self.short();
                self.ops.push("free".to_owned());
                // Long enough to acquire it, and to renew it once more.
                let time = 7_000 + self.random.below(1_000);
                self.ops.push(format!("wait {time}"));
                self.leads = true;
                self.is_free = true;
            }
            2 if !self.release => {
                let calls = self
                    .random
                    .word(&["get", "create", "update", "get create update"]);
                self.take("o3");
                self.ops.push(format!("fail {calls}"));
                self.short();
                self.ops.push("heal".to_owned());
                self.acquire();
            }
            3 => {
                self.take("o3");
                self.ops.push("stop".to_owned());
                self.running = false;
            }
            _ => self.acquire(),
        }
    }

    fn leading(&mut self) {
        match self.random.below(8) {
            0 => {
                self.ops.push("stop".to_owned());
                self.ends();
            }
            1 | 2 => {
                let who = self.random.word(&["o1", "o2"]);
                self.take(who);
                self.long();
                self.ends();
            }
            3 if !self.release => {
                self.ops.push("fail get create update".to_owned());
                self.long();
                self.ends();
                self.ops.push("heal".to_owned());
            }
            4 if !self.release => {
                let calls = self.random.word(&["get update", "update", "get"]);
                self.ops.push(format!("fail {calls}"));
                self.short();
                self.ops.push("heal".to_owned());
                self.short();
            }
            5 | 6 => {
                let answer = self.random.word(&["conflict", "fail", "unheard"]);
                self.ops.push(format!("once update={answer}"));
                self.short();
            }
            _ => self.short(),
        }
    }

    fn ends(&mut self) {
        self.running = false;
        self.leads = false;
    }

    /// Longer than the longest time between two attempts.
    fn short(&mut self) {
        let time = 4_500 + self.random.below(1_000);
        self.ops.push(format!("wait {time}"));
    }

    /// Longer than a lease and all attempts around it.
    fn long(&mut self) {
        let time = 30_000 + self.random.below(5_000);
        self.ops.push(format!("wait {time}"));
    }
}
