//! A listener behind a lock, with a waker for whoever calls the handler and a watch for whoever waits for it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use informer_core::{Change, Key, Snapshot};
use tokio::sync::{Notify, watch};

use crate::{
    backlog::BacklogPolicy,
    listener::{Listener, Progress},
};

/// What others wait for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks {
    pub(crate) synced: bool,
    /// No call runs and none will.
    pub(crate) ended: bool,
}

pub(crate) struct Mailbox<Q, K> {
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    state: Mutex<State<Q, K>>,
    marks: watch::Sender<Marks>,
    /// Told when a handler that blocks the informer has room again.
    room: Arc<Notify>,
}

struct State<Q, K> {
    listener: Listener<Q, K>,
    waker: Option<Waker>,
}

impl<Q: Key, K> Mailbox<Q, K> {
    pub(crate) fn new(
        id: u64,
        name: Arc<str>,
        policy: BacklogPolicy,
        store: Option<Arc<dyn Snapshot<Q, K>>>,
        source_synced: bool,
        room: Arc<Notify>,
    ) -> Self {
        let listener = Listener::new(policy, store, source_synced);
        let marks = watch::Sender::new(Marks {
            synced: listener.is_synced(),
            ended: false,
        });
        let state = Mutex::new(State {
            listener,
            waker: None,
        });
        Self {
            id,
            name,
            state,
            marks,
            room,
        }
    }

    /// Changes of the store that are for this handler.
    pub(crate) fn offer(&self, changes: impl Iterator<Item = Change<Q, K>>) {
        let waker = {
            let mut state = self.lock();
            changes.for_each(|change| state.listener.offer(change));
            self.mark_synced(&state);
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn source_synced(&self) {
        let mut state = self.lock();
        state.listener.source_synced();
        self.mark_synced(&state);
    }

    /// The next change, whose call thereby begins; `None` once it is closed.
    pub(crate) fn poll_take(&self, by: &Waker) -> Poll<Option<Change<Q, K>>> {
        let mut state = self.lock();
        if state.listener.is_closed() {
            return Poll::Ready(None);
        }
        let was_full = !state.listener.has_room();
        let Some(change) = state.listener.take() else {
            match &mut state.waker {
                Some(waker) => waker.clone_from(by),
                none => *none = Some(by.clone()),
            }
            return Poll::Pending;
        };
        let has_room = state.listener.has_room();
        drop(state);
        if was_full && has_room {
            self.room.notify_one();
        }
        Poll::Ready(Some(change))
    }

    /// The call ended.
    pub(crate) fn returned(&self, panicked: bool) {
        let mut state = self.lock();
        state.listener.returned(panicked);
        self.mark_synced(&state);
    }

    /// No call begins any more.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        let waste = state.listener.close();
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        self.room.notify_one();
        // Objects may be many, and theirs is foreign code.
        drop(waste);
    }

    pub(crate) fn has_room(&self) -> bool {
        self.lock().listener.has_room()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().listener.is_closed()
    }

    pub(crate) fn progress(&self) -> Progress {
        self.lock().listener.progress()
    }

    pub(crate) fn marks(&self) -> watch::Receiver<Marks> {
        self.marks.subscribe()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.marks.borrow().ended
    }

    /// Tells this mailbox from every other one.
    pub(crate) fn token(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Under the listener's lock, so that marks follow its order.
    fn mark_synced(&self, state: &State<Q, K>) {
        if state.listener.is_synced() {
            self.marks
                .send_if_modified(|marks| !std::mem::replace(&mut marks.synced, true));
        }
    }

    /// No code but the machine's and the objects' `clone` runs under the lock; the machine is whole between any two of its calls.
    fn lock(&self) -> MutexGuard<'_, State<Q, K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held by whoever calls the handler; its end is the handler's end, however it comes.
pub(crate) struct Serving<Q: Key, K>(pub(crate) Arc<Mailbox<Q, K>>);

impl<Q: Key, K> Drop for Serving<Q, K> {
    fn drop(&mut self) {
        self.0.close();
        self.0
            .marks
            .send_if_modified(|marks| !std::mem::replace(&mut marks.ended, true));
    }
}
