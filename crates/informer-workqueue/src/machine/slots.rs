//! Where each item is.

use std::time::Instant;

use ahash::AHashMap;

use crate::Item;

/// The places of all items that are anywhere. Looked up only, never iterated: its order is random.
pub(super) struct Slots<T> {
    places: AHashMap<T, Place>,
}

/// Where an item is. Several at once are possible.
#[derive(Default)]
pub(super) struct Place {
    /// It waits to be handed out (client-go's dirty set): in the order unless it is in work.
    pub(super) queued: Option<Queued>,
    /// It waits for its time.
    pub(super) delayed: Option<Delayed>,
    /// A worker has it (client-go's processing set).
    pub(super) running: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Queued {
    pub(super) since: Instant,
    /// The highest of all its adds.
    pub(super) priority: i32,
}

#[derive(Clone, Copy)]
pub(super) struct Delayed {
    /// Its key among the delayed.
    pub(super) due: super::Due,
    /// The highest of all its delayed adds.
    pub(super) priority: i32,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            places: AHashMap::new(),
        }
    }
}

impl<T: Item> Slots<T> {
    /// The item's place, which may be nowhere yet.
    pub(super) fn place(&mut self, item: &T) -> &mut Place {
        self.places.entry(item.clone()).or_default()
    }

    /// The item's place, if it is anywhere.
    pub(super) fn look(&self, item: &T) -> Option<&Place> {
        self.places.get(item)
    }

    /// Lets go of an item that is nowhere any more.
    pub(super) fn tidy(&mut self, item: &T) {
        let nowhere = self
            .places
            .get(item)
            .is_some_and(|it| it.queued.is_none() && it.delayed.is_none() && !it.running);
        if nowhere {
            self.places.remove(item);
        }
    }
}
