//! What the writer and the readers share: the current view, the writers' lock, and who waits.

use std::{
    mem,
    sync::{Arc, PoisonError},
    task::{Poll, Waker},
};

use informer_core::{Key, ResourceVersion};

use crate::{
    sync::{ArcSwap, Mutex, MutexGuard},
    view::View,
};

pub(crate) struct Shared<Q: Key, K> {
    /// Swapped whole. A mutex around the `Arc` would be held for nanoseconds, but by readers too: one that loses its processor right then
    /// would stop the writer for a time slice.
    current: ArcSwap<View<Q, K>>,
    /// Held by whoever makes the next view: the writer, or a reader that adds an index.
    writing: Mutex<()>,
    waiting: Mutex<Vec<Waker>>,
}

impl<Q: Key, K> Shared<Q, K> {
    pub(crate) fn new(view: View<Q, K>) -> Self {
        Self {
            current: ArcSwap::from_pointee(view),
            writing: Mutex::new(()),
            waiting: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn view(&self) -> Arc<View<Q, K>> {
        self.current.load_full()
    }

    /// Makes the next view from the current one. `next` leaves it as it is by returning `None`.
    pub(crate) fn write<R>(&self, next: impl FnOnce(&View<Q, K>) -> (Option<View<Q, K>>, R)) -> R {
        let _alone = lock(&self.writing);
        let (view, result) = next(&self.view());
        if let Some(view) = view {
            self.current.store(Arc::new(view));
            // Taken after the swap: a reader that looked before it is in the list, one that looks after it sees the new view.
            let wakers = mem::take(&mut *lock(&self.waiting));
            wakers.into_iter().for_each(Waker::wake);
        }
        result
    }

    pub(crate) fn poll_changed(&self, waker: &Waker, seen: &ResourceVersion) -> Poll<()> {
        let mut waiting = lock(&self.waiting);
        if self.current.load().applied != *seen {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|it| it.will_wake(waker)) {
            waiting.push(waker.clone());
        }
        Poll::Pending
    }
}

/// Views are built aside and swapped in whole, so that a panic under the lock leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
