//! By priority, with or without aging.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use ahash::AHashMap;

use crate::{Item, Order};

/// Higher priorities first, equal ones first in, first out (controller-runtime's `priorityqueue`); with aging, so that nothing starves.
///
/// Aging gives each level of priority a worth in waiting time. An item is due at the time it became ready less its priority times that
/// worth, and the earliest is next: all waiting items age alike, so their order never has to be revised. With the default of 100 ms an
/// item at −100 waits at most ten seconds behind a stream of items at 0.
///
/// An item whose priority is raised goes behind the others of its new level, unless its age has already brought it further.
#[derive(Debug)]
pub struct Priority<T> {
    /// Nanoseconds of waiting that one level is worth; zero is strict.
    level_worth: i64,
    /// Ranks count from the first time that was seen.
    epoch: Option<Instant>,
    ranked: BTreeMap<Rank, T>,
    places: AHashMap<T, (Rank, i32)>,
    pushed: u64,
}

/// Smaller is earlier; the second part is the order of arrival.
type Rank = (i64, u64);

impl<T> Priority<T> {
    /// Priorities without aging, as upstream: an item waits as long as there are any of higher priority.
    #[must_use]
    pub fn strict() -> Self {
        Self::aging(Duration::ZERO)
    }

    /// Priorities with aging, where one level is worth this much waiting. Zero is strict.
    #[must_use]
    pub fn aging(level_worth: Duration) -> Self {
        Self {
            level_worth: nanos(level_worth),
            epoch: None,
            ranked: BTreeMap::new(),
            places: AHashMap::new(),
            pushed: 0,
        }
    }

    fn rank(&mut self, now: Instant, priority: i32) -> Rank {
        let epoch = *self.epoch.get_or_insert(now);
        let priority = i64::from(priority);
        let due = match self.level_worth {
            0 => -priority,
            worth => {
                nanos(now.saturating_duration_since(epoch)).saturating_sub(priority.saturating_mul(worth))
            }
        };
        self.pushed += 1;
        (due, self.pushed)
    }
}

impl<T> Default for Priority<T> {
    /// With aging, one level for 100 ms.
    fn default() -> Self {
        Self::aging(Duration::from_millis(100))
    }
}

impl<T: Item> Order<T> for Priority<T> {
    fn push(&mut self, now: Instant, item: T, priority: i32) {
        let rank = self.rank(now, priority);
        self.places.insert(item.clone(), (rank, priority));
        self.ranked.insert(rank, item);
    }

    fn touch(&mut self, now: Instant, item: &T, priority: i32) {
        let raised = self.rank(now, priority);
        let Some((rank, was)) = self.places.get_mut(item) else {
            return;
        };
        if priority <= *was {
            return;
        }
        *was = priority;
        if raised < *rank
            && let Some(item) = self.ranked.remove(rank)
        {
            *rank = raised;
            self.ranked.insert(raised, item);
        }
    }

    fn pop(&mut self, _: Instant) -> Option<T> {
        let (_, item) = self.ranked.pop_first()?;
        self.places.remove(&item);
        Some(item)
    }

    fn len(&self) -> usize {
        self.ranked.len()
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
