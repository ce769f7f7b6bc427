//! Memory bounded: what waits for a handler, for the store, and at the server.

use super::{Invariant, Verdict};
use crate::{
    config::Policy,
    world::{Handler, Member, View},
};

#[derive(Debug)]
pub(super) struct Memory;

impl Invariant for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn sentence(&self) -> &'static str {
        "Memory is bounded: a slow handler's backlog merges per key beyond a limit and is readable as a number; the queue pushes back on \
         the watch reader. One request of a reflector is open at a time."
    }

    fn step(&mut self, view: &View<'_>) -> Verdict {
        for member in view.members {
            for handler in &member.handlers {
                backlog(view, member, handler)?;
            }
        }
        Ok(())
    }

    fn settled(&mut self, view: &View<'_>) -> Verdict {
        if view.n_exchanges > view.n_clients {
            return Err(format!(
                "{} requests are open, for {} clients",
                view.n_exchanges, view.n_clients
            ));
        }
        for member in view.members {
            let queued = member.informer.status().queued;
            // A list counts as one delta in order, and as two for each object where it is spread; a bookmark and a resync may come on top.
            let beyond = if member.config.coalescing {
                2000 + 2 * n_keys(view, member) + 8
            } else {
                usize::from(member.config.high_water) + 8
            };
            if queued > beyond {
                return Err(format!("{queued} deltas wait for the store of i{}", member.id));
            }
        }
        Ok(())
    }
}

/// Keys that there ever were, with room for the replay of a late handler.
fn n_keys(view: &View<'_>, member: &Member) -> usize {
    let kind = member.config.kind;
    view.history.n_keys(kind)
}

fn backlog(view: &View<'_>, member: &Member, handler: &Handler) -> Verdict {
    let waiting = handler.registration.backlog();
    let n_keys = n_keys(view, member);
    let limit = usize::from(handler.config.limit);
    // The replay of a late handler is a snapshot, which counts on top. A batch that was begun is finished.
    let most = match handler.config.policy {
        Policy::Unbounded => return Ok(()),
        Policy::Merge => limit + 2 * n_keys + n_keys,
        Policy::Block => limit.max(1) + n_keys + 2 * usize::from(member.config.batch) + 2 * n_keys,
    };
    if waiting > most {
        return Err(format!(
            "{waiting} changes wait for h{} of i{}, more than {most}",
            handler.id, member.id
        ));
    }
    Ok(())
}
