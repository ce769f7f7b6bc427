//! The work queue by arrival, against client-go's rate limited, delaying one.
//!
//! The operations are explained in `tests/reference/oracle/work_queue.go`.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use informer_core::{Clock as _, TokioClock};
use informer_workqueue::{AddOptions, Config, Fifo, Machine, Outcome, Shutdown, Ticket};

use super::{
    Suite,
    limiter::{any_item, any_limiter, limiter, look_at_failures, milliseconds},
};
use crate::{
    difference::Differences,
    oracle::Version,
    random::Random,
    sequence::{Op, Step, play},
    view::View,
};

/// See the module.
#[derive(Debug)]
pub(super) struct WorkQueue;

impl Suite for WorkQueue {
    fn name(&self) -> &'static str {
        "workqueue"
    }

    fn version(&self) -> Version {
        Version::Atomic
    }

    fn share(&self) -> u64 {
        6
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        let mut ops = Vec::new();
        if !random.once_in(4) {
            ops.push(format!("limiter {}", any_limiter(random, false)));
        }
        let n = random.below(60) + 5;
        // client-go's limiter counts also what a queue that is shut down does not take.
        let end = if random.once_in(3) { n / 2 } else { n };
        for at in 0..n {
            ops.push(any_op(random, at > end));
            if at == end {
                ops.push(random.word(&["shutdown", "drain", "drain"]).to_owned());
            }
        }
        ops
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        let limiter = ops
            .first()
            .map(|op| Op::read(op))
            .filter(|op| op.verb == "limiter");
        let mut ours = Ours::new(limiter.map_or("exp 1 1000000", |op| op.rest));
        play(ops, |op, said, view| {
            ours.play(op, said);
            ours.look(view);
        })
    }

    fn translate(&self, _: &[String], answer: &[Step], _: &mut Differences) -> Vec<Step> {
        answer.to_vec()
    }
}

fn any_op(random: &mut Random, is_over: bool) -> String {
    let item = any_item(random);
    let weights = [
        (4, "add"),
        (3, "after"),
        (if is_over { 0 } else { 3 }, "limited"),
        (6, "get"),
        (4, "done"),
        (1, "forget"),
        (3, "wait"),
    ];
    match random.weighted(&weights) {
        "get" => "get".to_owned(),
        "after" => format!("after {item} {}", random.below(random_limit(item))),
        "wait" => format!("wait {}", random.below(400)),
        verb => format!("{verb} {item}"),
    }
}

/// Some items wait long, others not.
fn random_limit(item: &str) -> usize {
    if item < "c" { 40 } else { 2_000 }
}

struct Ours {
    machine: Machine<String>,
    now: Instant,
    items: BTreeSet<String>,
    running: BTreeMap<String, Ticket>,
    /// Somebody waits for the drain, or did.
    drain: Option<bool>,
    n: u64,
}

impl Ours {
    fn new(limits: &str) -> Self {
        let config = Config::default().order(Fifo::default()).limiter(limiter(limits));
        Self {
            machine: Machine::new(config),
            now: TokioClock.now(),
            items: BTreeSet::new(),
            running: BTreeMap::new(),
            drain: None,
            n: 0,
        }
    }

    fn play(&mut self, op: Op<'_>, said: &mut Vec<String>) {
        let (now, item) = (self.now, op.arg().to_owned());
        match op.verb {
            "limiter" => {}
            "add" => drop(self.machine.add(now, item, AddOptions::default())),
            "after" => {
                let delay = milliseconds(op.args().nth(1).unwrap_or_default());
                self.machine.add(now, item, AddOptions::after(delay));
            }
            "limited" => {
                self.items.insert(item.clone());
                self.machine.add(now, item, AddOptions::rate_limited());
            }
            "get" => self.get(said),
            "done" => match self.running.remove(&item) {
                Some(ticket) => drop(self.machine.done(now, ticket, 0, Outcome::Done)),
                None => said.push("not in work".to_owned()),
            },
            "forget" => self.machine.forget(&item),
            "wait" => self.now += milliseconds(op.arg()),
            "shutdown" => drop(self.machine.shut_down(now, Shutdown::InHand)),
            "drain" => {
                self.machine.shut_down(now, Shutdown::InHand);
                self.drain.get_or_insert(false);
            }
            other => panic!("no operation {other:?}"),
        }
        self.n += 1;
        self.now += Duration::from_nanos(self.n * 104_729 + 7);
        self.machine.handle_timeout(self.now);
    }

    fn get(&mut self, said: &mut Vec<String>) {
        if let Some(taken) = self.machine.take(self.now) {
            said.push(format!("{}, failures {}", taken.item, taken.failures));
            self.running.insert(taken.item, taken.ticket);
        } else if self.machine.is_shutting_down() {
            said.push("over".to_owned());
        } else {
            said.push("nothing".to_owned());
        }
    }

    fn look(&mut self, view: &mut View) {
        if !self.machine.is_empty() {
            view.put("waiting", self.machine.len());
        }
        if self.machine.is_shutting_down() {
            view.put("shutting down", "yes");
        }
        if let Some(drained) = &mut self.drain {
            *drained |= self.machine.is_drained();
            if *drained {
                view.put("drained", "yes");
            }
        }
        look_at_failures(view, &self.items, |item| self.machine.failures(item));
    }
}
