//! No phantom: nothing is told that was not so at the server.

use informer_core::{Change, Entry, ObjectKey};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, Noted},
    thing::Thing,
    world::{Member, View},
};

#[derive(Debug)]
pub(super) struct Phantom;

impl Invariant for Phantom {
    fn name(&self) -> &'static str {
        "no phantom"
    }

    fn sentence(&self) -> &'static str {
        "Every state that a handler is told was the object's state at the server, under the informer's selector; what is told to be \
         removed was gone."
    }

    fn fact(&mut self, noted: &Noted, view: &View<'_>) -> Verdict {
        let Fact::Told {
            informer,
            handler,
            change,
            ..
        } = &noted.fact
        else {
            return Ok(());
        };
        // One that was told to stop since is judged no more.
        let Some(member) = view.members.iter().find(|member| member.id == *informer) else {
            return Ok(());
        };
        let entry = change.entry();
        let real = match change {
            Change::Added { .. } | Change::Updated { .. } | Change::Resynced { .. } => {
                was(view, member, entry)
            }
            Change::Removed { observed: true, .. } => left(view, member, entry),
            Change::Removed { observed: false, .. } => was(view, member, entry) && left(view, member, entry),
        };
        if real {
            Ok(())
        } else {
            Err(format!("h{handler} is told {change:?}, which was never so"))
        }
    }
}

/// Whether this was the object's state at its version, for this informer.
pub(super) fn was(view: &View<'_>, member: &Member, entry: &Entry<ObjectKey, Thing>) -> bool {
    let kind = member.config.kind;
    let thing = &entry.object;
    view.history
        .written(kind, &entry.key, &entry.stamp, Some(thing.n()))
        .is_some_and(|state| {
            state.color == thing.color()
                && entry.key.namespace() == Some(thing.namespace())
                && member.config.which.sees(&entry.key, state.color)
        })
}

fn left(view: &View<'_>, member: &Member, entry: &Entry<ObjectKey, Thing>) -> bool {
    let (kind, which) = (member.config.kind, member.config.which);
    view.history.was_gone(kind, which, &entry.key, &entry.stamp)
}
