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
