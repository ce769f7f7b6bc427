//! What a running reflector can be told from outside.

use std::{
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// Tells a reflector what to do, also after it has moved into its task; after its end nobody listens any more. Clones are cheap.
#[derive(Clone, Default)]
pub struct Control(Arc<Mutex<Wishes>>);

#[derive(Default)]
struct Wishes {
    relist: bool,
    waker: Option<Waker>,
}

impl Control {
    /// Take the whole state anew, since whoever reads it does not trust what it has: a watch is given up for it, after one step of the
    /// backoff. Nothing happens where the whole state is being taken, or is about to be, in any case.
    pub fn relist(&self) {
        let waker = {
            let mut wishes = self.lock();
            wishes.relist = true;
            wishes.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Whether a relist is wanted, told once.
    pub(crate) fn take_relist(&self) -> bool {
        mem::take(&mut self.lock().relist)
    }

    /// Ready when [`take_relist`](Self::take_relist) has something to tell.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut wishes = self.lock();
        if wishes.relist {
            return Poll::Ready(());
        }
        match &mut wishes.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Nothing of others runs under the lock but a waker's clone, so its poison says nothing.
    fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("relist", &self.lock().relist)
            .finish_non_exhaustive()
    }
}
