//! The store with its indices, against `NewIndexer` with transactions.
//!
//! The operations are explained in `tests/reference/oracle/store.go`.

use informer_core::{Batch, ObjectKey, ResourceVersion, StoreWriter};
use informer_store::{Indexers, Reader, Writer, indexed};

use super::{
    Suite,
    deltas::{one, pushed},
    objects::Objects,
};
use crate::{
    difference::{Difference, Differences},
    object::{By, Object, Thing, show},
    oracle::Version,
    random::Random,
    sequence::{Op, Step, play},
};

/// See the module.
#[derive(Debug)]
pub(super) struct Store;

impl Suite for Store {
    fn name(&self) -> &'static str {
        "store"
    }

    fn version(&self) -> Version {
        Version::Atomic
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
            view.put_store(&ours.reader.view());
        })
    }

    fn translate(&self, ops: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        let mut applied = Applied::default();
        let steps = ops.iter().zip(answer);
        steps
            .map(|(op, step)| applied.translate(Op::read(op), step, met))
            .collect()
    }
}

struct Ours {
    writer: Writer<ObjectKey, Thing>,
    reader: Reader<ObjectKey, Thing>,
}

impl Ours {
    fn new() -> Self {
        let (writer, reader) = indexed(Indexers::new().with("first", By::First)).expect("one index");
        Self { writer, reader }
    }

    fn play(&mut self, op: Op<'_>, said: &mut Vec<String>) {
        let deltas = match op.verb {
            "index" => {
                for name in op.args() {
                    match self.reader.add_index(name, By::name(name)) {
                        Ok(()) => {}
                        Err(error) if error.is_duplicate() => said.push(format!("there is an index {name}")),
                        Err(_) => said.push("refused".to_owned()),
                    }
                }
                return;
            }
            "alike" => {
                said.push(self.alike(op));
                return;
            }
            "batch" => Op::parts(op.rest).map(one).collect(),
            _ => vec![pushed(op)],
        };
        let n_all = deltas.len();
        let mut batch = Batch {
            deltas,
            ..Batch::default()
        };
        let Err(error) = self.writer.commit(&mut batch, &mut Vec::new()) else {
            return;
        };
        assert_eq!(
            batch.deltas.len(),
            error.failed.len(),
            "what failed stays in the batch"
        );
        if op.verb == "batch" {
            let n_failed = error.failed.len();
            said.push(format!(
                "{} of {n_all} applied, {n_failed} errors",
                n_all - n_failed
            ));
        } else {
            said.push("refused".to_owned());
        }
    }
}

impl Ours {
    fn alike(&self, op: Op<'_>) -> String {
        let mut args = op.args();
        let name = args.next().unwrap_or_default();
        let object = Object::read(args.next().unwrap_or_default()).entry().object;
        match self.reader.view().by_object(name, &object) {
            Err(_) => "no answer".to_owned(),
            Ok(entries) => {
                let mut found: Vec<String> = entries.iter().map(show).collect();
                found.sort();
                format!("found {}", found.join(" "))
            }
        }
    }
}

/// The applied version, by client-go's rule and by ours.
#[derive(Debug, Default)]
struct Applied {
    theirs: String,
    ours: String,
}

impl Applied {
    /// client-go: the version of whatever was written last, which may be none. Ours: forward only, and an empty one says nothing.
    fn translate(&mut self, op: Op<'_>, step: &Step, met: &mut Differences) -> Step {
        let mut step = step.clone();
        let before = (self.theirs.clone(), self.ours.clone());
        let failed = step.said.iter().any(|said| said.starts_with("panic"));
        match op.verb {
            "replace" | "bookmark" => self.follow(op.version(), failed),
            "batch" => {
                let mut last = None;
                for part in Op::parts(op.rest) {
                    if part.verb != "bad" {
                        let version = Object::read(part.arg()).version;
                        self.advance(&version);
                        last = Some(version);
                    }
                }
                if let Some(last) = last {
                    self.theirs = last;
                }
            }
            "add" | "update" | "delete" => self.follow(&Object::read(op.arg()).version, failed),
            _ => {}
        }
        // What client-go shows must be what its rule says, or there is a difference that nobody knows.
        let shown = step.seen.remove("applied");
        let told = (self.theirs != before.0).then(|| self.theirs.clone());
        if shown != told {
            step.said.push(format!("applied {shown:?}, by its rule {told:?}"));
        }
        if self.ours != before.1 {
            step.seen.insert("applied".to_owned(), self.ours.clone());
        }
        if self.ours != self.theirs {
            met.met(Difference::AppliedVersion);
        }
        step
    }

