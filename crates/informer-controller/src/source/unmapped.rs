//! The changes that are not mapped to requests yet: one for each object, merged. Rules only; who maps them, and when, is the feed's.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use informer_core::{Change, Entry};

/// What is kept of the changes of all objects.
pub(super) struct Unmapped<Q, K> {
    kept: BTreeMap<Q, Kept<Q, K>>,
    /// Those that somebody maps now.
    in_hand: BTreeSet<Q>,
    /// Those whose last mapping failed.
    failing: BTreeSet<Q>,
    last_error: Option<String>,
    /// Those of the beginning that were not tried yet, once the beginning is over.
    first: Option<BTreeSet<Q>>,
}

/// What could not be mapped of an object, or was not yet.
pub(super) struct Kept<Q, K> {
    /// The oldest state whose requests nobody has heard of, where that is not in `latest`.
    oldest: Option<Entry<Q, K>>,
    pub(super) latest: Change<Q, K>,
    pub(super) priority: i32,
    /// The filter and the predicate have let `latest` pass.
    pub(super) admitted: bool,
}

impl<Q, K> Default for Unmapped<Q, K> {
    fn default() -> Self {
        Self {
            kept: BTreeMap::new(),
            in_hand: BTreeSet::new(),
            failing: BTreeSet::new(),
            last_error: None,
            first: None,
        }
    }
}

impl<Q: Ord + Clone, K> Unmapped<Q, K> {
    /// A change is to be mapped, later than all that is kept of its object.
    pub(super) fn keep(&mut self, later: Kept<Q, K>) {
        let key = later.latest.key().clone();
        let merged = match self.kept.remove(&key) {
            Some(earlier) => earlier.then(later),
            None => later,
        };
        self.kept.insert(key, merged);
    }

    /// Its mapping failed: it is to be tried again.
    pub(super) fn keep_failed(&mut self, later: Kept<Q, K>, error: String) {
        self.failed(later.latest.key().clone(), error);
        self.keep(later);
    }

    /// What is kept of an object, for somebody who maps it and says how that went.
    pub(super) fn take(&mut self, key: &Q) -> Option<Kept<Q, K>> {
        let kept = self.kept.remove(key)?;
        self.in_hand.insert(key.clone());
        Some(kept)
    }

    /// What was taken is mapped.
    pub(super) fn mapped(&mut self, key: &Q) {
        self.tried(key);
        self.failing.remove(key);
        if self.failing.is_empty() {
            self.last_error = None;
        }
    }

    /// What was taken could not be mapped. A change that came meanwhile is later.
    pub(super) fn put_back(&mut self, key: &Q, earlier: Kept<Q, K>, error: String) {
        self.tried(key);
        self.failed(key.clone(), error);
        let merged = match self.kept.remove(key) {
            Some(later) => earlier.then(later),
            None => earlier,
        };
        self.kept.insert(key.clone(), merged);
    }

    /// The beginning is over: what is not tried now is what remains of it. Whether nothing does, now or at a later call.
    pub(super) fn begun(&mut self) -> bool {
        let first = self.first.get_or_insert_with(|| {
            let waiting = self.kept.keys().filter(|key| !self.failing.contains(key));
            waiting.chain(&self.in_hand).cloned().collect()
        });
        first.is_empty()
    }

    /// Why not all is mapped, where it is not.
    pub(super) fn trouble(&self) -> Option<String> {
        if let Some(error) = &self.last_error {
            let n_failing = self.failing.len().max(1);
            return Some(format!("{n_failing} changes could not be mapped: {error}"));
        }
        let first = self.first.as_ref().filter(|first| !first.is_empty())?;
        Some(format!("{} initial objects are not mapped yet", first.len()))
    }

    fn tried(&mut self, key: &Q) {
        self.in_hand.remove(key);
        if let Some(first) = &mut self.first {
            first.remove(key);
        }
    }

    fn failed(&mut self, key: Q, error: String) {
        self.last_error = Some(error);
        self.failing.insert(key);
    }
}

impl<Q: Clone, K> Kept<Q, K> {
    pub(super) fn new(latest: Change<Q, K>, priority: i32, admitted: bool) -> Self {
        Self {
            oldest: None,
            latest,
            priority,
            admitted,
        }
    }

    /// The state before all that is kept, where the latest change does not hold it.
    pub(super) fn oldest(&self) -> Option<&Entry<Q, K>> {
        let oldest = self.oldest.as_ref()?;
        let known = match &self.latest {
            Change::Updated { old, .. } => same(old, oldest),
            _ => false,
        };
        (!known && !same(self.latest.entry(), oldest)).then_some(oldest)
    }

    /// The states whose requests are to be named, where none of them was before: the newest, and that before all that is kept.
    pub(super) fn states(&self) -> impl Iterator<Item = &Entry<Q, K>> {
        let old = match &self.latest {
            Change::Updated { old, .. } => Some(old),
            _ => None,
        };
        let new = self.latest.entry();
        let before = self.oldest.as_ref().or(old).filter(|before| !same(before, new));
        [new].into_iter().chain(before)
    }

