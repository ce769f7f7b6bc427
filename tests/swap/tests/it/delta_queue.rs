//! A foreign delta queue: one delta at a time, first in, first out.

use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

use informer_core::{Batch, Closed, Delta, DeltaQueue, DeltaSink, Key};
use informer_sharedinformer::{QueueKind, SharedInformer};
use informer_swap_tests::{Cluster, Program, play};

struct Line<Q, K> {
    waiting: VecDeque<Delta<Q, K>>,
    /// The first list was popped, and was processed.
    listed: bool,
    synced: bool,
}

impl<Q: Key, K: Send + Sync> DeltaSink<Q, K> for Line<Q, K> {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.waiting.len() < 3 {
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
    fn pop_into(&mut self, batch: &mut Batch<Q, K>, _: usize) -> usize {
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

#[tokio::test(start_paused = true)]
async fn a_plain_line_is_the_delta_queue() {
    let cluster = Cluster::default();
    let line = Line {
        waiting: VecDeque::new(),
        listed: false,
        synced: false,
    };
    let informer = SharedInformer::builder(cluster.source())
        .queue(QueueKind::custom(line))
        .build()
        .unwrap();
    play(&cluster, Program::new(informer, crate::name)).await;
}
