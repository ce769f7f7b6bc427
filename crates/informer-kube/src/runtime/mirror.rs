//! `Mirror`: a kube store that follows an informer.

use std::{
    fmt,
    future::Future,
    hash::Hash,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use kube::runtime::reflector::{Store, store::Writer};

use super::{KubeEvents, Shared};

/// So many events are read at a time, so that a long first list holds up nobody.
const AT_A_TIME: usize = 128;

/// Fills a kube store from an informer, as a future to be spawned or joined; it ends when the informer stops. The store is what kube's
/// controllers, conditions and libraries read.
///
/// Its objects are the informer's ([`Shared`]). It is ready when the informer is in sync. It lags behind the informer's own store by what
/// the future has not read yet; who can should read that one, with its snapshots and indices.
///
/// # Cancel safety
/// Dropping it stops the following. The store keeps what it has; whoever waits for it to be ready is told that its writer has gone.
pub struct Mirror<K>
where
    K: kube::Resource<DynamicType: Eq + Hash + Clone> + Clone + Send + Sync + 'static,
{
    events: KubeEvents<K>,
    writer: Writer<Shared<K>>,
}

impl<K> Mirror<K>
where
    K: kube::Resource<DynamicType: Eq + Hash + Clone> + Clone + Send + Sync + 'static,
{
    pub(super) fn new(events: KubeEvents<K>, dynamic: K::DynamicType) -> Self {
        Self {
            events,
            writer: Writer::new(dynamic),
        }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> Store<Shared<K>> {
        self.writer.as_reader()
    }
}

impl<K> Unpin for Mirror<K> where
    K: kube::Resource<DynamicType: Eq + Hash + Clone> + Clone + Send + Sync + 'static
{
}

impl<K> Future for Mirror<K>
where
    K: kube::Resource<DynamicType: Eq + Hash + Clone> + Clone + Send + Sync + 'static,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        for _ in 0..AT_A_TIME {
            let Some(event) = ready!(Pin::new(&mut this.events).poll_next(cx)) else {
                return Poll::Ready(());
            };
            if let Ok(event) = event {
                this.writer.apply_watcher_event(&event);
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<K> fmt::Debug for Mirror<K>
where
    K: kube::Resource<DynamicType: Eq + Hash + Clone> + Clone + Send + Sync + 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mirror")
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}
