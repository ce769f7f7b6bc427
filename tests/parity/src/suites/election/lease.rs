//! The lease: `tests/reference/oracle/election.go`, rule by rule.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use informer_core::ResourceVersion;
use informer_leaderelection::{Failure, Input, MicroTime, Observed, Record};

use crate::{sequence::Op, view::View};

/// The lock, and the server that holds it.
#[derive(Debug, Default)]
pub(super) struct Lease {
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
    pub(super) fn play(&mut self, op: Op<'_>) {
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

    pub(super) fn lines(&mut self) -> Vec<String> {
        self.flush();
        std::mem::take(&mut self.said)
    }

    pub(super) fn read(&mut self, since: Duration) -> Input {
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

    pub(super) fn write(
        &mut self,
        kind: &str,
        since: Duration,
        record: Record,
        at: Option<ResourceVersion>,
    ) -> Input {
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

    pub(super) fn look(&self, view: &mut View) {
        if let Some(record) = &self.now {
            view.put("lease", format!("{} {}", holder(record), record.transitions));
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
