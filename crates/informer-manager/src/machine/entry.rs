//! What is known of one runnable.

use std::{fmt, time::Instant};

use crate::Group;

/// A runnable of a manager, by the order in which it was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub(crate) u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The turn of its group has not come.
    Waiting,
    Running,
    /// It was asked to stop.
    Stopping,
    /// It was dropped.
    Cut,
}

/// A runnable that has not ended.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) group: Group,
    pub(super) state: State,
    pub(super) ready: bool,
    /// It leaves alone, while the manager runs.
    pub(super) removed: bool,
    /// When it is cut, if it leaves alone.
    pub(super) until: Option<Instant>,
}

impl Entry {
    pub(super) fn new(group: Group) -> Self {
        Self {
            group,
            state: State::Waiting,
            ready: false,
            removed: false,
            until: None,
        }
    }

    /// Whether its group waits for it.
    pub(super) fn holds_up(&self) -> bool {
        self.state == State::Running && !self.ready
    }
}
