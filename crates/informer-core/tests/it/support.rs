//! The simplest queue, and a waker that counts.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use informer_core::{Batch, Cause, Closed, Delta, DeltaQueue, DeltaSink, Entry, Stamp};

/// One delta a batch; full from two on; synced once a first batch was settled.
#[derive(Default)]
pub(crate) struct Plain {
    waiting: VecDeque<Delta<u8, ()>>,
    synced: bool,
}

impl DeltaSink<u8, ()> for Plain {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.waiting.len() < 2 {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    fn push(&mut self, delta: Delta<u8, ()>) {
        self.waiting.push_back(delta);
    }

    fn known(&self, key: &u8, _: &Stamp) -> Option<Arc<()>> {
        (*key == 7).then(|| Arc::new(()))
    }
}

impl DeltaQueue<u8, ()> for Plain {
    fn pop_into(&mut self, batch: &mut Batch<u8, ()>, max: usize) -> usize {
        let n = max.min(1).min(self.waiting.len());
        batch.deltas.extend(self.waiting.drain(..n));
        n
    }

    fn settle(&mut self, failed: Vec<Delta<u8, ()>>) {
        self.synced = true;
        for delta in failed.into_iter().rev() {
            self.waiting.push_front(delta);
        }
    }

    fn has_synced(&self) -> bool {
        self.synced
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}

pub(crate) fn delta(key: u8) -> Delta<u8, ()> {
    Delta::Upsert(Entry::new(key, Stamp::new("1", ""), Arc::new(())), Cause::Added)
}

/// Counts how often it was woken.
#[derive(Default)]
pub(crate) struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        (count.clone(), Waker::from(count))
    }

    pub(crate) fn n(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}
