//! The queue in order, against `RealFIFO` with atomic events.
//!
//! The operations are explained in `tests/reference/oracle/real_fifo.go`.

use std::task::{Context, Poll, Waker};

use informer_core::{Batch, DeltaQueue as _, DeltaSink as _, ObjectKey};
use informer_deltafifo::{InOrder, Options};

use super::{
    Suite,
    deltas::{pushed, show_delta},
    objects::Objects,
};
use crate::{
    difference::Differences,
    object::Thing,
    oracle::Version,
    random::Random,
    sequence::{Op, Step, play},
};

/// See the module.
#[derive(Debug)]
pub(super) struct RealFifo;

impl Suite for RealFifo {
    fn name(&self) -> &'static str {
        "realfifo"
    }

    fn version(&self) -> Version {
        Version::Atomic
    }

    fn share(&self) -> u64 {
        12
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        Generator::new(random).ops()
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        let mut ours = Ours::new(1000);
        play(ops, |op, said, view| {
            ours.play(op, said);
            if ours.queue.has_synced() {
                view.put("synced", "yes");
            }
            if !ours.queue.is_empty() {
                view.put("waiting", ours.queue.len());
            }
        })
    }

    fn translate(&self, _: &[String], answer: &[Step], _: &mut Differences) -> Vec<Step> {
        answer.to_vec()
    }
}

struct Ours {
    queue: InOrder<ObjectKey, Thing>,
}

impl Ours {
    fn new(size: usize) -> Self {
        Self {
            queue: InOrder::new(Options::new(size, 2 * size)),
        }
    }

    fn play(&mut self, op: Op<'_>, said: &mut Vec<String>) {
        match op.verb {
            "size" => *self = Self::new(op.arg().parse().expect("a number")),
            "pop" if self.queue.is_empty() => said.push("empty".to_owned()),
            "pop" => self.pop(op, said),
            _ => self.queue.push(pushed(op)),
        }
    }

    fn pop(&mut self, op: Op<'_>, said: &mut Vec<String>) {
        let (how, meanwhile) = op.rest.split_once("while").unwrap_or((op.rest, ""));
        let max = if how.trim() == "one" { 1 } else { usize::MAX };
        let mut batch = Batch::default();
        self.queue.pop_into(&mut batch, max);
        said.push(if batch.initial { "initial" } else { "later" }.to_owned());
        said.extend(batch.deltas.iter().map(show_delta));
        let ready = self.queue.poll_ready(&mut Context::from_waker(Waker::noop()));
        if ready == Poll::Pending {
            said.push("no room".to_owned());
        } else {
            for op in Op::parts(meanwhile) {
                self.queue.push(pushed(op));
            }
            if self.queue.has_synced() {
                said.push("synced meanwhile".to_owned());
            }
        }
        let failed = if how.trim() == "fail" {
            batch.deltas
        } else {
            Vec::new()
        };
        self.queue.settle(failed);
    }
}

const KEYS: [&str; 5] = ["a/x", "a/y", "b/x", "c", "d"];

struct Generator<'a> {
    random: &'a mut Random,
    objects: Objects,
    populated: bool,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random) -> Self {
        Self {
            random,
            objects: Objects::new(&KEYS),
            populated: false,
        }
    }

    fn ops(mut self) -> Vec<String> {
        let mut ops = Vec::new();
        if !self.random.once_in(4) {
            ops.push(format!("size {}", self.random.below(4) + 1));
        }
        // Half of the sources begin with a list, as reflectors do.
        if self.random.once_in(2) {
            ops.push(self.push(&[(1, "replace")]));
        }
        for _ in 0..self.random.below(40) + 5 {
            let op = if self.random.once_in(3) {
                self.pop()
            } else {
                self.push(&PUSHES)
            };
            ops.push(op);
        }
        ops.extend((0..self.random.below(12)).map(|_| "pop".to_owned()));
        ops
    }

    /// Nothing populates the queue while a batch is in hand: there is a difference about that, with a trace of its own.
    fn pop(&mut self) -> String {
        let how = *self.random.pick(&["pop", "pop", "pop one"]);
        if !self.populated || self.random.once_in(2) {
            return how.to_owned();
        }
        let n = self.random.below(4) + 1;
        let pushes: Vec<String> = (0..n).map(|_| self.push(&PUSHES)).collect();
        format!("{how} while {}", pushes.join("; "))
    }

    fn push(&mut self, of: &[(usize, &'static str)]) -> String {
        let verb = self.random.weighted(of);
        self.populated |= !matches!(verb, "resync" | "bookmark");
        match verb {
            "resync" => verb.to_owned(),
            "bookmark" => format!("bookmark @{}", self.objects.version(self.random)),
            "replace" => {
                let items = self.objects.some(self.random, 5);
                let version = self.objects.version(self.random);
                format!("replace @{version} {items}").trim_end().to_owned()
            }
            "vanish" if self.random.once_in(3) => format!("vanish {}", self.objects.key(self.random)),
            verb => format!("{verb} {}", self.objects.any(self.random)),
        }
    }
}

const PUSHES: [(usize, &str); 7] = [
    (6, "add"),
    (6, "update"),
    (4, "delete"),
    (1, "vanish"),
    (1, "replace"),
    (1, "resync"),
    (1, "bookmark"),
];
