//! When which handler is told the cached state again: client-go's rules (`shared_informer.go` `AddEventHandlerWithOptions`,
//! `determineResyncPeriod`), with each handler's request kept so that the order of registrations does not matter. Pure.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::options::Resync;

/// No handler is resynced oftener than this.
pub(crate) const MINIMUM: Duration = Duration::from_secs(1);

/// The schedule of one informer.
#[derive(Debug)]
pub(crate) struct Resyncs {
    /// What the informer was built with, for handlers that say nothing.
    default: Option<Duration>,
    /// How often is checked who is due; `None`: never.
    check: Option<Duration>,
    next_check: Option<Instant>,
    handlers: BTreeMap<u64, Due>,
    /// What the last check caused has not been told yet.
    under_way: bool,
}

#[derive(Debug)]
struct Due {
    requested: Duration,
    next: Instant,
    /// It was due at the last check, so the resync that this one caused is for it.
    now: bool,
}

/// A request for a resync that cannot be met as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adjusted {
    /// The informer does not resync.
    Disabled,
    /// Raised to this.
    Raised(Duration),
}

impl Resyncs {
    /// The schedule of an informer with this period of its own. Zero is none.
    pub(crate) fn new(period: Option<Duration>) -> Self {
        let period = period.filter(|period| !period.is_zero());
        Self {
            default: period,
            check: period,
            next_check: None,
            handlers: BTreeMap::new(),
            under_way: false,
        }
    }

    /// A handler was added.
    pub(crate) fn add(&mut self, now: Instant, handler: u64, resync: Resync) -> Option<Adjusted> {
        let asked = match resync {
            Resync::Inherit => self.default,
            Resync::Never => None,
            Resync::Every(period) => Some(period).filter(|period| !period.is_zero()),
        }?;
        let Some(check) = self.check else {
            return Some(Adjusted::Disabled);
        };
        let mut requested = asked.max(MINIMUM);
        if requested < check {
            if self.is_started() {
                requested = check;
            } else {
                self.check = Some(requested);
            }
        }
        self.handlers.insert(
            handler,
            Due {
                requested,
                next: now + requested,
                now: false,
            },
        );
        (requested > asked).then_some(Adjusted::Raised(requested))
    }

    /// A handler is gone.
    pub(crate) fn remove(&mut self, handler: u64) {
        self.handlers.remove(&handler);
    }

    /// The first list is in the store: checks begin.
    pub(crate) fn start(&mut self, now: Instant) {
        if let (Some(check), false) = (self.check, self.is_started()) {
            self.next_check = Some(now + check);
        }
    }

    fn is_started(&self) -> bool {
        self.next_check.is_some()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is next of use.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.next_check
    }

    /// Marks who is due and says whether anybody is: then the cached state is to be repeated.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> bool {
        let (Some(check), Some(at)) = (self.check, self.next_check) else {
            return false;
        };
        if now < at {
            return false;
        }
        // From now, not from `at`: after a long pause one resync is enough.
        self.next_check = Some(now + check);
        if self.under_way {
            // While a slow handler holds the informer up, one would pile up on another. Who is due stays due.
            return false;
        }
        let mut any = false;
        for due in self.handlers.values_mut() {
            due.now = now >= due.next;
            if due.now {
                due.next = now + due.requested;
                any = true;
            }
        }
        self.under_way = any;
        any
    }

    /// What the queue handed out so far is with the handlers. `told`: the resync itself was in it. A queue that spreads a resync over the keys
    /// does not say when it ends, and hands out nothing where nothing is stored: once nothing waits in it, it has ended.
    pub(crate) fn handle_progress(&mut self, told: bool, nothing_waits: impl FnOnce() -> bool) {
        self.under_way = self.under_way && !told && !nothing_waits();
    }

    /// Whether the resync under way is for this handler.
    pub(crate) fn is_due(&self, handler: u64) -> bool {
        self.handlers.get(&handler).is_some_and(|due| due.now)
    }
}

#[cfg(test)]
mod tests;
