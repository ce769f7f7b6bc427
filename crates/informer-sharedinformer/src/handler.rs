//! Handlers that await.

use std::future::Future;

use informer_core::Change;

/// Is told of every change, in order, and may await: the next change is told after the future of this one is done.
///
/// For every closure from a change to a future.
pub trait AsyncHandler<Q, K>: Send {
    /// Something changed.
    fn on_change(&mut self, change: Change<Q, K>) -> impl Future<Output = ()> + Send;
}

impl<Q, K, F, R> AsyncHandler<Q, K> for F
where
    F: FnMut(Change<Q, K>) -> R + Send,
    R: Future<Output = ()> + Send,
{
    fn on_change(&mut self, change: Change<Q, K>) -> impl Future<Output = ()> + Send {
        self(change)
    }
}
