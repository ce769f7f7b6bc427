//! What must be in a work queue, by the facts alone: a second, naive telling of its rules, for the invariants about it.

use std::{collections::BTreeMap, time::Duration};

use informer_workqueue::{Outcome, Shutdown};

use crate::{
    config::MillConfig,
    fact::{Fact, Noted, QueueId},
};

/// The work queues that were opened.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) books: BTreeMap<QueueId, Book>,
}

/// One work queue.
#[derive(Debug)]
pub(super) struct Book {
    pub(super) config: MillConfig,
    pub(super) items: BTreeMap<u8, Item>,
    /// How hard it was shut down.
    pub(super) closed: Option<Shutdown>,
    pub(super) drained: bool,
}

/// What is known of an item.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// Waits for a worker; since when it counts for the order.
    pub(super) ready: Option<Duration>,
    pub(super) delayed: Option<Duration>,
    pub(super) running: bool,
    failures: u32,
}

/// An item was taken.
#[derive(Debug)]
pub(super) struct Took {
    pub(super) queue: QueueId,
    pub(super) item: u8,
    /// Since when it was ready; `None`: it was not.
    pub(super) since: Option<Duration>,
}

impl Ledger {
    /// Enters a fact. A take is told back.
    pub(super) fn enter(&mut self, noted: &Noted) -> Option<Took> {
        let now = noted.at;
        match &noted.fact {
            Fact::Opened { queue, config } => {
                let book = Book {
                    config: config.clone(),
                    items: BTreeMap::new(),
                    closed: None,
                    drained: false,
                };
                self.books.insert(*queue, book);
                None
            }
            Fact::Queued {
                queue, item, after, ..
            } => {
                self.books.get_mut(queue)?.add(now, *item, *after);
                None
            }
            Fact::Taken { queue, item } => {
                let since = self.books.get_mut(queue)?.take(now, *item);
                Some(Took {
                    queue: *queue,
                    item: *item,
                    since,
                })
            }
            Fact::Worked { queue, item, outcome } => {
                self.books.get_mut(queue)?.done(now, *item, *outcome);
                None
            }
            Fact::Drained { queue } => {
                self.books.get_mut(queue)?.drained = true;
                None
            }
            _ => None,
        }
    }
}

impl Book {
    fn add(&mut self, now: Duration, item: u8, after: Option<Duration>) {
        if self.closed.is_some() {
            return;
        }
        self.promote(now);
        let absorb = self.config.absorb;
        let place = self.items.entry(item).or_default();
        let delay = after.unwrap_or_else(|| {
            let base = Duration::from_millis(self.config.base_ms.into());
            let delay = base.saturating_mul(1 << place.failures.min(20));
            place.failures += 1;
            delay.min(Duration::from_millis(self.config.max_ms.into()))
        });
        if delay.is_zero() || (absorb && place.ready.is_some()) {
            place.ready.get_or_insert(now);
            if absorb {
                place.delayed = None;
            }
        } else {
            let due = now + delay;
            place.delayed = Some(place.delayed.map_or(due, |earlier| earlier.min(due)));
        }
    }

    /// What is due by now is ready before anything else happens.
    pub(super) fn promote(&mut self, now: Duration) {
        for place in self.items.values_mut() {
            if place.delayed.is_some_and(|due| due <= now) {
                place.delayed = None;
                place.ready.get_or_insert(now);
            }
        }
    }

    /// A worker has it.
    fn take(&mut self, now: Duration, item: u8) -> Option<Duration> {
        self.promote(now);
        let place = self.items.entry(item).or_default();
        place.running = true;
        place.ready.take()
    }

    fn done(&mut self, now: Duration, item: u8, outcome: Outcome) {
        self.promote(now);
        let place = self.items.entry(item).or_default();
        place.running = false;
        // It stands in line only from now on.
        place.ready = place.ready.map(|_| now);
        match outcome {
            Outcome::Forget => place.failures = 0,
            Outcome::Retry => self.add(now, item, None),
            Outcome::RetryAfter(delay) => {
                place.failures = 0;
                self.add(now, item, Some(delay));
            }
            _ => {}
        }
    }

    pub(super) fn n_running(&self) -> usize {
        self.items.values().filter(|item| item.running).count()
    }

    /// Items that should be with a worker by now.
    pub(super) fn due(&self, now: Duration) -> impl Iterator<Item = (&u8, &Item)> {
        self.items
            .iter()
            .filter(move |(_, item)| item.ready.is_some() || item.delayed.is_some_and(|due| due <= now))
    }
}