    fn follow(&mut self, version: &str, failed: bool) {
        if !failed {
            self.theirs = version.to_owned();
            self.advance(version);
        }
    }

    fn advance(&mut self, version: &str) {
        let (to, from) = (ResourceVersion::new(version), ResourceVersion::new(&*self.ours));
        let backward = from.compare(&to).is_ok_and(|order| order.is_gt());
        if !to.is_none() && !backward {
            self.ours = version.to_owned();
        }
    }
}

const KEYS: [&str; 8] = ["a/x", "a/y", "b/x", "b/z", "c", "d", "a-b/x", "e"];

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
        if self.random.once_in(2) {
            ops.push("index each".to_owned());
        }
        if self.random.once_in(25) {
            ops.extend(self.many());
        }
        for _ in 0..self.random.below(40) + 5 {
            let op = self.op();
            ops.push(op);
        }
        ops
    }

    /// So many objects that no part of the store holds them all in one node.
    fn many(&mut self) -> Vec<String> {
        self.objects.widen(300);
        let keys = self.objects.keys(self.random, 250);
        let listed: Vec<String> = keys.iter().map(|key| self.objects.of(self.random, key)).collect();
        let list = format!(
            "replace @{} {}",
            self.objects.version(self.random),
            listed.join(" ")
        );
        let leave = self.objects.keys(self.random, 60);
        let leave = leave
            .iter()
            .map(|key| format!("delete {}", self.objects.of(self.random, key)));
        let leave = format!("batch {}", leave.collect::<Vec<_>>().join("; "));
        vec![list, leave]
    }

    fn op(&mut self) -> String {
        let weights = [
            (6, "add"),
            (6, "update"),
            (4, "delete"),
            (2, "vanish"),
            (4, "batch"),
            (2, "replace"),
            (1, "bookmark"),
            (1, "index"),
            (2, "alike"),
        ];
        match self.random.weighted(&weights) {
            "alike" => {
                let name = *self.random.pick(&["first", "each", "each", "nowhere"]);
                format!("alike {name} {}", self.objects.any(self.random))
            }
            "index" => format!("index {}", self.random.pick(&["first", "each", "more"])),
            "bookmark" => format!("bookmark @{}", self.objects.version(self.random)),
            "replace" => {
                let items = self.objects.some(self.random, 7);
                let version = self.objects.version(self.random);
                format!("replace @{version} {items}").trim_end().to_owned()
            }
            "batch" => self.batch(),
            "vanish" if self.random.once_in(3) => format!("vanish {}", self.objects.key(self.random)),
            verb => format!("{verb} {}", self.objects.any(self.random)),
        }
    }

    /// Distinct keys, as the contract of a batch has it.
    fn batch(&mut self) -> String {
        let n = self.random.below(5) + 1;
        let keys = self.objects.keys(self.random, n);
        let mut parts: Vec<String> = keys
            .into_iter()
            .map(|key| {
                let verb = *self.random.pick(&["add", "update", "delete"]);
                format!("{verb} {}", self.objects.of(self.random, &key))
            })
            .collect();
        if self.random.once_in(4) {
            parts.insert(self.random.below(parts.len() + 1), "bad".to_owned());
        }
        format!("batch {}", parts.join("; "))
    }
}
