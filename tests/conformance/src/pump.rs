//! A pump that is not ours: queue to store to one handler.

use informer_core::{Batch, DeltaQueue, EventHandler, StoreWriter};

/// Moves all that waits in a queue to a store and tells a handler.
pub fn pump<Q, K>(
    queue: &mut dyn DeltaQueue<Q, K>,
    store: &mut dyn StoreWriter<Q, K>,
    handler: &mut dyn EventHandler<Q, K>,
) {
    let (mut batch, mut changes) = (Batch::default(), Vec::new());
    while queue.pop_into(&mut batch, 3) > 0 {
        // What failed is what is left.
        let _ = store.commit(&mut batch, &mut changes);
        queue.settle(std::mem::take(&mut batch.deltas));
        changes.drain(..).for_each(|change| handler.on_change(&change));
    }
}
