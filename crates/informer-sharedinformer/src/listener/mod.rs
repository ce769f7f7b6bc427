//! One handler's side of the informer: replay of the store, changes that wait, sync, removal. Pure.

mod replay;

use std::{hash::Hash, mem, sync::Arc};

use informer_core::{Change, Snapshot};

use self::replay::Replay;
use crate::backlog::{Backlog, BacklogPolicy, is_initial};

/// What is told to one handler, in which order, and how far it is.
///
/// Driven so: [`offer`](Self::offer) for each change of the store, [`source_synced`](Self::source_synced) once; the handler's task calls
/// [`take`](Self::take), then the handler, then [`returned`](Self::returned), and so on.
pub(crate) struct Listener<Q, K> {
    /// The store as it was when the handler came, before anything that waits in `backlog`.
    replay: Option<Replay<Q, K>>,
    backlog: Backlog<Q, K>,
    /// The initial list is in the store and all its changes were offered.
    source_synced: bool,
    synced: bool,
    closed: bool,
    /// What waits is the last that it is told.
    dismissed: bool,
    in_hand: InHand,
    delivered: u64,
    panics: u64,
}

/// What waited for a handler that is told nothing more.
pub(crate) type Waste<Q, K> = (Option<Replay<Q, K>>, Backlog<Q, K>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InHand {
    Nothing,
    Later,
    Initial,
}

/// How far a handler is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Progress {
    pub(crate) synced: bool,
    pub(crate) backlog: usize,
    pub(crate) delivered: u64,
    pub(crate) merged: u64,
    pub(crate) panics: u64,
    pub(crate) calling: bool,
}

impl<Q: Clone + Eq + Hash, K> Listener<Q, K> {
    /// A listener that is there from the start, or, with a snapshot, one that comes late. Between the snapshot and the first `offer` no
    /// change of the store may be missed.
    pub(crate) fn new(
        policy: BacklogPolicy,
        store: Option<Arc<dyn Snapshot<Q, K>>>,
        source_synced: bool,
    ) -> Self {
        let mut listener = Self {
            replay: store.and_then(Replay::of),
            backlog: Backlog::new(policy),
            source_synced,
            synced: false,
            closed: false,
            dismissed: false,
            in_hand: InHand::Nothing,
            delivered: 0,
            panics: 0,
        };
        listener.update_synced();
        listener
    }

    /// A change of the store.
    pub(crate) fn offer(&mut self, change: Change<Q, K>) {
        if !self.closed && !self.dismissed {
            self.backlog.push(change);
            // An initial add and its removal may have merged to nothing.
            self.update_synced();
        }
    }

    /// The initial list is in the store, and all its changes were offered.
    pub(crate) fn source_synced(&mut self) {
        self.source_synced = true;
        self.update_synced();
    }

    /// The next change for the handler, whose call thereby begins.
    pub(crate) fn take(&mut self) -> Option<Change<Q, K>> {
        if self.closed {
            return None;
        }
        let Some(change) = self.replayed().or_else(|| self.backlog.pop()) else {
            self.closed = self.dismissed;
            return None;
        };
        self.in_hand = if is_initial(&change) {
            InHand::Initial
        } else {
            InHand::Later
        };
        Some(change)
    }

    fn replayed(&mut self) -> Option<Change<Q, K>> {
        let replay = self.replay.as_mut()?;
        let new = replay.next();
        if replay.is_over() {
            self.replay = None;
        }
        Some(Change::Added { new, initial: true })
    }

    /// The handler returned from what [`take`](Self::take) gave it, or panicked: both count alike for its sync.
    pub(crate) fn returned(&mut self, panicked: bool) {
        self.in_hand = InHand::Nothing;
        self.delivered += 1;
        self.panics += u64::from(panicked);
        self.update_synced();
    }

    /// Nothing is handed out any more. Returns what waited, for the caller to drop where no lock is held.
    pub(crate) fn close(&mut self) -> Waste<Q, K> {
        self.closed = true;
        let fresh = Backlog::new(BacklogPolicy::Unbounded);
        (self.replay.take(), mem::replace(&mut self.backlog, fresh))
    }

    /// It is told what waits and nothing more; then it is closed.
    pub(crate) fn dismiss(&mut self) {
        self.dismissed = true;
    }

    /// Whether it was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the informer may go on reading, as far as this handler is concerned.
    pub(crate) fn has_room(&self) -> bool {
        self.closed || self.dismissed || self.backlog.has_room()
    }

    /// Whether every initial add has returned.
    pub(crate) fn is_synced(&self) -> bool {
        self.synced
    }

    /// How far it is.
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            synced: self.synced,
            backlog: self.backlog.len() + self.replay.as_ref().map_or(0, Replay::len),
            delivered: self.delivered,
            merged: self.backlog.n_merged(),
            panics: self.panics,
            calling: self.in_hand != InHand::Nothing,
        }
    }

    /// Once true, always true.
    fn update_synced(&mut self) {
        self.synced |= self.source_synced
            && self.replay.is_none()
            && self.backlog.n_initial() == 0
            && self.in_hand != InHand::Initial
            && !self.closed;
    }
}
