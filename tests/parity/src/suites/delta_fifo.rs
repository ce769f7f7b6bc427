//! The coalescing queue on its own terms, against the `DeltaFIFO` of client-go v0.30.
//!
//! The operations are explained in `tests/reference/oracle-v030/delta_fifo.go`.

use std::{collections::BTreeMap, sync::Arc};

use informer_core::{Batch, Cause, Delta, ObjectKey, StoreWriter as _};
use informer_deltafifo::{DeltaFifo as Fifo, Popped};
use informer_store::{Indexers, Reader, Writer, indexed};

use super::{
    Suite,
    deltas::{pushed, show_delta},
    objects::Objects,
};
use crate::{
    difference::{Difference, Differences},
    object::{Object, Thing, key, show},
    oracle::Version,
    random::Random,
    sequence::{Op, Step, play},
    view::View,
};

/// See the module.
#[derive(Debug)]
pub(super) struct DeltaFifo;

impl Suite for DeltaFifo {
    fn name(&self) -> &'static str {
        "deltafifo"
    }

    fn version(&self) -> Version {
        Version::Old
    }

    fn share(&self) -> u64 {
        13
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        Generator::new(random).ops()
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        let mut ours = Ours::new();
        play(ops, |op, said, view| {
            ours.play(op, said);
            ours.look(view);
        })
    }

    fn translate(&self, ops: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        let mut states = LastStates::default();
        let steps = ops.iter().zip(answer);
        steps
            .map(|(op, step)| states.translate(Op::read(op), step, met))
            .collect()
    }
}

/// What waits on our side, where client-go forgot a last state.
#[derive(Debug, Default)]
struct LastStates {
    waiting: BTreeMap<String, Vec<String>>,
    /// What was popped last.
    popped: (String, Vec<String>),
}

impl LastStates {
    fn translate(&mut self, op: Op<'_>, step: &Step, met: &mut Differences) -> Step {
        let mut step = step.clone();
        if op.verb == "again" {
            let (key, deltas) = self.popped.clone();
            self.waiting.entry(key).or_insert(deltas);
        }
        if let Some((popped, deltas)) = step.said.split_first_mut()
            && !deltas.is_empty()
        {
            let key = popped.split(' ').next().unwrap_or_default();
            self.restore(key, deltas, met);
            self.popped = (key.to_owned(), deltas.to_vec());
        }
        step.seen.retain(|name, value| {
            let Some(key) = name.strip_prefix("waiting ") else {
                return true;
            };
            if value.is_empty() {
                self.waiting.remove(key);
                return true;
            }
            let mut deltas: Vec<String> = value.split(", ").map(str::to_owned).collect();
            self.restore(key, &mut deltas, met);
            *value = deltas.join(", ");
            // Restored to what it was: nothing is new to see.
            let before = self.waiting.insert(key.to_owned(), deltas);
            op.verb == "again" || before.as_ref() != self.waiting.get(key)
        });
        step
    }

    /// A concluded delete that has no last state, merged with one that has: ours keeps it.
    fn restore(&self, key: &str, deltas: &mut [String], met: &mut Differences) {
        let before = self.waiting.get(key).map(Vec::as_slice).unwrap_or_default();
        for (delta, before) in deltas.iter_mut().zip(before) {
            if delta.starts_with("vanished ") && delta.ends_with(" nothing") && delta != before {
                delta.clone_from(before);
                met.met(Difference::LostLastState);
            }
        }
    }
}

struct Ours {
    fifo: Fifo<ObjectKey, Thing>,
    writer: Writer<ObjectKey, Thing>,
    known: Reader<ObjectKey, Thing>,
    popped: Option<Popped<ObjectKey, Thing>>,
    /// Those about which something may wait.
    keys: BTreeMap<String, ObjectKey>,
}

impl Ours {
    fn new() -> Self {
        let (writer, known) = indexed(Indexers::new()).expect("no two of one name");
        Self {
            fifo: Fifo::new(Arc::new(known.clone())),
            writer,
            known,
            popped: None,
            keys: BTreeMap::new(),
        }
    }

