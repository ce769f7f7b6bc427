//! Never back in time.

use std::collections::BTreeMap;

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, InformerId, Noted},
    history::number,
    world::View,
};

/// How far each store has come.
#[derive(Debug, Default)]
pub(super) struct Time {
    applied: BTreeMap<InformerId, u64>,
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
        // The model's versions never go backward, so that no list of it may rewind anything either.
        if applied < *before {
            return Err(format!("i{informer} had applied {before}, and now {applied}"));
        }
        *before = applied;
        Ok(())
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
