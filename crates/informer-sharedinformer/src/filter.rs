//! Handlers that are told of some objects only (client-go `FilteringResourceEventHandler`).

use std::{fmt, future::Future, hash::Hash};

use ahash::AHashSet;
use informer_core::{Change, Entry, EventHandler, Key};

use crate::handler::AsyncHandler;

/// Leaves the objects that are wanted of a handler's changes, so that what comes through is a gapless chain per key again.
///
/// | told so far | wanted now | comes through |
/// |---|---|---|
/// | no | yes | `Added` |
/// | yes | yes | the change as it is |
/// | yes | no | `Removed` with the last state that was told |
/// | no | no | nothing |
///
/// Unlike client-go's it keeps which keys came through, instead of asking about the old state again: a removal is never lost because the
/// last state looks different, and a predicate may change its mind, which shows at the object's next change or resync.
#[derive(Clone)]
pub struct Filter<Q, P> {
    wanted: P,
    told: AHashSet<Q>,
}

/// What becomes of a change.
enum Verdict<Q, K> {
    Passes,
    Becomes(Change<Q, K>),
    Dropped,
}

impl<Q: Clone + Eq + Hash, P> Filter<Q, P> {
    /// A filter that nothing has come through yet.
    pub fn new(wanted: P) -> Self {
        Self {
            wanted,
            told: AHashSet::new(),
        }
    }

    /// What is told in place of this change.
    pub fn apply<K>(&mut self, change: Change<Q, K>) -> Option<Change<Q, K>>
    where
        P: FnMut(&Entry<Q, K>) -> bool,
    {
        match self.judge(&change) {
            Verdict::Passes => Some(change),
            Verdict::Becomes(other) => Some(other),
            Verdict::Dropped => None,
        }
    }

    fn judge<K>(&mut self, change: &Change<Q, K>) -> Verdict<Q, K>
    where
        P: FnMut(&Entry<Q, K>) -> bool,
    {
        // A removal asks nobody: what was told ends.
        let wanted = match change {
            Change::Removed { .. } => false,
            other => (self.wanted)(other.entry()),
        };
        let was_told = if wanted {
            !self.told.insert(change.key().clone())
        } else {
            self.told.remove(change.key())
        };
        match (was_told, wanted, change) {
            (false, false, _) => Verdict::Dropped,
            (true, true, _) | (true, false, Change::Removed { .. }) | (false, true, Change::Added { .. }) => {
                Verdict::Passes
            }
            (false, true, _) => Verdict::Becomes(Change::Added {
                new: change.entry().clone(),
                initial: false,
            }),
            (true, false, Change::Updated { old: last, .. } | Change::Resynced { current: last }) => {
                Verdict::Becomes(removed(last))
            }
            // A chain without gaps has no such place.
            (true, false, Change::Added { new, .. }) => Verdict::Becomes(removed(new)),
        }
    }
}

fn removed<Q: Clone, K>(last: &Entry<Q, K>) -> Change<Q, K> {
    Change::Removed {
        last: last.clone(),
        observed: true,
    }
}

impl<Q: fmt::Debug, P> fmt::Debug for Filter<Q, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("told", &self.told.len())
            .finish_non_exhaustive()
    }
}

/// A handler, synchronous or not, that is told of wanted objects only: what comes through a [`Filter`].
#[derive(Debug, Clone)]
pub struct Filtered<Q, P, H> {
    filter: Filter<Q, P>,
    handler: H,
}

impl<Q: Key, P, H> Filtered<Q, P, H> {
    /// Tells `handler` of the entries for which `wanted` is true. It is asked about each state once, on the handler's task or thread.
    pub fn new(wanted: P, handler: H) -> Self {
        Self {
            filter: Filter::new(wanted),
            handler,
        }
    }
}

impl<Q, K, P, H> EventHandler<Q, K> for Filtered<Q, P, H>
where
    Q: Key,
    P: FnMut(&Entry<Q, K>) -> bool + Send,
    H: EventHandler<Q, K>,
{
    fn on_change(&mut self, change: &Change<Q, K>) {
        match self.filter.judge(change) {
            Verdict::Passes => self.handler.on_change(change),
            Verdict::Becomes(other) => self.handler.on_change(&other),
            Verdict::Dropped => {}
        }
    }
}

impl<Q, K, P, H> AsyncHandler<Q, K> for Filtered<Q, P, H>
where
    Q: Key,
    K: Send + Sync,
    P: FnMut(&Entry<Q, K>) -> bool + Send,
    H: AsyncHandler<Q, K>,
{
    fn on_change(&mut self, change: Change<Q, K>) -> impl Future<Output = ()> + Send {
        let change = self.filter.apply(change);
        async move {
            if let Some(change) = change {
                self.handler.on_change(change).await;
            }
        }
    }
}
