//! The correlator of events, which counts by notes here, against client-go's `tools/record`.
//!
//! The operations are explained in `tests/reference/oracle/correlator.go`. Of the different events of a group that is combined client-go
//! forgets one by chance, so that no sequence brings one of those again: what would become of it is no rule.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use informer_core::{Clock as _, Resource, TokioClock};
use informer_events::{COMBINED, Correlator, Event, EventKind, Grouping, ObjectReference, Options, Verdict};

use super::{Suite, limiter::milliseconds};
use crate::{
    difference::{Difference, Differences},
    oracle::Version,
    random::Random,
    sequence::{Op, Step, play},
};

/// See the module.
#[derive(Debug)]
pub(super) struct Correlators;

impl Suite for Correlators {
    fn name(&self) -> &'static str {
        "correlator"
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
        let mut correlator = Correlator::new(options("10 600 25 300 4096"));
        let mut now = TokioClock.now();
        let mut n = 0;
        play(ops, |op, said, _| match op.verb {
            "new" => correlator = Correlator::new(options(op.rest)),
            "wait" => now += milliseconds(op.arg()),
            "event" => {
                n += 1;
                said.push(told(&correlator.correlate(now, event(op, n))));
            }
            other => panic!("no operation {other:?}"),
        })
    }

    /// The note of a combined event stays that of the first: a series is patched by its count alone.
    fn translate(&self, ops: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        let mut groups = Groups::default();
        let mut first: BTreeMap<String, String> = BTreeMap::new();
        let steps = ops.iter().zip(answer);
        steps
            .map(|(op, step)| {
                let mut step = step.clone();
                let Some((group, note)) = groups.follow(Op::read(op)) else {
                    return step;
                };
                let first = first.entry(group).or_insert_with(|| note.clone());
                for line in &mut step.said {
                    let Some((verb, _)) = line.split_once(COMBINED) else {
                        continue;
                    };
                    if verb.starts_with("create ") {
                        first.clone_from(&note);
                    } else if *first != note {
                        met.met(Difference::CombinedNote);
                        *line = format!("{verb}{COMBINED}{first}");
                    }
                }
                step
            })
            .collect()
    }
}

/// Which events are combined, where everything is remembered.
#[derive(Default)]
struct Groups {
    max: usize,
    within: Duration,
    now: Duration,
    different: BTreeMap<String, (BTreeSet<String>, Duration)>,
}

impl Groups {
    /// The group and the note of an event that is combined.
    fn follow(&mut self, op: Op<'_>) -> Option<(String, String)> {
        let args: Vec<&str> = op.args().collect();
        match (op.verb, &args[..]) {
            ("new", _) => {
                let options = options(op.rest);
                (self.max, self.within) = (options.combine_at, options.combine_within);
                None
            }
            ("event", [group @ .., note]) => {
                let group = group.join(" ");
                let (different, last) = self.different.entry(group.clone()).or_default();
                if self.now - *last > self.within {
                    different.clear();
                }
                *last = self.now;
                different.insert((*note).to_owned());
                if different.len() < self.max {
                    return None;
                }
                different.remove(*note);
                Some((group, (*note).to_owned()))
            }
            _ => {
                self.now += milliseconds(op.arg());
                None
            }
        }
    }
}

fn options(text: &str) -> Options {
    let numbers: Vec<u32> = text
        .split_whitespace()
        .map(|number| number.parse().expect("a number"))
        .collect();
    let [max, within, burst, refill, memory] = numbers[..] else {
        panic!("not five numbers: {text:?}");
    };
    let mut options = Options::default();
    options.grouping = Grouping::Notes;
    options.combine_at = max as usize;
    options.combine_within = Duration::from_secs(within.into());
    options.burst = burst;
    options.refill_every = Duration::from_secs(refill.into());
    options.memory = memory as usize;
    options
}

fn event(op: Op<'_>, n: u32) -> Event {
    let args: Vec<&str> = op.args().collect();
    let [source, object, kind, reason, note] = args[..] else {
        panic!("not five words: {:?}", op.rest);
    };
    let (controller, instance) = source.split_once('/').unwrap_or((source, ""));
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let mut event = Event::default();
    event.metadata.name = format!("e{n}");
    "default".clone_into(&mut event.metadata.namespace);
    controller.clone_into(&mut event.reporting_controller);
    instance.clone_into(&mut event.reporting_instance);
    reason.clone_into(&mut event.reason);
    event.regarding = ObjectReference::new(&pods, Some("default"), object);
    note.clone_into(&mut event.note);
    event.kind = match kind {
        "Warning" => EventKind::Warning,
        _ => EventKind::Normal,
    };
    event
}

fn told(correlated: &informer_events::Correlated) -> String {
    if correlated.verdict == Verdict::Skip {
        return "skip".to_owned();
    }
    let verb = if correlated.series.is_some() {
        "patch"
    } else {
        "create"
    };
    let name = if correlated.combined {
        "-"
    } else {
        &correlated.first.metadata.name
    };
    format!("{verb} {} {name} {}", correlated.count(), correlated.first.note)
}

struct Generator<'a> {
    random: &'a mut Random,
    max: usize,
    within: usize,
    /// Now, in milliseconds.
    now: usize,
    fresh: usize,
    /// The notes of each group, and when its last came.
    groups: BTreeMap<String, (BTreeSet<String>, usize)>,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random) -> Self {
        let max = random.below(5) + 2;
        let within = random.below(60) + 5;
        Self {
            random,
            max,
            within,
            now: 0,
            fresh: 0,
            groups: BTreeMap::new(),
        }
    }

    fn ops(mut self) -> Vec<String> {
        let burst = self.random.below(12) + 1;
        let refill = self.random.word(&["1", "7", "30", "300"]);
        // Where little is remembered nothing is skipped, so that what is combined is seen from the first on.
        let (burst, memory) = if self.random.once_in(3) {
            (100, self.random.below(4) + 1)
        } else {
            (burst, 4096)
        };
        let mut ops = vec![format!(
            "new {} {} {burst} {refill} {memory}",
            self.max, self.within
        )];
        for _ in 0..self.random.below(60) + 10 {
            let op = self.op();
            ops.push(op);
        }
        ops
    }

    fn op(&mut self) -> String {
        if self.random.once_in(5) {
            let limit = if self.random.once_in(3) { 90_000 } else { 4_000 };
            let time = self.random.below(limit);
            self.now += time;
            return format!("wait {time}");
        }
        let source = self.random.word(&["s/h", "t/h"]);
        let object = self.random.word(&["o", "o", "p"]);
        let kind = self.random.word(&["Normal", "Normal", "Warning"]);
        let reason = self.random.word(&["R", "R", "Q"]);
        let group = format!("{source} {object} {kind} {reason}");
        let note = self.note(&group);
        format!("event {group} {note}")
    }

    /// One of a few, until the group is combined; from then on one that was never there.
    fn note(&mut self, group: &str) -> String {
        let any = self.random.word(&["a", "b", "c", "d", "e", "f"]).to_owned();
        let (notes, last) = self.groups.entry(group.to_owned()).or_default();
        if self.now - *last > self.within * 1000 {
            notes.clear();
        }
        *last = self.now;
        let note = if notes.len() + 1 >= self.max {
            self.fresh += 1;
            format!("n{}", self.fresh)
        } else {
            any
        };
        notes.insert(note.clone());
        note
    }
}