    fn play(&mut self, op: Op<'_>, said: &mut Vec<String>) {
        let texts = if op.verb == "pop" { "" } else { op.rest };
        for text in texts.split_whitespace() {
            let text = text.split('@').next().unwrap_or_default();
            self.keys.insert(text.to_owned(), key(text));
        }
        match op.verb {
            "know" => {
                let entry = Object::read(op.arg()).entry();
                self.commit(Delta::Upsert(entry, Cause::Added), false);
            }
            "pop" => self.pop(op.arg(), said),
            "again" => match self.popped.take() {
                Some(popped) => self.fifo.requeue(popped),
                None => said.push("nothing".to_owned()),
            },
            "resync" => self.fifo.resync(),
            "replace" => {
                let items = op.args().map(|text| Object::read(text).entry()).collect();
                self.fifo.replace(items, Vec::new());
            }
            _ => match pushed(op) {
                Delta::Upsert(entry, cause) => self.fifo.upsert(entry, cause),
                Delta::Delete {
                    key,
                    stamp,
                    last,
                    observed,
                } => self.fifo.delete(key, stamp, last, observed),
                other => panic!("{other:?} is no operation of this queue"),
            },
        }
    }

    fn pop(&mut self, how: &str, said: &mut Vec<String>) {
        let Some(popped) = self.fifo.pop() else {
            said.push("empty".to_owned());
            return;
        };
        self.popped = None;
        let when = if popped.initial { "initial" } else { "later" };
        said.push(format!("{} {when}", popped.key));
        said.extend(popped.deltas.iter().map(show_delta));
        match how {
            "requeue" => self.fifo.requeue(popped),
            "drop" => {
                self.fifo.done(&popped.key);
                self.popped = Some(popped);
            }
            _ => {
                for delta in &popped.deltas {
                    self.commit(delta.clone(), popped.initial);
                }
                self.fifo.done(&popped.key);
                self.popped = Some(popped);
            }
        }
    }

    fn commit(&mut self, delta: Delta<ObjectKey, Thing>, initial: bool) {
        self.writer
            .commit(&mut Batch::of(delta, initial), &mut Vec::new())
            .expect("there is no index that could refuse");
    }

    fn look(&self, view: &mut View) {
        if self.fifo.has_synced() {
            view.put("synced", "yes");
        }
        view.put("queue", self.fifo.len());
        for (text, key) in &self.keys {
            if let Some(deltas) = self.fifo.waiting(key) {
                let deltas: Vec<String> = deltas.iter().map(show_delta).collect();
                view.put(format!("waiting {text}"), deltas.join(", "));
            }
        }
        for entry in self.known.view().iter() {
            view.put(format!("known {}", entry.key), show(entry));
        }
    }
}

const KEYS: [&str; 6] = ["a/x", "a/y", "b/x", "a-b/x", "c", "d"];

struct Generator<'a> {
    random: &'a mut Random,
    objects: Objects,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random) -> Self {
        Self {
            random,
            objects: Objects::new(&KEYS),
        }
    }

    fn ops(mut self) -> Vec<String> {
        let mut ops = Vec::new();
        // What is known before the first list is as after a restart of the queue alone. A list follows: there is a difference about what
        // comes in between, with a trace of its own.
        let n_known = if self.random.once_in(4) {
            self.random.below(4)
        } else {
            0
        };
        for _ in 0..n_known {
            ops.push(format!("know {}", self.objects.any(self.random)));
        }
        if n_known > 0 || self.random.once_in(2) {
            ops.push(self.op(&[(1, "replace")]));
        }
        let n_pops = self.random.below(8) + 2;
        for _ in 0..self.random.below(40) + 5 {
            let weights = [
                (6, "add"),
                (6, "update"),
                (5, "delete"),
                (2, "vanish"),
                (1, "replace"),
                (1, "resync"),
                (n_pops, "pop"),
                (1, "again"),
            ];
            let op = self.op(&weights);
            ops.push(op);
        }
        ops.extend((0..self.random.below(8)).map(|_| "pop".to_owned()));
        ops
    }

    fn op(&mut self, of: &[(usize, &'static str)]) -> String {
        match self.random.weighted(of) {
            "pop" => (*self
                .random
                .pick(&["pop", "pop", "pop", "pop requeue", "pop drop"]))
            .to_owned(),
            verb @ ("again" | "resync") => verb.to_owned(),
            "replace" => format!("replace {}", self.objects.some(self.random, 5))
                .trim_end()
                .to_owned(),
            "vanish" if self.random.once_in(3) => format!("vanish {}", self.objects.key(self.random)),
            verb => format!("{verb} {}", self.objects.any(self.random)),
        }
    }
}
