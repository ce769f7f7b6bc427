//! Synced only after the whole initial list.

use std::collections::{BTreeMap, BTreeSet};

use informer_core::{Change, ObjectKey};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, HandlerId, InformerId, Noted},
    history::number,
    world::{Member, View},
};

#[derive(Debug, Default)]
pub(super) struct Synced {
    /// The version of the first whole state that each informer was handed.
    first: BTreeMap<InformerId, u64>,
    /// Keys that each handler was ever told, and whether a call with an initial object runs.
    told: BTreeMap<HandlerId, Told>,
    /// Those that were found to be in sync, and judged.
    informers: BTreeSet<InformerId>,
    handlers: BTreeSet<HandlerId>,
    /// Informers that were there when an etcd was restored: which of two states was the first is not asked of them.
    excused: BTreeSet<InformerId>,
}

#[derive(Debug, Default)]
struct Told {
    keys: BTreeSet<ObjectKey>,
    in_initial: bool,
}

impl Invariant for Synced {
    fn name(&self) -> &'static str {
        "synced"
    }

    fn sentence(&self) -> &'static str {
        "The informer is synced once its first list is in the store. A handler is synced when the informer is and its last initial add has \
         returned, or panicked."
    }

    fn fact(&mut self, noted: &Noted, view: &View<'_>) -> Verdict {
        match &noted.fact {
            Fact::Restored { .. } => self.excused.extend(view.members.iter().map(|member| member.id)),
            Fact::Whole { informer, version } => {
                self.first.entry(*informer).or_insert(*version);
            }
            Fact::Told { handler, change, .. } => {
                let told = self.told.entry(*handler).or_default();
                told.keys.insert(change.key().clone());
                told.in_initial = matches!(change, Change::Added { initial: true, .. });
            }
            Fact::Returned { handler, .. } => {
                self.told.entry(*handler).or_default().in_initial = false;
            }
            _ => {}
        }
        Ok(())
    }

    fn step(&mut self, view: &View<'_>) -> Verdict {
        for member in view.members {
            let synced = member.informer.has_synced();
            if synced && self.informers.insert(member.id) {
                self.informer_synced(view, member)?;
            }
            for handler in &member.handlers {
                if !handler.registration.has_synced() || !self.handlers.insert(handler.id) {
                    continue;
                }
                if !synced {
                    return Err(format!("h{} is synced, i{} is not", handler.id, member.id));
                }
                self.handler_synced(view, member, handler.id)?;
            }
        }
        Ok(())
    }

    fn settled(&mut self, view: &View<'_>) -> Verdict {
        let synced = view
            .members
            .iter()
            .flat_map(|member| member.handlers.iter().map(move |handler| (member, handler)))
            .find(|(member, handler)| {
                // Nothing is under way, and still it is not.
                member.informer.has_synced()
                    && handler.registration.backlog() == 0
                    && !self.told.get(&handler.id).is_some_and(|told| told.in_initial)
                    && !handler.registration.has_synced()
            });
        match synced {
            None => Ok(()),
            Some((member, handler)) => Err(format!(
                "h{} of i{} has nothing left to be told and is not synced",
                handler.id, member.id
            )),
        }
    }
}

impl Synced {
    fn informer_synced(&self, view: &View<'_>, member: &Member) -> Verdict {
        let Some(first) = self.first.get(&member.id) else {
            return Err(format!("i{} is synced, and was handed no whole state", member.id));
        };
        if self.excused.contains(&member.id) {
            return Ok(());
        }
        let snapshot = member.store.snapshot();
        if number(snapshot.applied()).is_none_or(|applied| applied < *first) {
            return Err(format!(
                "i{} is synced, and has applied {:?}, not {first}",
                member.id,
                snapshot.applied()
            ));
        }
        let missing =
            lasting(view, member, *first).find(|key| snapshot.get(key).is_none() && !member.refuses(key));
        missing.map_or(Ok(()), |key| {
            Err(format!("i{} is synced, and {key} is missing", member.id))
        })
    }

    fn handler_synced(&mut self, view: &View<'_>, member: &Member, handler: HandlerId) -> Verdict {
        let told = self.told.entry(handler).or_default();
        if told.in_initial {
            return Err(format!(
                "h{handler} is synced while a call with an initial object runs"
            ));
        }
        let Some(first) = self.first.get(&member.id) else {
            return Err(format!(
                "h{handler} is synced before any whole state was handed over"
            ));
        };
        // What the store refused is told later, and is no part of the first list.
        if self.excused.contains(&member.id) || member.is_unsure() {
            return Ok(());
        }
        let missing = lasting(view, member, *first).find(|key| !told.keys.contains(*key));
        missing.map_or(Ok(()), |key| {
            Err(format!("h{handler} is synced, and was never told of {key}"))
        })
    }
}

/// The objects of a whole state that are the same to this day.
fn lasting<'a>(view: &'a View<'_>, member: &'a Member, first: u64) -> impl Iterator<Item = &'a ObjectKey> {
    let (kind, which) = (member.config.kind, member.config.which);
    view.history
        .all_at(kind, which, first)
        .filter(move |(key, state)| {
            state.n.is_some()
                && view
                    .history
                    .at(kind, key, u64::MAX)
                    .is_some_and(|now| now == *state)
                && view.history.agree_at(kind, key, first)
        })
        .map(|(key, _)| key)
}
