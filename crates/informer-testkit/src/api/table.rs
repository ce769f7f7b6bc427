//! The objects of one kind with their history: which versions of which key existed when, and the log that watches read.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use bytes::Bytes;

/// One state of one object, as it is kept: the JSON without `kind` and `apiVersion`, and what selectors look at.
#[derive(Debug)]
pub(crate) struct Stored {
    /// `namespace/name` or `name`: the order of the keys is that of the real server's storage.
    pub(crate) key: Arc<str>,
    pub(crate) revision: u64,
    pub(crate) body: Bytes,
    pub(crate) labels: BTreeMap<String, String>,
    /// Values of the kind's selectable fields, in their order.
    pub(crate) fields: Vec<String>,
}

impl Stored {
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.key.split_once('/').map(|(namespace, _)| namespace)
    }

    pub(crate) fn name(&self) -> &str {
        self.key.split_once('/').map_or(&*self.key, |(_, name)| name)
    }
}

/// One change. A deletion has no `after`; its `gone` is the last state with the version of the deletion.
#[derive(Debug, Clone)]
pub(crate) struct LogEntry {
    pub(crate) revision: u64,
    pub(crate) key: Arc<str>,
    pub(crate) before: Option<Arc<Stored>>,
    pub(crate) after: Option<Arc<Stored>>,
    pub(crate) gone: Option<Arc<Stored>>,
}

type Chain = Vec<(u64, Option<Arc<Stored>>)>;

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Every known state of a key, oldest first. The last is the present one.
    chains: BTreeMap<Arc<str>, Chain>,
    log: VecDeque<LogEntry>,
    n_objects: usize,
    /// A watch from before this version would miss changes.
    watch_floor: u64,
    /// The state at a version before this one cannot be told any more.
    exact_floor: u64,
}

impl Table {
    /// A table that begins at this revision.
    pub(crate) fn starting_at(revision: u64) -> Self {
        Self {
            watch_floor: revision,
            exact_floor: revision,
            ..Self::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.n_objects
    }

    pub(crate) fn watch_floor(&self) -> u64 {
        self.watch_floor
    }

    pub(crate) fn exact_floor(&self) -> u64 {
        self.exact_floor
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Arc<Stored>> {
        self.chains.get(key)?.last()?.1.as_ref()
    }

    /// The objects whose key is above `after` and begins with `prefix`, at a revision or at present.
    pub(crate) fn scan<'a>(
        &'a self,
        prefix: &'a str,
        from: Bound<&'a str>,
        at: Option<u64>,
    ) -> impl Iterator<Item = &'a Arc<Stored>> {
        let start = match from {
            Bound::Included(key) | Bound::Excluded(key) if key > prefix => from,
            _ => Bound::Included(prefix),
        };
        self.chains
            .range::<str, _>((start, Bound::Unbounded))
            .take_while(move |(key, _)| key.starts_with(prefix))
            .filter_map(move |(_, chain)| state_at(chain, at))
    }

    /// The changes after a revision, oldest first.
    pub(crate) fn changes_after(&self, revision: u64) -> impl Iterator<Item = &LogEntry> {
        let first = self.log.partition_point(|entry| entry.revision <= revision);
        self.log.range(first..)
    }

    /// Records a change and forgets the oldest ones beyond `history`.
    pub(crate) fn commit(&mut self, entry: LogEntry, history: usize) {
        let chain = self.chains.entry(entry.key.clone()).or_default();
        match (&entry.before, &entry.after) {
            (None, Some(_)) => self.n_objects += 1,
            (Some(_), None) => self.n_objects -= 1,
            _ => {}
        }
        chain.push((entry.revision, entry.after.clone()));
        self.log.push_back(entry);
        while self.log.len() > history {
            self.forget_oldest();
        }
    }

    /// Forgets what was at and before this revision, as a compaction does.
    pub(crate) fn compact(&mut self, revision: u64) {
        while self.log.front().is_some_and(|entry| entry.revision <= revision) {
            self.forget_oldest();
        }
        self.watch_floor = self.watch_floor.max(revision);
        self.exact_floor = self.exact_floor.max(revision);
    }

    /// Refuses watches from before this revision, as a server does that has just started: its watch cache begins with a list.
    pub(crate) fn forget_watch_history(&mut self, revision: u64) {
        self.watch_floor = self.watch_floor.max(revision);
    }

    /// Goes back to the state at a revision; what came after it never was, and what was before it cannot be told any more.
    pub(crate) fn restore(&mut self, revision: u64, floor: u64) {
        let chains = std::mem::take(&mut self.chains);
        for (key, chain) in chains {
            if let Some(stored) = state_at(&chain, Some(revision)) {
                let kept = vec![(stored.revision, Some(stored.clone()))];
                self.chains.insert(key, kept);
            }
        }
        self.n_objects = self.chains.len();
        self.log.clear();
        self.watch_floor = floor;
        self.exact_floor = floor;
    }

    fn forget_oldest(&mut self) {
        let Some(entry) = self.log.pop_front() else { return };
        self.watch_floor = self.watch_floor.max(entry.revision);
        self.exact_floor = self.exact_floor.max(entry.revision);
        let Some(chain) = self.chains.get_mut(&entry.key) else {
            return;
        };
        // What the key was at the floor stays; what it was before goes, and so does a tombstone at the floor.
        let at_floor = chain.partition_point(|(revision, _)| *revision <= entry.revision);
        let dead = at_floor > 0 && chain[at_floor - 1].1.is_none();
        chain.drain(
            ..if dead {
                at_floor
            } else {
                at_floor.saturating_sub(1)
            },
        );
        if chain.is_empty() {
            self.chains.remove(&entry.key);
        }
    }
}

fn state_at(chain: &Chain, at: Option<u64>) -> Option<&Arc<Stored>> {
    match at {
        None => chain.last()?.1.as_ref(),
        Some(revision) => {
            let n_before = chain.partition_point(|(version, _)| *version <= revision);
            chain[..n_before].last()?.1.as_ref()
        }
    }
}
