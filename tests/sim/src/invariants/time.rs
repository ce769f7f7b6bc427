//! Never back in time.

use std::collections::BTreeMap;

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, InformerId, Noted},
    history::number,
    net::AskKind,
    world::View,
};

/// How far each store has come.
#[derive(Debug, Default)]
pub(super) struct Time {
    applied: BTreeMap<InformerId, u64>,
    sources: BTreeMap<InformerId, Source>,
}

/// What each source was asked for and gave.
#[derive(Debug, Default)]
struct Source {
    /// The last request for a whole state had no version.
    quorum: bool,
    /// Something with a version was refused since the last watch.
    refused: bool,
    asks_with_version: bool,
    /// The versions of whole states that were had without a version, after a refusal.
    may_rewind_to: Vec<u64>,
}

impl Time {
    fn advance(&mut self, informer: InformerId, applied: Option<u64>) -> Verdict {
        let before = self.applied.entry(informer).or_default();
        let Some(applied) = applied else {
            return if *before == 0 {
                Ok(())
            } else {
                Err(format!("i{informer} had applied {before}, and now nothing"))
            };
        };
        if applied < *before {
            let source = self.sources.entry(informer).or_default();
            // A coalescing queue may say it together with what followed the list.
            let Some(at) = source.may_rewind_to.iter().position(|to| *to <= applied) else {
                let lists = &source.may_rewind_to;
                return Err(format!(
                    "i{informer} had applied {before}, and now {applied}; lists that may rewind: {lists:?}"
                ));
            };
            source.may_rewind_to.drain(..=at);
        }
        *before = applied;
        Ok(())
    }
}

impl Source {
    fn fact(&mut self, fact: &Fact) {
        match fact {
            Fact::Asked { ask, .. } => {
                self.asks_with_version = ask.version.as_deref().is_some_and(|version| version != "0");
                match ask.kind {
                    AskKind::List { continued: true } => {}
                    // The last state was taken.
                    AskKind::Watch => self.refused = false,
                    AskKind::List { .. } | AskKind::StreamingList => self.quorum = ask.version.is_none(),
                }
            }
            // In a stream, refusals are lines; they close it.
            Fact::Answered { status, .. } if *status >= 400 => self.refused |= self.asks_with_version,
            Fact::Refused { .. } => self.refused |= self.asks_with_version,
            Fact::Whole { version, .. } if self.quorum && self.refused => {
                self.may_rewind_to.push(*version);
            }
            _ => {}
        }
    }
}

impl Invariant for Time {
    fn name(&self) -> &'static str {
        "never back in time"
    }

    fn sentence(&self) -> &'static str {
        "The applied version never moves backward, except by a Replace that says may_rewind, from a quorum list after a refusal. Who \
         waits for a version goes on when the store has it."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        match &noted.fact {
            Fact::Told {
                informer, applied, ..
            } => self.advance(*informer, number(applied)),
            Fact::Asked { informer, .. }
            | Fact::Answered { informer, .. }
            | Fact::Refused { informer }
            | Fact::Whole { informer, .. } => {
                self.sources.entry(*informer).or_default().fact(&noted.fact);
                Ok(())
            }
            Fact::Waited {
                informer,
                version,
                applied,
            } => {
                if number(applied).is_none_or(|applied| applied < *version) {
                    return Err(format!("i{informer} was to have {version}, and has {applied}"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn step(&mut self, view: &View<'_>) -> Verdict {
        for member in view.members {
            let applied = number(member.store.snapshot().applied());
            self.advance(member.id, applied)?;
        }
        Ok(())
    }
}
