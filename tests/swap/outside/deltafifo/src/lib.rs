//! Both delta queues in a program that has neither a store of ours nor a runtime.

use std::{
    ops::ControlFlow,
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{
    Batch, Cause, Delta, DeltaQueue, Entry, ResourceVersion, Snapshot, Stamp, Store, UnknownIndex,
};
use informer_deltafifo::{Coalescing, InOrder, Options};

/// A store with nothing in it: what the coalescing queue is told that the consumer knows.
#[derive(Debug, Default)]
pub struct Nothing(ResourceVersion);

impl Store<u8, char> for Nothing {
    fn snapshot(&self) -> Arc<dyn Snapshot<u8, char>> {
        Arc::new(Self::default())
    }

    fn len(&self) -> usize {
        0
    }

    fn poll_changed(&self, _: &mut Context<'_>, _: &ResourceVersion) -> Poll<()> {
        Poll::Pending
    }
}

impl Snapshot<u8, char> for Nothing {
    fn get(&self, _: &u8) -> Option<&Entry<u8, char>> {
        None
    }

    fn scan(&self, _: Option<&u8>, _: &mut dyn FnMut(&Entry<u8, char>) -> ControlFlow<()>) {}

    fn by_index(
        &self,
        index: &str,
        _: &str,
        _: &mut dyn FnMut(&Entry<u8, char>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        Err(UnknownIndex::new(index, []))
    }

    fn applied(&self) -> &ResourceVersion {
        &self.0
    }
}

/// What comes out of a queue, in order, when these letters of keys go in.
pub fn through(mut queue: impl DeltaQueue<u8, char>, letters: &[(u8, char)]) -> Vec<char> {
    for (key, letter) in letters {
        let entry = Entry::new(*key, Stamp::default(), Arc::new(*letter));
        queue.push(Delta::Upsert(entry, Cause::Modified));
    }
    let mut out = Vec::new();
    let mut batch = Batch::default();
    while queue.pop_into(&mut batch, 10) > 0 {
        for delta in batch.deltas.drain(..) {
            if let Delta::Upsert(entry, _) = delta {
                out.push(*entry.object);
            }
        }
        queue.settle(Vec::new());
    }
    out
}

/// The letters as each queue hands them out: in order, and coalescing.
#[must_use]
pub fn through_both(letters: &[(u8, char)]) -> [Vec<char>; 2] {
    let coalescing = Coalescing::new(Arc::new(Nothing::default()), Options::default());
    [
        through(InOrder::new(Options::default()), letters),
        through(coalescing, letters),
    ]
}

#[test]
fn one_queue_keeps_the_order_and_the_other_the_keys_together() {
    let [in_order, mut coalescing] = through_both(&[(1, 'a'), (2, 'x'), (1, 'b'), (2, 'y')]);
    assert_eq!(in_order, ['a', 'x', 'b', 'y']);
    coalescing.retain(|letter| *letter < 'x');
    assert_eq!(coalescing, ['a', 'b']);
}
