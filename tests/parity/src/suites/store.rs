//! The store with its indices, against `NewIndexer` with transactions.
//!
//! The operations are explained in `tests/reference/oracle/store.go`.

use std::collections::BTreeMap;

use informer_core::{Batch, Cause, Delta, ObjectKey, ResourceVersion, StoreWriter};
use informer_store::{Indexers, Reader, Writer, indexed};

use super::Suite;
use crate::{
    difference::{Difference, Differences},
    object::{By, Object, Thing, UNBEARABLE, key},
    oracle::Version,
    random::Random,
    sequence::{Op, Step},
    view::View,
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
        30
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        Generator::new(random).ops()
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        let mut ours = Ours::new();
        let mut view = View::default();
        ops.iter()
            .map(|op| {
                let mut said = Vec::new();
                ours.play(Op::read(op), &mut said);
                view.put_store(&ours.reader.view());
                Step {
                    said,
                    seen: view.changes(),
                }
            })
            .collect()
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
            "batch" => Op::parts(op.rest).map(one).collect(),
            "replace" => vec![Delta::Replace {
                items: op.args().skip(1).map(|text| Object::read(text).entry()).collect(),
                unreadable: Vec::new(),
                at: ResourceVersion::new(op.version()),
                may_rewind: false,
            }],
            "bookmark" => vec![Delta::Bookmark {
                at: ResourceVersion::new(op.version()),
                may_rewind: false,
            }],
            _ => vec![one(op)],
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

/// A delta about one object. `bad` is one that cannot be stored.
fn one(op: Op<'_>) -> Delta<ObjectKey, Thing> {
    let object = || Object::read(op.arg());
    let delete = |object: &Object, observed| Delta::Delete {
        key: key(&object.key),
        stamp: object.stamp(),
        last: Some(object.entry().object),
        observed,
    };
    match op.verb {
        "add" => Delta::Upsert(object().entry(), Cause::Added),
        "update" => Delta::Upsert(object().entry(), Cause::Modified),
        "delete" => delete(&object(), true),
        "vanish" if !op.arg().contains('@') => Delta::Delete {
            key: key(op.arg()),
            stamp: informer_core::Stamp::default(),
            last: None,
            observed: false,
        },
        "vanish" => delete(&object(), false),
        "bad" => {
            let text = format!("bad@1#[{UNBEARABLE}]");
            Delta::Upsert(Object::read(&text).entry(), Cause::Added)
        }
        other => panic!("no operation {other:?}"),
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

struct Generator<'a> {
    random: &'a mut Random,
    version: u64,
    /// What each key held at each stamp: one stamp is one state.
    states: BTreeMap<String, String>,
}

const KEYS: [&str; 8] = ["a/x", "a/y", "b/x", "b/z", "c", "d", "a-b/x", "e"];
const VALUES: [&str; 5] = ["p", "q", "r", "s", "t"];

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random) -> Self {
        Self {
            random,
            version: 1,
            states: BTreeMap::new(),
        }
    }

    fn ops(mut self) -> Vec<String> {
        let mut ops = Vec::new();
        if self.random.once_in(2) {
            ops.push("index each".to_owned());
        }
        for _ in 0..self.random.below(40) + 5 {
            let op = self.op();
            ops.push(op);
        }
        ops
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
        ];
        match self.random.weighted(&weights) {
            "index" => format!("index {}", self.random.pick(&["first", "each", "more"])),
            "bookmark" => format!("bookmark @{}", self.next_version()),
            "replace" => {
                let n = self.random.below(7);
                let objects: Vec<String> = (0..n).map(|_| self.object_of(None)).collect();
                format!("replace @{} {}", self.next_version(), objects.join(" "))
                    .trim_end()
                    .to_owned()
            }
            "batch" => self.batch(),
            "vanish" if self.random.once_in(3) => format!("vanish {}", self.random.pick(&KEYS)),
            verb => format!("{verb} {}", self.object_of(None)),
        }
    }

    /// Distinct keys, as the contract of a batch has it.
    fn batch(&mut self) -> String {
        let mut keys = KEYS.to_vec();
        let mut parts = Vec::new();
        for _ in 0..self.random.below(5) + 1 {
            let key = keys.remove(self.random.below(keys.len()));
            let verb = *self.random.pick(&["add", "update", "delete"]);
            parts.push(format!("{verb} {}", self.object_of(Some(key))));
        }
        if self.random.once_in(4) {
            parts.insert(self.random.below(parts.len() + 1), "bad".to_owned());
        }
        format!("batch {}", parts.join("; "))
    }

    fn object_of(&mut self, key: Option<&str>) -> String {
        let key = match key {
            Some(key) => key,
            None => *self.random.pick(&KEYS),
        };
        let n = self.random.weighted(&[(2, 0), (4, 1), (3, 2), (1, 3)]);
        let values: Vec<&str> = (0..n).map(|_| *self.random.pick(&VALUES)).collect();
        let version = self.next_version();
        let uid = self.random.below(3);
        let stamped = format!("{key}@{version}#u{uid}");
        if version.is_empty() {
            return format!("{stamped}[{}]", values.join(","));
        }
        let held = self
            .states
            .entry(stamped.clone())
            .or_insert_with(|| values.join(","));
        format!("{stamped}[{held}]")
    }

    /// Mostly the next one, sometimes an old one, rarely none or one that has no order.
    fn next_version(&mut self) -> String {
        self.version += 1 + self.random.below(2) as u64;
        match self.random.below(20) {
            0 => (self.version * 7 % 10 + 1).to_string(),
            1 => String::new(),
            2 => format!("x{}", self.version),
            _ => self.version.to_string(),
        }
    }
}
