//! What a store holds is, at every moment, what the server had at one revision.

use std::ops::ControlFlow;

use informer_core::ObjectKey;

use super::{Invariant, Verdict, phantom::was};
use crate::{
    history::number,
    thing::Thing,
    world::{Member, View},
};

#[derive(Debug)]
pub(super) struct Snapshot;

impl Invariant for Snapshot {
    fn name(&self) -> &'static str {
        "snapshot"
    }

    fn sentence(&self) -> &'static str {
        "A relist never shows a partial set; a store that has applied a version holds everything up to it (under the coalescing queue it \
         may be seen key by key)."
    }

    fn step(&mut self, view: &View<'_>) -> Verdict {
        view.members
            .iter()
            .try_for_each(|member| check(view, member).map_err(|what| format!("i{}: {what}", member.id)))
    }
}

fn check(view: &View<'_>, member: &Member) -> Verdict {
    let snapshot = member.store.snapshot();
    let Some(applied) = number(snapshot.applied()) else {
        return if snapshot.is_empty() || member.config.coalescing {
            Ok(())
        } else {
            Err("it holds objects and has applied nothing".to_owned())
        };
    };
    let mut verdict = Err(format!(
        "it has applied {applied}, the server is at {}",
        view.revision
    ));
    // A restored etcd gives versions a second meaning: one of them it is.
    for branch in view.history.branches_at(applied) {
        if applied > view.revision && branch + 1 == view.history.n_branches() {
            continue;
        }
        verdict = check_in(view, member, &*snapshot, applied, branch);
        if verdict.is_ok() {
            break;
        }
    }
    verdict
}

fn check_in(
    view: &View<'_>,
    member: &Member,
    snapshot: &dyn informer_core::Snapshot<ObjectKey, Thing>,
    applied: u64,
    branch: usize,
) -> Verdict {
    let (kind, which) = (member.config.kind, member.config.which);
    let mut truth = view.history.all_in(branch, kind, which, applied).peekable();
    let mut verdict = Ok(());
    snapshot.scan(None, &mut |entry| {
        let wrong = |what: &str| Err(format!("{entry:?} at {applied}: {what}"));
        if !was(view, member, entry) {
            verdict = wrong("it was never so");
            return ControlFlow::Break(());
        }
        // What was refused comes later, at no version of its own.
        if member.config.coalescing || member.is_unsure() {
            return ControlFlow::Continue(());
        }
        while let Some((key, state)) = truth.next_if(|(key, _)| **key < entry.key) {
            // What could not be decoded may be missing, or old.
            if state.n.is_some() {
                verdict = Err(format!(
                    "{key} of revision {} is missing at {applied}",
                    state.revision
                ));
                return ControlFlow::Break(());
            }
        }
        match truth.next_if(|(key, _)| **key == entry.key) {
            None => verdict = wrong("the server did not have it"),
            Some((_, state)) if state.n.is_none() => {
                if !entry.stale {
                    verdict = wrong("the later state could not be decoded, and it is not stale");
                }
            }
            Some((_, state)) if !state.has_stamp(&entry.stamp) => {
                verdict = wrong("the server had another state")
            }
            Some(_) if entry.stale => verdict = wrong("it is current, and stale"),
            Some(_) => {}
        }
        if verdict.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    verdict?;
    match truth.find(|(_, state)| state.n.is_some()) {
        Some((key, state)) if !member.config.coalescing && !member.is_unsure() => Err(format!(
            "{key} of revision {} is missing at {applied}",
            state.revision
        )),
        _ => Ok(()),
    }
}
