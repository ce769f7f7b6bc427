//! Delete delivered: a handler that has been told everything believes what the store holds.

use std::{collections::BTreeMap, ops::ControlFlow};

use informer_core::{Change, ObjectKey, Stamp};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, HandlerId, Noted},
    world::{Handler, Member, View},
};

/// What each handler believes, and whether a call of it runs.
#[derive(Debug, Default)]
pub(super) struct Deletes {
    beliefs: BTreeMap<HandlerId, Belief>,
}

#[derive(Debug, Default)]
struct Belief {
    objects: BTreeMap<ObjectKey, Stamp>,
    calling: bool,
}

impl Invariant for Deletes {
    fn name(&self) -> &'static str {
        "delete delivered"
    }

    fn sentence(&self) -> &'static str {
        "No change is lost: a handler for which nothing waits knows exactly the objects in the store; a deletion that was missed is told \
         when a list shows it."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        match &noted.fact {
            Fact::Told { handler, change, .. } => {
                let belief = self.beliefs.entry(*handler).or_default();
                belief.calling = true;
                let entry = change.entry();
                if matches!(change, Change::Removed { .. }) {
                    belief.objects.remove(&entry.key);
                } else {
                    belief.objects.insert(entry.key.clone(), entry.stamp.clone());
                }
            }
            Fact::Returned { handler, .. } => {
                self.beliefs.entry(*handler).or_default().calling = false;
            }
            Fact::Left { handler, .. } => drop(self.beliefs.remove(handler)),
            _ => {}
        }
        Ok(())
    }

    fn settled(&mut self, view: &View<'_>) -> Verdict {
        for member in view.members {
            for handler in &member.handlers {
                let idle = handler.registration.backlog() == 0;
                let belief = self.beliefs.entry(handler.id).or_default();
                if idle && !belief.calling {
                    compare(member, handler, &belief.objects)?;
                }
            }
        }
        Ok(())
    }
}

fn compare(member: &Member, handler: &Handler, belief: &BTreeMap<ObjectKey, Stamp>) -> Verdict {
    let snapshot = member.store.snapshot();
    let mut believed = belief.iter();
    let mut verdict = Ok(());
    let about = format!("h{} of i{}", handler.id, member.id);
    snapshot.scan(None, &mut |entry| match believed.next() {
        Some((key, stamp)) if *key == entry.key && *stamp == entry.stamp => ControlFlow::Continue(()),
        other => {
            verdict = Err(format!("{about} knows {other:?} where the store has {entry:?}"));
            ControlFlow::Break(())
        }
    });
    verdict?;
    match believed.next() {
        None => Ok(()),
        Some((key, stamp)) => Err(format!(
            "{about} knows {key} at {}, which the store does not have",
            stamp.version
        )),
    }
}
