//! What our handlers are told where client-go's are told this.

use std::collections::BTreeMap;

use super::lines::{in_order, key_of};
use crate::{
    difference::{Difference, Differences},
    object::Object,
    sequence::Step,
};

/// What each handler was told, object by object.
#[derive(Debug)]
pub(super) struct Told {
    resyncs: bool,
    per_key: bool,
    known: BTreeMap<String, BTreeMap<String, Object>>,
}

impl Told {
    pub(super) fn new(resyncs: bool, per_key: bool) -> Self {
        Self {
            resyncs,
            per_key,
            known: BTreeMap::new(),
        }
    }

    pub(super) fn translate(&mut self, step: &Step, met: &mut Differences) -> Step {
        let mut by_handler: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut said = Vec::new();
        for text in &step.said {
            // What is not about a handler: `refused`, `there is an index`.
            let split = text
                .split_once(' ')
                .filter(|(handler, _)| handler.starts_with('h'));
            let Some((handler, line)) = split else {
                said.push(text.clone());
                continue;
            };
            let lines = by_handler.entry(handler).or_default();
            if line.ends_with(" more") {
                lines.push(line.to_owned());
            } else {
                lines.extend(self.line(handler, line, met));
            }
        }
        for (handler, lines) in by_handler {
            let lines = in_order(lines, self.per_key);
            said.extend(lines.iter().map(|line| format!("{handler} {line}")));
        }
        Step {
            said,
            seen: step.seen.clone(),
        }
    }

    fn line(&mut self, handler: &str, line: &str, met: &mut Differences) -> Vec<String> {
        let known = self.known.entry(handler.to_owned()).or_default();
        let (line, panics) = match line.strip_suffix(" panics") {
            Some(line) => (line, " panics"),
            None => (line, ""),
        };
        let key = key_of(line).to_owned();
        let mut words = line.split(' ');
        let verb = words.next().unwrap_or_default();
        let object = Object::read(words.next().unwrap_or_default());
        let stored = known.get(&key).cloned();
        let lines = match (verb, stored) {
            ("add", _) => {
                known.insert(key, object);
                vec![line.to_owned()]
            }
            ("again", _) if !self.resyncs => {
                met.met(Difference::RelistAgain);
                Vec::new()
            }
            ("update", _) => {
                let new = Object::read(words.nth(1).unwrap_or_default());
                known.insert(key, new.clone());
                if new.uid == object.uid {
                    vec![line.to_owned()]
                } else {
                    met.met(Difference::UidChange);
                    vec![format!("vanished {object}"), format!("add {new}")]
                }
            }
            ("delete", None) => {
                met.met(Difference::UnknownDelete);
                Vec::new()
            }
            ("delete", Some(stored)) if stored.uid != object.uid => {
                known.remove(&key);
                met.met(Difference::ForeignDelete);
                vec![format!("vanished {stored}")]
            }
            ("delete" | "vanished", _) => {
                known.remove(&key);
                vec![line.to_owned()]
            }
            _ => vec![line.to_owned()],
        };
        lines.into_iter().map(|line| line + panics).collect()
    }
}
