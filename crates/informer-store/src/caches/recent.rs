//! So many values, each for so long: the least recently used goes first (apimachinery `LRUExpireCache`).

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use informer_core::Key;

pub(super) struct Recent<Q, V> {
    capacity: NonZeroUsize,
    ttl: Duration,
    values: BTreeMap<Q, Held<V>>,
    /// By their last use, the oldest first.
    by_use: BTreeMap<u64, Q>,
    n_uses: u64,
}

struct Held<V> {
    value: V,
    since: Instant,
    used: u64,
}

impl<Q: Key, V> Recent<Q, V> {
    pub(super) fn new(capacity: NonZeroUsize, ttl: Duration) -> Self {
        Self {
            capacity,
            ttl,
            values: BTreeMap::new(),
            by_use: BTreeMap::new(),
            n_uses: 0,
        }
    }

    /// A use of the value, which is taken out if it is too old.
    pub(super) fn get(&mut self, now: Instant, key: &Q) -> Option<&V> {
        let since = self.values.get(key)?.since;
        if now.saturating_duration_since(since) > self.ttl {
            self.remove(key);
            return None;
        }
        self.n_uses += 1;
        let held = self.values.get_mut(key)?;
        self.by_use.remove(&held.used);
        held.used = self.n_uses;
        self.by_use.insert(self.n_uses, key.clone());
        Some(&held.value)
    }

    /// A value as new and as recently used as can be. What is too much goes.
    pub(super) fn insert(&mut self, now: Instant, key: Q, value: V) {
        self.remove(&key);
        self.n_uses += 1;
        self.by_use.insert(self.n_uses, key.clone());
        let held = Held {
            value,
            since: now,
            used: self.n_uses,
        };
        self.values.insert(key, held);
        if self.values.len() > self.capacity.get()
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.values.remove(&oldest);
        }
    }

    pub(super) fn remove(&mut self, key: &Q) {
        if let Some(held) = self.values.remove(key) {
            self.by_use.remove(&held.used);
        }
    }

    /// What is not too old, in key order. No use of it.
    pub(super) fn iter(&self, now: Instant) -> impl Iterator<Item = (&Q, &V)> {
        self.values
            .iter()
            .filter(move |(_, held)| now.saturating_duration_since(held.since) <= self.ttl)
            .map(|(key, held)| (key, &held.value))
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}
