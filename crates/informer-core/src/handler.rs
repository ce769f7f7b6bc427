//! Handlers: who is told of changes.

use crate::Change;

/// Is told of every change, in order (client-go `ResourceEventHandler`).
///
/// Called by one task or thread at a time. It should be quick: enqueue a key and return. What it needs of the object it reads from the
/// change; a store that it reads shows that change or a later state.
pub trait EventHandler<Q, K>: Send {
    /// Something changed.
    fn on_change(&mut self, change: &Change<Q, K>);
}

impl<Q, K, F: FnMut(&Change<Q, K>) + Send> EventHandler<Q, K> for F {
    fn on_change(&mut self, change: &Change<Q, K>) {
        self(change);
    }
}
