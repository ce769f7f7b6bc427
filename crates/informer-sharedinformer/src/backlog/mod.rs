//! The changes that wait for one handler: in order, and merged per key beyond a limit. Pure.

mod merge;

use std::{collections::VecDeque, hash::Hash};

use ahash::AHashMap;
use informer_core::Change;

pub use self::merge::{Merged, merge};

/// What happens when a handler is slower than the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BacklogPolicy {
    /// Beyond `limit` changes a further one merges with what waits of the same key ([`merge`] is the table), so that at most two changes
    /// of a key wait beyond it.
    Merge {
        /// Changes that may wait before merging begins.
        limit: usize,
    },
    /// Every change waits, however many: memory is the handler's problem (client-go).
    Unbounded,
    /// Beyond `limit` the informer reads nothing more until there is room, and with it every other handler waits. A batch that was begun
    /// is finished: one relist may exceed the limit by its own size.
    Block {
        /// Changes that may wait before the informer stops reading.
        limit: usize,
    },
}

impl BacklogPolicy {
    /// The limit of the default policy.
    pub const DEFAULT_LIMIT: usize = 1024;
}

impl Default for BacklogPolicy {
    fn default() -> Self {
        Self::Merge {
            limit: Self::DEFAULT_LIMIT,
        }
    }
}

/// The changes that wait for one handler.
///
/// Per key they come out as a gapless forward chain if they went in as one. While changes merge, the result keeps the place of the
/// change that waited longest, so that no key starves; the order across keys is that of their oldest waiting change.
#[derive(Debug)]
pub struct Backlog<Q, K> {
    policy: BacklogPolicy,
    slots: VecDeque<Slot<Q, K>>,
    /// The number of `slots[0]`; slots are numbered from the beginning of time.
    first: u64,
    waiting: usize,
    /// Initial adds among those that wait.
    initial: usize,
    merged: u64,
    /// The latest slot of each key, while changes merge.
    latest: Option<AHashMap<Q, u64>>,
}

#[derive(Debug)]
struct Slot<Q, K> {
    /// `None`: it was merged away.
    change: Option<Change<Q, K>>,
    /// The slot before this one of the same key, while changes merge.
    previous: Option<u64>,
}

/// Merged-away slots that are tolerated before the queue is packed.
const SLACK: usize = 64;

impl<Q: Clone + Eq + Hash, K> Backlog<Q, K> {
    /// An empty backlog.
    #[must_use]
    pub fn new(policy: BacklogPolicy) -> Self {
        Self {
            policy,
            slots: VecDeque::new(),
            first: 0,
            waiting: 0,
            initial: 0,
            merged: 0,
            latest: None,
        }
    }

    /// Takes a change in.
    pub fn push(&mut self, change: Change<Q, K>) {
        if let BacklogPolicy::Merge { limit } = self.policy
            && self.waiting >= limit
            && self.latest.is_none()
        {
            self.begin_merging();
        }
        match self.latest_slot(change.key()) {
            None => self.append(change),
            Some(slot) => self.merge_into(slot, change),
        }
    }

    /// Hands the next change out.
    pub fn pop(&mut self) -> Option<Change<Q, K>> {
        let change = loop {
            let slot = self.slots.pop_front()?;
            self.first += 1;
            if let Some(change) = slot.change {
                break change;
            }
        };
        self.forget(&change);
        if let Some(latest) = &mut self.latest {
            if latest.get(change.key()).is_some_and(|slot| *slot < self.first) {
                latest.remove(change.key());
            }
            // Half the limit, not the limit: a handler that hovers around it would build the map again and again.
            if self.waiting < self.limit().unwrap_or(0).div_ceil(2) {
                self.latest = None;
            }
        }
        Some(change)
    }

    /// Changes that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Initial adds among those that wait.
    #[must_use]
    pub fn n_initial(&self) -> usize {
        self.initial
    }

    /// Changes that were merged into others since the beginning.
    #[must_use]
    pub fn n_merged(&self) -> u64 {
        self.merged
    }

    /// Whether a further change is welcome: false only for [`BacklogPolicy::Block`] at its limit.
    #[must_use]
    pub fn has_room(&self) -> bool {
        match self.policy {
            BacklogPolicy::Block { limit } => self.waiting < limit.max(1),
            BacklogPolicy::Merge { .. } | BacklogPolicy::Unbounded => true,
        }
    }

    fn limit(&self) -> Option<usize> {
        match self.policy {
            BacklogPolicy::Merge { limit } | BacklogPolicy::Block { limit } => Some(limit),
            BacklogPolicy::Unbounded => None,
        }
    }

    /// The number of the latest slot of a key that still waits, while changes merge.
    fn latest_slot(&self, key: &Q) -> Option<u64> {
        self.latest
            .as_ref()?
            .get(key)
            .copied()
            .filter(|slot| *slot >= self.first)
    }

    fn append(&mut self, change: Change<Q, K>) {
        self.remember(&change);
        let number = self.first + self.slots.len() as u64;
        let previous = match &mut self.latest {
            Some(latest) => latest.insert(change.key().clone(), number),
            None => None,
        };
        self.slots.push_back(Slot {
            change: Some(change),
            previous,
        });
    }

    fn merge_into(&mut self, number: u64, next: Change<Q, K>) {
        let at = usize::try_from(number - self.first).expect("a slot number is within the queue");
        let slot = &mut self.slots[at];
        let waiting = slot
            .change
            .take()
            .expect("the latest slot of a key is never merged away");
        let previous = slot.previous;
        self.forget(&waiting);
        let key = next.key().clone();
        match merge(waiting, next) {
            Merged::One(change) => {
                self.remember(&change);
                self.slots[at].change = Some(change);
                self.merged += 1;
            }
            Merged::Both(waiting, next) => {
                self.remember(&waiting);
                self.slots[at].change = Some(waiting);
                self.append(next);
            }
            Merged::Nothing => {
                self.merged += 2;
                self.unlink(&key, previous);
            }
        }
    }

    /// The latest slot of a key was emptied: the one before it, if it still waits, is the latest again.
    fn unlink(&mut self, key: &Q, previous: Option<u64>) {
        let previous = previous.filter(|slot| *slot >= self.first);
        if let Some(latest) = &mut self.latest {
            match previous {
                Some(previous) => {
                    latest.insert(key.clone(), previous);
                }
                None => {
                    latest.remove(key);
                }
            }
        }
        if self.slots.len() > 2 * self.waiting + SLACK {
            self.pack();
        }
    }

    /// Drops the emptied slots.
    fn pack(&mut self) {
        self.slots.retain(|slot| slot.change.is_some());
        if self.latest.take().is_some() {
            self.begin_merging();
        }
    }

    fn begin_merging(&mut self) {
        let mut latest = AHashMap::with_capacity(self.slots.len());
        for (slot, number) in self.slots.iter_mut().zip(self.first..) {
            if let Some(change) = &slot.change {
                slot.previous = latest.insert(change.key().clone(), number);
            }
        }
        self.latest = Some(latest);
    }

    fn remember(&mut self, change: &Change<Q, K>) {
        self.waiting += 1;
        self.initial += usize::from(is_initial(change));
    }

    fn forget(&mut self, change: &Change<Q, K>) {
        self.waiting -= 1;
        self.initial -= usize::from(is_initial(change));
    }
}

/// Whether the change belongs to the initial list.
pub(crate) fn is_initial<Q, K>(change: &Change<Q, K>) -> bool {
    matches!(change, Change::Added { initial: true, .. })
}
