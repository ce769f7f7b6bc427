//! A queue of one line: one delta at a time, first in, first out.

use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

use informer_core::{Batch, Closed, Delta, DeltaQueue, DeltaSink, Key};

/// One delta at a time, first in, first out.
#[derive(Debug)]
pub struct Line<Q, K> {
    waiting: VecDeque<Delta<Q, K>>,
    room: usize,
    /// The first list was popped, and was processed.
    listed: bool,
    synced: bool,
}

impl<Q, K> Line<Q, K> {
    /// An empty line with room for so many.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            room,
            listed: false,
            synced: false,
        }
    }
}

impl<Q: Key, K: Send + Sync> DeltaSink<Q, K> for Line<Q, K> {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.waiting.len() < self.room {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        self.waiting.push_back(delta);
    }
}

impl<Q: Key, K: Send + Sync> DeltaQueue<Q, K> for Line<Q, K> {
    fn pop_into(&mut self, batch: &mut Batch<Q, K>, max: usize) -> usize {
        if max == 0 {
            return 0;
        }
        let Some(delta) = self.waiting.pop_front() else {
            return 0;
        };
        batch.initial = !self.synced;
        batch.in_order = true;
        self.listed |= matches!(delta, Delta::Replace { .. });
        batch.deltas.push(delta);
        1
    }

    fn settle(&mut self, failed: Vec<Delta<Q, K>>) {
        self.synced |= self.listed;
        for delta in failed.into_iter().rev() {
            let is_moot = self.waiting.iter().any(|it| {
                matches!(it, Delta::Replace { .. }) || (it.key().is_some() && it.key() == delta.key())
            });
            if !is_moot {
                self.waiting.push_front(delta);
            }
        }
    }

    fn has_synced(&self) -> bool {
        self.synced
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}
