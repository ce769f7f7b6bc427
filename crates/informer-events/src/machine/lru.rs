//! A map that forgets what was used longest ago.

use std::collections::BTreeMap;

use super::Key;

/// A map of at most so many keys; an insert beyond that drops the key used longest ago (k8s.io/utils `lru.Cache`).
#[derive(Debug, Clone)]
pub(super) struct Lru<V> {
    capacity: usize,
    values: BTreeMap<Key, (u64, V)>,
    /// When each key was last used, by a count of uses.
    uses: BTreeMap<u64, Key>,
    next_use: u64,
}

impl<V> Lru<V> {
    /// An empty one. A capacity of zero counts as one.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            values: BTreeMap::new(),
            uses: BTreeMap::new(),
            next_use: 0,
        }
    }

    /// The value of a key, which counts as used now.
    pub(super) fn get_mut(&mut self, key: &Key) -> Option<&mut V> {
        let (used, value) = self.values.get_mut(key)?;
        self.uses.remove(used);
        *used = self.next_use;
        self.uses.insert(self.next_use, key.clone());
        self.next_use += 1;
        Some(value)
    }

    /// Puts a value in the place of whatever the key had. Returns what had to go for it.
    pub(super) fn insert(&mut self, key: Key, value: V) -> Option<V> {
        let replaced = self.remove(&key).is_some();
        let evicted = if !replaced && self.values.len() == self.capacity {
            self.uses
                .pop_first()
                .and_then(|(_, oldest)| self.values.remove(&oldest))
                .map(|(_, value)| value)
        } else {
            None
        };
        self.uses.insert(self.next_use, key.clone());
        self.values.insert(key, (self.next_use, value));
        self.next_use += 1;
        evicted
    }

    /// Takes a key out.
    pub(super) fn remove(&mut self, key: &Key) -> Option<V> {
        let (used, value) = self.values.remove(key)?;
        self.uses.remove(&used);
        Some(value)
    }

    /// How many keys it has.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Lru};

    fn key(text: &str) -> Key {
        Key::of([text])
    }

    #[test]
    fn forgets_what_was_used_longest_ago() {
        let mut lru = Lru::new(2);
        assert_eq!(lru.insert(key("a"), 1), None);
        assert_eq!(lru.insert(key("b"), 2), None);
        assert_eq!(lru.get_mut(&key("a")), Some(&mut 1));
        assert_eq!(lru.insert(key("c"), 3), Some(2));
        assert_eq!(lru.get_mut(&key("b")), None);
        assert_eq!(lru.insert(key("a"), 4), None);
        assert_eq!(lru.insert(key("d"), 5), Some(3));
        assert_eq!(lru.remove(&key("a")), Some(4));
        assert_eq!(lru.len(), 1);
    }
}
