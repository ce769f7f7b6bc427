//! The store as a late handler is told it: read from one snapshot, some entries at a time.

use std::{collections::VecDeque, ops::ControlFlow, sync::Arc};

use informer_core::{Entry, Snapshot};

/// Entries read from the snapshot at once.
const CHUNK: usize = 64;

/// A replay that has at least one more entry.
pub(crate) struct Replay<Q, K> {
    snapshot: Arc<dyn Snapshot<Q, K>>,
    /// Never empty.
    ahead: VecDeque<Entry<Q, K>>,
    left: usize,
}

impl<Q: Clone, K> Replay<Q, K> {
    /// A replay of the snapshot, if anything is in it.
    pub(crate) fn of(snapshot: Arc<dyn Snapshot<Q, K>>) -> Option<Self> {
        let mut replay = Self {
            left: snapshot.len(),
            snapshot,
            ahead: VecDeque::new(),
        };
        replay.read(None);
        (!replay.is_over()).then_some(replay)
    }

    /// The next entry.
    pub(crate) fn next(&mut self) -> Entry<Q, K> {
        let entry = self
            .ahead
            .pop_front()
            .expect("a replay is not asked after its end");
        self.left = self.left.saturating_sub(1);
        if self.ahead.is_empty() {
            self.read(Some(&entry.key));
        }
        entry
    }

    /// Whether that was all.
    pub(crate) fn is_over(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Entries to come.
    pub(crate) fn len(&self) -> usize {
        self.left
    }

    fn read(&mut self, after: Option<&Q>) {
        let ahead = &mut self.ahead;
        self.snapshot.scan(after, &mut |entry| {
            ahead.push_back(entry.clone());
            if ahead.len() < CHUNK {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
    }
}
