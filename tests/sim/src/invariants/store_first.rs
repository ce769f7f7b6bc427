//! Store before handler.

use informer_core::Change;

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, Noted},
    history::number,
    world::View,
};

#[derive(Debug)]
pub(super) struct StoreFirst;

impl Invariant for StoreFirst {
    fn name(&self) -> &'static str {
        "store before handler"
    }

    fn sentence(&self) -> &'static str {
        "The store is updated before a handler hears of the change; a handler that reads the store sees that state or a later one."
    }

    fn fact(&mut self, noted: &Noted, view: &View<'_>) -> Verdict {
        let Fact::Told {
            informer,
            handler,
            change,
            stored,
            ..
        } = &noted.fact
        else {
            return Ok(());
        };
        let Some(member) = view.members.iter().find(|member| member.id == *informer) else {
            return Ok(());
        };
        let entry = change.entry();
        let version = number(&entry.stamp.version);
        let later = match (change, stored) {
            (Change::Removed { .. }, None) => true,
            // Another one, or the same that came back into the selector.
            (Change::Removed { .. }, Some(stored)) => number(&stored.version) > version,
            (_, Some(stored)) => number(&stored.version) >= version,
            // Gone since.
            (_, None) => {
                view.history
                    .was_gone(member.config.kind, member.config.which, &entry.key, &entry.stamp)
            }
        };
        let is_removal = matches!(change, Change::Removed { .. });
        // A restored etcd takes states back, and deletions.
        let rewound = version.is_some_and(|version| view.history.is_abandoned(version))
            || (is_removal && view.history.n_branches() > 1);
        if later || rewound {
            Ok(())
        } else {
            Err(format!(
                "h{handler} is told {change:?} while the store has {stored:?}"
            ))
        }
    }
}
