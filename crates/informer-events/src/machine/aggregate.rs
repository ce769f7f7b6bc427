//! The aggregator: many different events for one reason become one.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use super::{Key, lru::Lru};

/// Says when a group of similar events has become so diverse that they are to be combined (client-go `record.EventAggregator`).
#[derive(Debug, Clone)]
pub(super) struct Aggregator {
    max_different: usize,
    interval: Duration,
    groups: Lru<Group>,
}

#[derive(Debug, Clone)]
struct Group {
    different: BTreeSet<Key>,
    last: Instant,
}

impl Aggregator {
    pub(super) fn new(max_different: usize, interval: Duration, capacity: usize) -> Self {
        Self {
            max_different,
            interval,
            groups: Lru::new(capacity),
        }
    }

    /// One more event of a group. True when it is to be combined with others: with it the group has reached `max_different` different ones,
    /// and none of its pauses was longer than the interval.
    ///
    /// The group then forgets this one, so that its first ones go on by themselves and all others are combined. Upstream forgets any.
    pub(super) fn combines(&mut self, now: Instant, group: Key, one: Key) -> bool {
        let mut known = self
            .groups
            .remove(&group)
            .filter(|known| now.saturating_duration_since(known.last) <= self.interval)
            .unwrap_or_else(|| Group {
                different: BTreeSet::new(),
                last: now,
            });
        known.last = now;
        known.different.insert(one.clone());
        let combine = known.different.len() >= self.max_different;
        if combine {
            known.different.remove(&one);
        }
        self.groups.insert(group, known);
        combine
    }
}
