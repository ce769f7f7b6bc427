//! The rules of the queue, as a pure machine: the time is an argument, and nothing in here waits, locks or wakes.

mod delayed;
mod meter;
mod shutdown;
mod slots;

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use self::{meter::Meter, slots::Slots};
use crate::{AddOptions, Config, DelayedCopy, Item, Metrics, Order, Outcome, RateLimiter, Shutdown};

/// The queue without lock, waker and clock.
///
/// Inputs are [`add`](Self::add), [`take`](Self::take), [`done`](Self::done), [`forget`](Self::forget), [`cancel`](Self::cancel),
/// [`reschedule`](Self::reschedule) and [`shut_down`](Self::shut_down). Those that return a `bool` say whether somebody who waits for an item should look again. After
/// [`poll_timeout`](Self::poll_timeout) has passed, somebody should too, or [`handle_timeout`](Self::handle_timeout) be called: both move
/// what is due to the ready items.
///
/// `now` should not go backward; where it does, the latest time seen counts.
pub struct Machine<T> {
    slots: Slots<T>,
    order: Box<dyn Order<T>>,
    /// One entry at most for each item, in order of time, then of arrival.
    delayed: BTreeMap<Due, T>,
    /// By ticket, so that what is reported of it is in order.
    running: BTreeMap<Ticket, Running<T>>,
    limiter: Box<dyn RateLimiter<T>>,
    meter: Meter,
    delayed_copy: DelayedCopy,
    /// Items that wait, running ones that were added again among them.
    n_dirty: usize,
    closing: Option<Shutdown>,
    now: Option<Instant>,
    /// Gives tickets, and order of arrival to delayed items.
    sequence: u64,
}

type Due = (Instant, u64);

/// Names one hand-out of an item. Never given twice by one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

struct Running<T> {
    item: T,
    since: Instant,
}

/// An item that was handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken<T> {
    /// The item.
    pub item: T,
    /// What [`Machine::done`] wants to know it by.
    pub ticket: Ticket,
    /// The highest priority of the adds that led to it.
    pub priority: i32,
    /// How often it failed in a row, as far as the limiter counts.
    pub failures: u32,
}

/// What is in a queue at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Items that wait for a worker.
    pub ready: usize,
    /// Items that wait for their time.
    pub delayed: usize,
    /// Items in work.
    pub running: usize,
    /// How long the items in work have been so, all together (`workqueue_unfinished_work_seconds`).
    pub unfinished_for: Duration,
    /// How long the oldest of them has been so (`workqueue_longest_running_processor_seconds`).
    pub longest_for: Duration,
}

impl<T: Item> Machine<T> {
    /// An empty queue.
    #[must_use]
    pub fn new(config: Config<T>) -> Self {
        Self {
            slots: Slots::default(),
            order: config.order,
            delayed: BTreeMap::new(),
            running: BTreeMap::new(),
            limiter: config.limiter,
            meter: Meter::new(config.metrics),
            delayed_copy: config.delayed_copy,
            n_dirty: 0,
            closing: None,
            now: None,
            sequence: 0,
        }
    }

    /// Adds an item, unless the queue is shut down.
    pub fn add(&mut self, now: Instant, item: T, how: AddOptions) -> bool {
        let now = self.advance(now);
        let was_due = self.promote(now);
        if self.closing.is_some() {
            return false;
        }
        if how.after.is_none() && !how.rate_limited {
            return self.add_ready(now, item, how.priority) | was_due;
        }
        let limit = how.rate_limited.then(|| self.limiter.delay(now, &item));
        let delay = how.after.into_iter().chain(limit).min().unwrap_or(Duration::ZERO);
        self.add_delayed(now, delay, item, how.priority) | was_due
    }

    /// Time passed: what is due is ready, in order of its time, before anything that is added from now on. Whether somebody who waits for an
    /// item should look again. Adding, taking, ending work and shutting down do so first.
    pub fn handle_timeout(&mut self, now: Instant) -> bool {
        let now = self.advance(now);
        self.promote(now)
    }

