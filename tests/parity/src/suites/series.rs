//! What is written of events that happen again, against client-go's broadcaster of `events.k8s.io/v1`.
//!
//! The operations are explained in `tests/reference/oracle/series.go`. client-go looks at all series every 6 and 30 minutes, ours at each
//! in its own time: the waits of a sequence are such that both come to the same.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use informer_core::{Clock as _, Resource, TokioClock};
use informer_events::{Event, Machine, MicroTime, ObjectReference, Options, Refusal, Verb};

use super::{Suite, limiter::milliseconds};
use crate::{
    difference::{Difference, Differences},
    oracle::Version,
    random::Random,
    sequence::{Op, Step, play},
};

/// See the module.
#[derive(Debug)]
pub(super) struct Series;

impl Suite for Series {
    fn name(&self) -> &'static str {
        "series"
    }

    fn version(&self) -> Version {
        Version::Atomic
    }

    fn share(&self) -> u64 {
        2
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        let mut ops = Vec::new();
        // All of it ends before client-go writes every count anew, after half an hour.
        for _ in 0..2 {
            let mut left = 100_000;
            for _ in 0..random.below(25) + 2 {
                some(random, &mut left, &mut ops);
            }
            ops.push("wait 780000".to_owned());
        }
        ops
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        let mut ours = Ours::new();
        play(ops, |op, said, _| *said = ours.play(op))
    }

    /// At the end of a series client-go writes its count also where the server has it.
    fn translate(&self, _: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        let mut written: BTreeMap<String, String> = BTreeMap::new();
        answer
            .iter()
            .map(|step| {
                let mut step = step.clone();
                step.said.retain(|line| {
                    let Some((key, count)) = line.rsplit_once(' ').filter(|it| it.1 != "refused") else {
                        return true;
                    };
                    let key = key.split_once(' ').map_or(key, |(_, key)| key);
                    let before = written.insert(key.to_owned(), count.to_owned());
                    let is_known = line.starts_with("patch ") && before.as_deref() == Some(count);
                    if is_known {
                        met.met(Difference::CountAgain);
                    }
                    !is_known
                });
                step
            })
            .collect()
    }
}

fn some(random: &mut Random, left: &mut usize, ops: &mut Vec<String>) {
    let object = random.word(&["o", "p"]);
    let reason = random.word(&["R", "Q"]);
    let action = random.word(&["A", "A", "B"]);
    let note = random.word(&["n", "m"]);
    let event = format!("event {object} {reason} {action} {note}");
    match random.below(12) {
        0 if *left >= 60_000 => {
            ops.push(format!("refuse {}", random.below(3) + 1));
            ops.push(event);
            // Longer than three tries.
            ops.push("wait 50000".to_owned());
            ops.push("refuse 0".to_owned());
            *left -= 50_000;
        }
        1 | 2 if *left >= 4_000 => {
            let time = random.below(4_000);
            ops.push(format!("wait {time}"));
            *left -= time;
        }
        _ => ops.push(event),
    }
}

struct Ours {
    machine: Machine,
    now: Instant,
    began: Instant,
    n: u32,
    refused: u32,
    said: Vec<String>,
}

impl Ours {
    fn new() -> Self {
        let mut options = Options::default();
        // client-go combines and filters in `tools/record` alone.
        options.combine_at = usize::MAX;
        options.burst = u32::MAX;
        let now = TokioClock.now();
        Self {
            machine: Machine::new(options, 1),
            now,
            began: now,
            n: 0,
            refused: 0,
            said: Vec::new(),
        }
    }

    fn play(&mut self, op: Op<'_>) -> Vec<String> {
        match op.verb {
            "event" => {
                let event = self.event(op);
                self.machine.handle_event(self.now, event);
                self.drain();
            }
            "refuse" => self.refused = op.arg().parse().expect("a number"),
            "wait" => self.pass(milliseconds(op.arg())),
            other => panic!("no operation {other:?}"),
        }
        self.pass(Duration::from_millis(1));
        self.said.sort();
        std::mem::take(&mut self.said)
    }

    fn event(&mut self, op: Op<'_>) -> Event {
        let args: Vec<&str> = op.args().collect();
        let [object, reason, action, note] = args[..] else {
            panic!("not four words: {:?}", op.rest);
        };
        let pods = Resource::namespaced("", "v1", "pods", "Pod");
        let mut event = Event::default();
        self.n += 1;
        event.metadata.name = format!("e{}", self.n);
        "default".clone_into(&mut event.metadata.namespace);
        "controller".clone_into(&mut event.reporting_controller);
        event.regarding = ObjectReference::new(&pods, Some("default"), object);
        event.event_time = MicroTime::since_epoch(self.now.saturating_duration_since(self.began));
        reason.clone_into(&mut event.reason);
        action.clone_into(&mut event.action);
        note.clone_into(&mut event.note);
        event
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.machine.poll_timeout().filter(|at| *at <= until) {
            self.now = at.max(self.now);
            self.machine.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    fn drain(&mut self) {
        while let Some(write) = self.machine.poll_write() {
            let verb = match write.verb {
                Verb::Create => "create",
                Verb::Patch => "patch",
            };
            let Event {
                regarding,
                reason,
                action,
                ..
            } = &write.event;
            let line = format!(
                "{verb} {} {reason} {action} {}",
                regarding.name,
                write.event.count()
            );
            let result = if self.refused > 0 {
                self.refused -= 1;
                self.said.push(format!("{line} refused"));
                Err(Refusal::Unavailable { retry_after: None })
            } else {
                self.said.push(line);
                Ok(())
            };
            self.machine.handle_written(self.now, write.id, result);
        }
    }
}
