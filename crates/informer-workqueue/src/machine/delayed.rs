//! Items that wait for their time.

use std::time::{Duration, Instant};

use super::{Machine, slots};
use crate::{DelayedCopy, Item};

impl<T: Item> Machine<T> {
    /// When something becomes due next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|((at, _), _)| *at)
    }

    /// When this item is due, where it waits for a time.
    #[must_use]
    pub fn due(&self, item: &T) -> Option<Instant> {
        self.slots.look(item)?.delayed.map(|delayed| delayed.due.0)
    }

    /// Forgets the delayed copy of an item. Whether there was one. What is ready, in work or added again stays, and so does what the
    /// limiter knows.
    pub fn cancel(&mut self, item: &T) -> bool {
        let Some(delayed) = self.slots.look(item).and_then(|place| place.delayed) else {
            return false;
        };
        self.slots.place(item).delayed = None;
        self.delayed.remove(&delayed.due);
        self.slots.tidy(item);
        true
    }

    /// Gives the delayed copy of an item another time, be it earlier or later; its priority stays. `None`: there was no such copy, and
    /// nothing has changed. Otherwise, whether somebody who waits for an item should look again.
    pub fn reschedule(&mut self, now: Instant, item: &T, delay: Duration) -> Option<bool> {
        let now = self.advance(now);
        let delayed = self.slots.look(item)?.delayed?;
        self.delayed.remove(&delayed.due);
        self.slots.place(item).delayed = None;
        if delay.is_zero() {
            return Some(self.add_ready(now, item.clone(), delayed.priority));
        }
        let due = (later(now, delay), self.next());
        let earliest = self.poll_timeout();
        self.slots.place(item).delayed = Some(slots::Delayed {
            due,
            priority: delayed.priority,
        });
        self.delayed.insert(due, item.clone());
        Some(earliest.is_none_or(|earliest| due.0 < earliest))
    }

    pub(super) fn add_delayed(&mut self, now: Instant, delay: Duration, item: T, priority: i32) -> bool {
        self.meter.retried();
        if delay.is_zero() {
            return self.add_ready(now, item, priority);
        }
        let mut due = (later(now, delay), self.next());
        let place = self.slots.place(&item);
        if self.delayed_copy == DelayedCopy::Absorb && place.queued.is_some() {
            return self.add_ready(now, item, priority);
        }
        let mut priority = priority;
        if let Some(delayed) = &place.delayed {
            priority = priority.max(delayed.priority);
            if delayed.due.0 <= due.0 {
                due = delayed.due;
            } else {
                self.delayed.remove(&delayed.due);
            }
        }
        place.delayed = Some(slots::Delayed { due, priority });
        let earliest = self.poll_timeout();
        self.delayed.insert(due, item);
        earliest.is_none_or(|earliest| due.0 < earliest)
    }

    /// Makes ready what is due. Whether somebody who waits for an item should look again.
    pub(super) fn promote(&mut self, now: Instant) -> bool {
        let mut wake = false;
        while let Some(entry) = self.delayed.first_entry()
            && entry.key().0 <= now
        {
            let item = entry.remove();
            let delayed = self.slots.place(&item).delayed.take();
            let priority = delayed.map_or(0, |delayed| delayed.priority);
            wake |= self.add_ready(now, item, priority);
        }
        wake
    }
}

/// `delay` after `now`, or as late as the platform's clock can say.
fn later(now: Instant, delay: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    now.checked_add(delay)
        .or_else(|| now.checked_add(YEAR * 100))
        .or_else(|| now.checked_add(YEAR))
        .unwrap_or(now)
}
