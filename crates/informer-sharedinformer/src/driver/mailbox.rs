//! A listener behind a lock, with a waker for whoever calls the handler and a watch for whoever waits for it.

use std::{
    any::Any,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    time::Instant,
};

use informer_core::{Change, Key, Snapshot};
use tokio::sync::{Notify, watch};

use crate::{
    backlog::BacklogPolicy,
    listener::{Listener, Progress},
    metrics::Meter,
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
    meter: Option<Meter>,
}

struct State<Q, K> {
    listener: Listener<Q, K>,
    waker: Option<Waker>,
    /// When the call began that runs, where somebody measures it.
    began: Option<Instant>,
    /// Lives as long as the handler.
    keep: Option<Box<dyn Any + Send>>,
}

impl<Q: Key, K> Mailbox<Q, K> {
    pub(crate) fn new(
        id: u64,
        name: Arc<str>,
        policy: BacklogPolicy,
        store: Option<Arc<dyn Snapshot<Q, K>>>,
        source_synced: bool,
    ) -> Self {
        let listener = Listener::new(policy, store, source_synced);
        let marks = watch::Sender::new(Marks {
            synced: listener.is_synced(),
            ended: false,
        });
        let state = Mutex::new(State {
            listener,
            waker: None,
            began: None,
            keep: None,
        });
        Self {
            id,
            name,
            state,
            marks,
            room: Arc::default(),
            meter: None,
        }
    }

    pub(crate) fn with_room(mut self, room: Arc<Notify>) -> Self {
        self.room = room;
        self
    }

    pub(crate) fn measured(mut self, meter: Option<Meter>) -> Self {
        self.meter = meter;
        self
    }

    /// Changes of the store that are for this handler.
    pub(crate) fn offer(&self, changes: impl Iterator<Item = Change<Q, K>>) {
        let waker = {
            let mut state = self.lock();
            changes.for_each(|change| state.listener.offer(change));
            self.mark_synced(&state);
            self.measure(&state);
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// The last that it is told; then it ends. Gives `keep` back if it has ended already, and else keeps it until then.
    pub(crate) fn dismiss(
        &self,
        changes: impl Iterator<Item = Change<Q, K>>,
        keep: Box<dyn Any + Send>,
    ) -> Option<Box<dyn Any + Send>> {
        let waker = {
            let mut state = self.lock();
            if state.listener.is_closed() {
                return Some(keep);
            }
            changes.for_each(|change| state.listener.offer(change));
            state.listener.dismiss();
            state.keep = Some(keep);
            self.measure(&state);
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
        self.room.notify_one();
        None
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
            if state.listener.is_closed() {
                return Poll::Ready(None);
            }
            match &mut state.waker {
                Some(waker) => waker.clone_from(by),
                none => *none = Some(by.clone()),
            }
            return Poll::Pending;
        };
        let has_room = state.listener.has_room();
        state.began = self.meter.as_ref().map(Meter::now);
        self.measure(&state);
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
        if let (Some(meter), Some(began)) = (&self.meter, state.began.take()) {
            let took = meter.now().saturating_duration_since(began);
            meter.called(&self.name, took, panicked);
        }
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

    /// Under the listener's lock, so that what is told last is how it is.
    fn measure(&self, state: &State<Q, K>) {
        if let Some(meter) = &self.meter {
            let progress = state.listener.progress();
            meter.backlog(&self.name, progress.backlog, progress.merged);
        }
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
        if let Some(meter) = &self.0.meter {
            meter.gone(&self.0.name);
        }
        let keep = self.0.lock().keep.take();
        // It may let go of the informer, so no lock is held.
        drop(keep);
    }
}
