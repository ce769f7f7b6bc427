//! Reconciled to the last state: the work queue and the workers, seen through a controller.

use std::collections::BTreeMap;

use informer_core::{ObjectKey, Stamp};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, InformerId, Noted},
    world::View,
};

#[derive(Debug, Default)]
pub(super) struct Reconciled {
    /// What the last reconcile of each object read, and whether it ended well.
    last: BTreeMap<(InformerId, ObjectKey), (Option<Stamp>, bool)>,
}

impl Invariant for Reconciled {
    fn name(&self) -> &'static str {
        "reconciled"
    }

    fn sentence(&self) -> &'static str {
        "No add is lost: when a controller has nothing to do, it has reconciled the last state of every object, and has seen that those \
         that are gone are gone."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        match &noted.fact {
            Fact::Began {
                controller,
                key,
                seen,
            } => {
                let request = (*controller, key.clone());
                self.last.insert(request, (seen.clone(), false));
            }
            Fact::Finished {
                controller,
                key,
                succeeded,
            } => {
                let request = (*controller, key.clone());
                if let Some((_, well)) = self.last.get_mut(&request) {
                    *well = *succeeded;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What is in the store was reconciled, and what is gone was seen to be gone, where it was ever seen.
    fn settled(&mut self, view: &View<'_>) -> Verdict {
        let Some(steward) = view.steward.filter(|steward| steward.is_idle()) else {
            return Ok(());
        };
        match self.lacks(view) {
            None => Ok(()),
            Some(what) => Err(format!("c{} is idle, and {what}", steward.id)),
        }
    }

    fn lacks(&self, view: &View<'_>) -> Option<String> {
        let id = view.steward?.id;
        let store = &view.members.first()?.store;
        for entry in store.list() {
            let last = self.last.get(&(id, entry.key.clone()));
            if last.is_none_or(|(seen, well)| seen.as_ref() != Some(&entry.stamp) || !*well) {
                return Some(format!("the last reconcile was {last:?}, of {entry:?}"));
            }
        }
        let mut mine = self.last.iter().filter(|((controller, _), _)| *controller == id);
        mine.find(|((_, key), (seen, well))| (seen.is_some() || !*well) && store.get(key).is_none())
            .map(|((_, key), _)| format!("no reconcile saw that {key} is gone"))
    }
}
