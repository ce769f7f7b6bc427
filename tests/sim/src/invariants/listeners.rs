//! Listener order: all handlers of an informer see the same changes in the same order.

use std::collections::{BTreeMap, BTreeSet};

use informer_core::{Change, ObjectKey};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, HandlerId, InformerId, Noted},
    world::View,
};

/// What tells one change of an informer from every other.
type Sign = (ObjectKey, u64, u8);

/// What the handlers that are there from the start and merge nothing were told, and where the others are in it.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    references: BTreeMap<HandlerId, InformerId>,
    told: BTreeMap<InformerId, BTreeMap<Sign, usize>>,
    /// What those who were told something before the reference was.
    ahead: BTreeMap<HandlerId, (InformerId, Vec<Sign>)>,
    at: BTreeMap<HandlerId, usize>,
    /// Informers that were there when an etcd was restored: the same change may come to them twice.
    excused: BTreeSet<InformerId>,
}

impl Invariant for Listeners {
    fn name(&self) -> &'static str {
        "listener order"
    }

    fn sentence(&self) -> &'static str {
        "Handlers do not wait for one another, and each is told every change in the order in which the store changed; nothing is lost or \
         told twice when a handler comes late."
    }

    fn fact(&mut self, noted: &Noted, view: &View<'_>) -> Verdict {
        if let Fact::Restored { .. } = &noted.fact {
            self.excused.extend(view.members.iter().map(|member| member.id));
        }
        let Fact::Told {
            informer,
            handler,
            change,
            ..
        } = &noted.fact
        else {
            return Ok(());
        };
        let Some(sign) = sign(change) else {
            return Ok(());
        };
        if self.excused.contains(informer) {
            return Ok(());
        }
        let member = view.members.iter().find(|member| member.id == *informer);
        let Some(it) = member.and_then(|member| member.handlers.iter().find(|it| it.id == *handler)) else {
            return Ok(());
        };
        if it.is_reference {
            self.references.insert(*handler, *informer);
            let told = self.told.entry(*informer).or_default();
            let at = told.len();
            return match told.insert(sign, at) {
                None => Ok(()),
                Some(_) => Err(format!("h{handler} is told {change:?} twice")),
            };
        }
        // One that merges sees other changes; its chains are checked elsewhere.
        if it.registration.n_merged() == 0 {
            let (_, ahead) = self
                .ahead
                .entry(*handler)
                .or_insert_with(|| (*informer, Vec::new()));
            ahead.push(sign);
        } else {
            self.ahead.remove(handler);
        }
        Ok(())
    }

    /// The reference is quick: when nothing moves it has been told all.
    fn settled(&mut self, view: &View<'_>) -> Verdict {
        for member in view.members {
            for handler in &member.handlers {
                if handler.registration.n_merged() > 0 {
                    self.ahead.remove(&handler.id);
                }
            }
        }
        self.ahead
            .retain(|_, (informer, _)| !self.excused.contains(informer));
        for (handler, (informer, ahead)) in &mut self.ahead {
            let Some(told) = self.told.get(informer) else {
                continue;
            };
            for sign in ahead.drain(..) {
                let Some(at) = told.get(&sign).copied() else {
                    return Err(format!(
                        "h{handler} was told {sign:?}, the first handler of i{informer} was not"
                    ));
                };
                if let Some(before) = self.at.insert(*handler, at)
                    && before + 1 != at
                {
                    return Err(format!(
                        "h{handler} was told {sign:?}, number {at} of i{informer}, after number {before}"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Initial adds are told to each handler in its own time, resyncs to those who are due.
fn sign<K>(change: &Change<ObjectKey, K>) -> Option<Sign> {
    let entry = change.entry();
    let version = crate::history::number(&entry.stamp.version)?;
    let what = match change {
        Change::Added { initial: true, .. } | Change::Resynced { .. } => return None,
        Change::Added { .. } => 0,
        Change::Updated { .. } => 1,
        Change::Removed { .. } => 2,
    };
    Some((entry.key.clone(), version, what))
}
