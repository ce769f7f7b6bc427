//! Random objects, such that one stamp is always one state.

use std::collections::BTreeMap;

use crate::random::Random;

/// The values that objects are indexed by.
const VALUES: [&str; 5] = ["p", "q", "r", "s", "t"];

/// Makes objects.
#[derive(Debug)]
pub(super) struct Objects {
    keys: Vec<String>,
    version: u64,
    /// What each key held at each stamp.
    states: BTreeMap<String, String>,
}

impl Objects {
    pub(super) fn new(keys: &[&str]) -> Self {
        Self {
            keys: keys.iter().map(|&key| key.to_owned()).collect(),
            version: 1,
            states: BTreeMap::new(),
        }
    }

    /// So many keys more.
    pub(super) fn widen(&mut self, n: usize) {
        self.keys.extend((0..n).map(|at| format!("n{}/{at}", at % 7)));
    }

    pub(super) fn key(&self, random: &mut Random) -> String {
        random.pick(&self.keys).clone()
    }

    /// Some keys, each once.
    pub(super) fn keys(&self, random: &mut Random, n: usize) -> Vec<String> {
        let mut left = self.keys.clone();
        (0..n.min(left.len()))
            .map(|_| left.remove(random.below(left.len())))
            .collect()
    }

    /// An object of any key.
    pub(super) fn any(&mut self, random: &mut Random) -> String {
        let key = self.key(random);
        self.of(random, &key)
    }

    /// Some objects, now and then two of one key.
    pub(super) fn some(&mut self, random: &mut Random, limit: usize) -> String {
        let n = random.below(limit);
        let objects: Vec<String> = (0..n).map(|_| self.any(random)).collect();
        objects.join(" ")
    }

    /// An object of this key.
    pub(super) fn of(&mut self, random: &mut Random, key: &str) -> String {
        let n = random.weighted(&[(2, 0), (4, 1), (3, 2), (1, 3)]);
        let values: Vec<&str> = (0..n).map(|_| *random.pick(&VALUES)).collect();
        let values = values.join(",");
        let version = self.version(random);
        let uid = random.below(3);
        let stamped = format!("{key}@{version}#u{uid}");
        if version.is_empty() {
            return format!("{stamped}[{values}]");
        }
        let held = self.states.entry(stamped.clone()).or_insert(values);
        format!("{stamped}[{held}]")
    }

    /// Mostly the next one, sometimes an old one, rarely none or one that has no order.
    pub(super) fn version(&mut self, random: &mut Random) -> String {
        self.version += 1 + random.below(2) as u64;
        let old = (self.version * 7 % 10 + 1).to_string();
        match random.below(20) {
            0 => old,
            1 => String::new(),
            2 => format!("x{}", self.version),
            _ => self.version.to_string(),
        }
    }
}
