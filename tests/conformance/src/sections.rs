//! A queue that sorts by key: between two deltas about the whole it hands out what waits in the order of keys, not of the source.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{Batch, Closed, Delta, DeltaQueue, DeltaSink, Key, Stamp, Store};

enum Section<Q, K> {
    Whole(Delta<Q, K>),
    Keys(BTreeMap<Q, VecDeque<Delta<Q, K>>>),
}

/// Sections of keyed deltas, with those about the whole between them.
pub struct Sections<Q, K> {
    sections: VecDeque<Section<Q, K>>,
    known: Arc<dyn Store<Q, K>>,
    room: usize,
    n_waiting: usize,
    in_hand: Option<bool>,
    synced: bool,
}

impl<Q: Key, K> Sections<Q, K> {
    /// An empty queue in front of a store, with room for so many.
    #[must_use]
    pub fn new(known: Arc<dyn Store<Q, K>>, room: usize) -> Self {
        Self {
            sections: VecDeque::new(),
            known,
            room,
            n_waiting: 0,
            in_hand: None,
            synced: false,
        }
    }

    fn is_moot(&self, failed: &Delta<Q, K>) -> bool {
        self.sections.iter().any(|section| match section {
            Section::Whole(whole) => matches!(whole, Delta::Replace { .. }),
            Section::Keys(keys) => failed.key().is_some_and(|key| keys.contains_key(key)),
        })
    }
}

impl<Q, K> std::fmt::Debug for Sections<Q, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in {} sections", self.n_waiting, self.sections.len())
    }
}

impl<Q: Key, K: Send + Sync + 'static> DeltaSink<Q, K> for Sections<Q, K> {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        match self.n_waiting < self.room {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        self.n_waiting += 1;
        let Some(key) = delta.key().cloned() else {
            self.sections.push_back(Section::Whole(delta));
            return;
        };
        if !matches!(self.sections.back(), Some(Section::Keys(_))) {
            self.sections.push_back(Section::Keys(BTreeMap::new()));
        }
        if let Some(Section::Keys(keys)) = self.sections.back_mut() {
            keys.entry(key).or_default().push_back(delta);
        }
    }

    fn known(&self, key: &Q, stamp: &Stamp) -> Option<Arc<K>> {
        let stored = self.known.get(key)?;
        (stored.stamp == *stamp && !stamp.version.is_none()).then_some(stored.object)
    }
}

impl<Q: Key, K: Send + Sync + 'static> DeltaQueue<Q, K> for Sections<Q, K> {
    fn pop_into(&mut self, batch: &mut Batch<Q, K>, max: usize) -> usize {
        batch.initial = !self.synced;
        batch.in_order = false;
        if max == 0 {
            return 0;
        }
        match self.sections.pop_front() {
            None => {}
            Some(Section::Whole(delta)) => {
                self.in_hand = Some(matches!(delta, Delta::Replace { .. }));
                batch.deltas.push(delta);
            }
            Some(Section::Keys(mut keys)) => {
                for deltas in keys.values_mut().take(max) {
                    batch.deltas.extend(deltas.pop_front());
                }
                keys.retain(|_, deltas| !deltas.is_empty());
                if !keys.is_empty() {
                    self.sections.push_front(Section::Keys(keys));
                }
            }
        }
        self.n_waiting -= batch.deltas.len();
        batch.deltas.len()
    }

    fn settle(&mut self, failed: Vec<Delta<Q, K>>) {
        self.synced |= self.in_hand.take() == Some(true);
        let mut again = BTreeMap::new();
        for delta in failed {
            if let Some(key) = delta.key().cloned()
                && !self.is_moot(&delta)
            {
                self.n_waiting += 1;
                again.insert(key, VecDeque::from([delta]));
            }
        }
        if !again.is_empty() {
            self.sections.push_front(Section::Keys(again));
        }
    }

    fn has_synced(&self) -> bool {
        self.synced
    }

    fn len(&self) -> usize {
        self.n_waiting
    }
}