    /// Both as one: states in between were never heard of, and need not be.
    fn then(self, later: Self) -> Self {
        let first = match self.latest {
            Change::Updated { old, .. } => old,
            Change::Added { new: it, .. }
            | Change::Removed { last: it, .. }
            | Change::Resynced { current: it } => it,
        };
        Self {
            oldest: Some(self.oldest.unwrap_or(first)),
            latest: later.latest,
            priority: self.priority.max(later.priority),
            admitted: later.admitted,
        }
    }
}

fn same<Q, K>(one: &Entry<Q, K>, other: &Entry<Q, K>) -> bool {
    Arc::ptr_eq(&one.object, &other.object)
}

#[cfg(test)]
mod tests {
    use informer_core::Stamp;

    use super::*;

    type State = Entry<u8, u32>;

    fn state(key: u8, n: u32) -> State {
        Entry::new(key, Stamp::new(&*n.to_string(), ""), Arc::new(n))
    }

    /// From one state of an object to the next; `None`: it is not there.
    fn change(old: Option<&State>, new: Option<&State>) -> Change<u8, u32> {
        match (old.cloned(), new.cloned()) {
            (Some(old), Some(new)) => Change::Updated { old, new },
            (None, Some(new)) => Change::Added { new, initial: false },
            (Some(last), None) => Change::Removed { last, observed: true },
            (None, None) => unreachable!("that is no change"),
        }
    }

    fn asked(kept: &Kept<u8, u32>) -> Vec<u32> {
        kept.states().map(|state| *state.object).collect()
    }

    /// Whatever the order of changes, answers and failures: who was told of a state is told when the object goes away from it, and of the
    /// newest state in the end; each object is in one pair of hands.
    #[test]
    fn who_was_told_of_a_state_hears_of_its_end() {
        let mut random = 7_u64;
        let mut below = |n: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % n
        };
        for _ in 0..2000 {
            let mut unmapped = Unmapped::default();
            let (mut now, mut told): ([Option<State>; 2], [Option<u32>; 2]) = Default::default();
            let mut hands: [Option<Kept<u8, u32>>; 2] = Default::default();
            for n in 0..60 {
                let (key, at) = if below(2) == 0 { (0, 0) } else { (1, 1) };
                match below(4) {
                    0 | 1 if n < 40 => {
                        let next = (now[at].is_none() || below(4) > 0).then(|| state(key, n));
                        unmapped.keep(Kept::new(change(now[at].as_ref(), next.as_ref()), 0, true));
                        now[at] = next;
                    }
                    2 if hands[at].is_some() => {
                        let kept = hands[at].take().unwrap();
                        unmapped.put_back(&key, kept, "no".to_owned());
                        assert!(unmapped.trouble().is_some());
                    }
                    _ if hands[at].is_some() => {
                        let kept = hands[at].take().unwrap();
                        let asked = asked(&kept);
                        assert!(told[at].is_none_or(|told| asked.contains(&told)));
                        let gone = matches!(kept.latest, Change::Removed { .. });
                        told[at] = asked.first().copied().filter(|_| !gone);
                        unmapped.mapped(&key);
                    }
                    _ => hands[at] = unmapped.take(&key),
                }
            }
            for (key, at) in [(0, 0), (1, 1)] {
                for kept in [hands[at].take(), unmapped.take(&key)].into_iter().flatten() {
                    let asked = asked(&kept);
                    assert!(told[at].is_none_or(|told| asked.contains(&told)));
                    let gone = matches!(kept.latest, Change::Removed { .. });
                    told[at] = asked.first().copied().filter(|_| !gone);
                    unmapped.mapped(&key);
                }
                assert_eq!(told[at], now[at].as_ref().map(|state| *state.object));
            }
            assert_eq!(unmapped.trouble(), None);
        }
    }

    #[test]
    fn the_beginning_is_over_when_each_was_tried() {
        let mut unmapped = Unmapped::default();
        for key in 0..3 {
            unmapped.keep(Kept::new(change(None, Some(&state(key, 1))), 0, true));
        }
        let first = unmapped.take(&0).unwrap();
        assert!(!unmapped.begun());
        assert_eq!(
            unmapped.trouble().as_deref(),
            Some("3 initial objects are not mapped yet")
        );
        // What comes later is not waited for; a failure is a try.
        unmapped.keep(Kept::new(change(None, Some(&state(9, 1))), 0, true));
        unmapped.put_back(&0, first, "no".to_owned());
        for key in 1..3 {
            assert!(!unmapped.begun());
            unmapped.take(&key).unwrap();
            unmapped.mapped(&key);
        }
        assert!(unmapped.begun());
        assert_eq!(
            unmapped.trouble().as_deref(),
            Some("1 changes could not be mapped: no")
        );
    }
}