    /// Hands out the next item that is ready or due.
    pub fn take(&mut self, now: Instant) -> Option<Taken<T>> {
        let now = self.advance(now);
        self.promote(now);
        let item = self.order.pop(now)?;
        let place = self.slots.place(&item);
        let queued = place.queued.take()?;
        place.running = true;
        self.n_dirty -= 1;
        let waited_for = now.saturating_duration_since(queued.since);
        self.meter.taken(queued.priority, waited_for);
        let ticket = Ticket(self.next());
        let running = Running {
            item: item.clone(),
            since: now,
        };
        self.running.insert(ticket, running);
        Some(Taken {
            failures: self.limiter.failures(&item),
            priority: queued.priority,
            item,
            ticket,
        })
    }

    /// The work under this ticket ended. If its item is added again, then at `priority`. A ticket that is not in work changes nothing.
    pub fn done(&mut self, now: Instant, ticket: Ticket, priority: i32, outcome: Outcome) -> bool {
        let now = self.advance(now);
        let was_due = self.promote(now);
        let Some(Running { item, since }) = self.running.remove(&ticket) else {
            return was_due;
        };
        self.meter.finished(now.saturating_duration_since(since));
        let place = self.slots.place(&item);
        place.running = false;
        let again = place.queued.map(|queued| queued.priority);
        if let Some(priority) = again {
            self.order.push(now, item.clone(), priority);
        }
        let retried = match outcome {
            Outcome::Done => false,
            Outcome::Forget => {
                self.limiter.forget(&item);
                false
            }
            Outcome::Retry => {
                let how = AddOptions::rate_limited().priority(priority);
                self.add(now, item.clone(), how)
            }
            Outcome::RetryAfter(delay) => {
                self.limiter.forget(&item);
                let how = AddOptions::after(delay).priority(priority);
                self.add(now, item.clone(), how)
            }
        };
        self.slots.tidy(&item);
        retried || again.is_some() || was_due
    }

    /// The item succeeded or is given up: the limiter forgets it.
    pub fn forget(&mut self, item: &T) {
        self.limiter.forget(item);
    }

    /// How often the item failed in a row, as far as the limiter counts.
    #[must_use]
    pub fn failures(&self, item: &T) -> u32 {
        self.limiter.failures(item)
    }

    /// Items that are ready.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether no item is ready.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Who collects its numbers.
    pub(crate) fn metrics(&self) -> Option<&dyn Metrics> {
        self.meter.metrics()
    }

    /// What is in work, the longest in work first.
    pub fn running(&self) -> impl Iterator<Item = &T> {
        self.running.values().map(|running| &running.item)
    }

    /// What is in it.
    #[must_use]
    pub fn stats(&self, now: Instant) -> Stats {
        let ages = self
            .running
            .values()
            .map(|running| now.saturating_duration_since(running.since));
        Stats {
            ready: self.order.len(),
            delayed: self.delayed.len(),
            running: self.running.len(),
            unfinished_for: ages.clone().sum(),
            longest_for: ages.max().unwrap_or_default(),
        }
    }

    fn add_ready(&mut self, now: Instant, item: T, priority: i32) -> bool {
        let place = self.slots.place(&item);
        let mut priority = priority;
        if self.delayed_copy == DelayedCopy::Absorb
            && let Some(delayed) = place.delayed.take()
        {
            priority = priority.max(delayed.priority);
            self.delayed.remove(&delayed.due);
        }
        if let Some(queued) = &mut place.queued {
            let was = queued.priority;
            queued.priority = priority.max(was);
            self.meter.moved(was, queued.priority);
            if !place.running {
                self.order.touch(now, &item, queued.priority);
            }
            return false;
        }
        place.queued = Some(slots::Queued { since: now, priority });
        self.n_dirty += 1;
        self.meter.entered(priority);
        let wake = !place.running;
        if wake {
            self.order.push(now, item, priority);
        }
        wake
    }

    fn advance(&mut self, now: Instant) -> Instant {
        let now = self.now.map_or(now, |latest| latest.max(now));
        self.now = Some(now);
        now
    }

    fn next(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }
}

impl<T> fmt::Debug for Machine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("ready", &self.order.len())
            .field("delayed", &self.delayed.len())
            .field("running", &self.running.len())
            .field("closing", &self.closing)
            .finish_non_exhaustive()
    }
}
