//! Cache converges.

use std::ops::ControlFlow;

use super::Invariant;
use crate::{
    history::number,
    world::{Member, View},
};

#[derive(Debug)]
pub(super) struct Converges;

impl Invariant for Converges {
    fn name(&self) -> &'static str {
        "cache converges"
    }

    fn sentence(&self) -> &'static str {
        "It never gives up: when nothing goes wrong any more, every cache becomes what the server has, every handler hears of it, and the \
         next change follows."
    }

    fn lacks(&self, view: &View<'_>) -> Option<String> {
        view.members
            .iter()
            .find_map(|member| of_member(view, member).map(|what| format!("i{}: {what}", member.id)))
    }
}

fn of_member(view: &View<'_>, member: &Member) -> Option<String> {
    if !member.informer.has_synced() {
        return Some(format!("not synced: {}", member.informer.status().source));
    }
    let (kind, which) = (member.config.kind, member.config.which);
    let snapshot = member.store.snapshot();
    let (mut n_seen, mut n_unread) = (0, 0);
    for (key, state) in view.history.all_at(kind, which, u64::MAX) {
        let stored = snapshot.get(key);
        n_seen += usize::from(stored.is_some());
        n_unread += usize::from(stored.is_none());
        let agrees = match (state.n, stored) {
            // Nobody may take it for absent.
            (None, None) => snapshot.is_unreadable(key),
            (None, Some(entry)) => entry.stale,
            (Some(_), None) => false,
            (Some(_), Some(entry)) => state.has_stamp(&entry.stamp) && !entry.stale,
        };
        if !agrees {
            return Some(format!(
                "{stored:?} is stored where the server has {key} at {state:?}"
            ));
        }
    }
    if snapshot.len() != n_seen {
        return Some(format!(
            "{} objects are stored, of which {n_seen} exist",
            snapshot.len()
        ));
    }
    let mut unread = Vec::new();
    snapshot.unreadable(&mut |key| {
        unread.push(key.clone());
        ControlFlow::Continue(())
    });
    if unread.len() != n_unread {
        return Some(format!("{unread:?} are unreadable, of which {n_unread} exist"));
    }
    let status = member.informer.status();
    if !status.healthy {
        return Some(format!("{} objects are refused by its store", status.refused));
    }
    if number(snapshot.applied()).is_none() {
        return Some("nothing is applied".to_owned());
    }
    member
        .handlers
        .iter()
        .find(|handler| !handler.registration.has_synced() || handler.registration.backlog() > 0)
        .map(|handler| {
            format!(
                "h{} is {}, {} changes wait for it",
                handler.id,
                if handler.registration.has_synced() {
                    "synced"
                } else {
                    "not synced"
                },
                handler.registration.backlog()
            )
        })
}
