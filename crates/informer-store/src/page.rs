//! Lists in pages, all of one time.

use std::{fmt, ops::ControlFlow, sync::Arc};

use informer_core::{Entry, Key, Snapshot};

/// A page of a list.
pub struct Page<Q: Key, K> {
    /// The entries, in key order.
    pub entries: Vec<Entry<Q, K>>,
    /// Where the list goes on; `None` on the last page, and then the list is complete.
    pub next: Option<Continue<Q, K>>,
}

impl<Q: Key, K> Page<Q, K> {
    /// The first entries of a snapshot of any store, at most `limit` of them; a limit of 0 is none, as in the Kubernetes API.
    #[must_use]
    pub fn first(snapshot: Arc<dyn Snapshot<Q, K>>, limit: usize) -> Self {
        let left = snapshot.len();
        Self::read(snapshot, None, left, limit)
    }

    fn read(snapshot: Arc<dyn Snapshot<Q, K>>, after: Option<&Q>, left: usize, limit: usize) -> Self {
        let n = if limit == 0 { left } else { left.min(limit) };
        let mut entries = Vec::with_capacity(n);
        if n > 0 {
            snapshot.scan(after, &mut |entry| {
                entries.push(entry.clone());
                if entries.len() == n {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
        }
        let left = left.saturating_sub(entries.len());
        let last = entries.last().filter(|_| left > 0).map(|it| it.key.clone());
        let next = last.map(|after| Continue {
            snapshot,
            after,
            left,
        });
        Self { entries, next }
    }
}

/// The continue token of a list in pages: a state of the store and a place in it.
///
/// It is opaque, stays valid for ever, and may be used several times or by several readers: each gets the same page. It holds the state
/// that the list began with, and with it the objects of that time.
pub struct Continue<Q: Key, K> {
    snapshot: Arc<dyn Snapshot<Q, K>>,
    after: Q,
    left: usize,
}

impl<Q: Key, K> Continue<Q, K> {
    /// The next page, at most `limit` entries; a limit of 0 is none: the whole rest.
    #[must_use]
    pub fn page(&self, limit: usize) -> Page<Q, K> {
        Page::read(self.snapshot.clone(), Some(&self.after), self.left, limit)
    }

    /// How many entries are behind it. At least one.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.left
    }

    /// The state that is being listed: for other questions about that time.
    #[must_use]
    pub fn snapshot(&self) -> &dyn Snapshot<Q, K> {
        &*self.snapshot
    }
}

impl<Q: Key, K> Clone for Continue<Q, K> {
    fn clone(&self) -> Self {
        Self {
            snapshot: self.snapshot.clone(),
            after: self.after.clone(),
            left: self.left,
        }
    }
}

impl<Q: Key, K> fmt::Debug for Page<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("entries", &self.entries)
            .field("next", &self.next)
            .finish()
    }
}

impl<Q: Key, K> fmt::Debug for Continue<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Continue")
            .field("after", &self.after)
            .field("remaining", &self.left)
            .field("at", self.snapshot.applied())
            .finish_non_exhaustive()
    }
}
