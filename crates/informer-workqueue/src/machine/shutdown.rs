//! How the queue ends.

use std::time::Instant;

use super::Machine;
use crate::{Item, Shutdown};

impl<T: Item> Machine<T> {
    /// Ends the queue, and returns what will not be handed out any more: first what was ready, in order; then what was added again while
    /// in work, the longest in work first; then what was delayed, by time. Each item once.
    pub fn shut_down(&mut self, now: Instant, how: Shutdown) -> Vec<T> {
        let now = self.advance(now);
        if self
            .closing
            .is_some_and(|closing| closing.hardness() >= how.hardness())
        {
            return Vec::new();
        }
        self.promote(now);
        self.closing = Some(how);
        let late = self.drop_delayed();
        let mut left = Vec::new();
        if !how.hands_out() {
            left = self.drop_dirty(now);
        }
        left.extend(late);
        left
    }

    /// Whether it was shut down, in whichever way.
    #[must_use]
    pub fn is_shutting_down(&self) -> bool {
        self.closing.is_some()
    }

    /// Whether it was shut down and no item will be handed out any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closing.is_some() && self.n_dirty == 0
    }

    /// Whether it was shut down and there is nothing to wait for: no item that will be handed out, and none in work unless it was told not
    /// to wait for those.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        match self.closing {
            None => false,
            Some(Shutdown::Now) => true,
            Some(Shutdown::InHand) => self.running.is_empty(),
            Some(Shutdown::Drain { .. }) => self.n_dirty == 0 && self.running.is_empty(),
        }
    }

    /// Drops what is delayed; returns, by time, the items that do not wait for a worker as well.
    fn drop_delayed(&mut self) -> Vec<T> {
        let mut late = Vec::new();
        for item in std::mem::take(&mut self.delayed).into_values() {
            let place = self.slots.place(&item);
            place.delayed = None;
            let waits = place.queued.is_some();
            self.slots.tidy(&item);
            if !waits {
                late.push(item);
            }
        }
        late
    }

    /// Drops what is ready and what was added again while in work.
    fn drop_dirty(&mut self, now: Instant) -> Vec<T> {
        let mut left = Vec::with_capacity(self.n_dirty);
        while let Some(item) = self.order.pop(now) {
            self.slots.place(&item).queued = None;
            self.slots.tidy(&item);
            left.push(item);
        }
        for running in self.running.values() {
            let queued = self.slots.place(&running.item).queued.take();
            left.extend(queued.map(|_| running.item.clone()));
        }
        self.n_dirty = 0;
        self.meter.emptied();
        left
    }
}
