//! What was true at the server, and when: against this everything is judged.

use std::{collections::BTreeMap, sync::Arc};

use informer_core::{ObjectKey, ResourceVersion, Stamp};
use informer_testkit::{FakeApi, WatchOptions};
use serde_json::Value;

use crate::thing::{self, Color, KINDS, Which};

/// One state of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) revision: u64,
    pub(crate) uid: Arc<str>,
    pub(crate) color: Color,
    /// `None`: it cannot be decoded.
    pub(crate) n: Option<u64>,
}

impl State {
    pub(crate) fn has_stamp(&self, stamp: &Stamp) -> bool {
        self.uid == stamp.uid && number(&stamp.version) == Some(self.revision)
    }
}

/// A resource version as the number that the model's versions are.
pub(crate) fn number(version: &ResourceVersion) -> Option<u64> {
    version.as_str().parse().ok()
}

type Chain = Vec<(u64, Option<State>)>;

/// Every state of every object, by kind. More than one time line where an etcd was restored: what was written after the backup was true
/// for those who saw it then.
#[derive(Debug)]
pub(crate) struct History {
    /// The last is the present one.
    branches: Vec<Branch>,
}

/// One time line.
#[derive(Debug, Clone)]
struct Branch {
    kinds: [BTreeMap<ObjectKey, Chain>; KINDS],
    /// The version of the backup that it began with; before it, the line is the same as the one before.
    from: u64,
    /// The last version of it.
    until: u64,
}

impl Default for History {
    fn default() -> Self {
        Self {
            branches: vec![Branch {
                kinds: Default::default(),
                from: 0,
                until: u64::MAX,
            }],
        }
    }
}

impl History {
    /// Changes the model, and writes down what that changed.
    pub(crate) fn record<R>(&mut self, api: &mut FakeApi, change: impl FnOnce(&mut FakeApi) -> R) -> R {
        let from = WatchOptions::from_version(api.revision());
        let watches: Vec<_> = (0..KINDS)
            .map(|kind| api.watch(&thing::resource(kind), &from).ok())
            .collect();
        let result = change(api);
        for (kind, watch) in watches.into_iter().enumerate() {
            let Some(watch) = watch else { continue };
            for event in api.drain_watch(watch) {
                self.event(kind, &event);
            }
            api.close_watch(watch);
        }
        result
    }

    /// The server went back to a version, from this one.
    pub(crate) fn restore(&mut self, to: u64, from: u64) {
        let mut next = self.now().clone();
        for chain in next.kinds.iter_mut().flat_map(BTreeMap::values_mut) {
            chain.retain(|(revision, _)| *revision <= to);
        }
        for kind in &mut next.kinds {
            kind.retain(|_, chain| !chain.is_empty());
        }
        next.from = to;
        if let Some(last) = self.branches.last_mut() {
            last.until = from;
        }
        self.branches.push(next);
    }

    /// How many time lines there are.
    pub(crate) fn n_branches(&self) -> usize {
        self.branches.len()
    }

    /// Whether something of this version is no more, since the server went back to before it.
    pub(crate) fn is_abandoned(&self, version: u64) -> bool {
        self.branches[1..].iter().any(|branch| branch.from < version)
    }

    /// The time lines that came as far as this version, the present one first.
    pub(crate) fn branches_at(&self, version: u64) -> impl Iterator<Item = usize> {
        let branches = self.branches.iter().enumerate().rev();
        branches
            .filter(move |(_, branch)| version <= branch.until)
            .map(|(at, _)| at)
    }

    fn now(&self) -> &Branch {
        &self.branches[self.branches.len() - 1]
    }

    fn event(&mut self, kind: usize, event: &Value) {
        let object = &event["object"];
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let Ok(revision) = text("/metadata/resourceVersion").parse() else {
            return;
        };
        let key = ObjectKey::namespaced(text("/metadata/namespace"), text("/metadata/name"));
        let state = (event["type"] != "DELETED").then(|| State {
            revision,
            uid: text("/metadata/uid").into(),
            color: match text("/metadata/labels/color") {
                "red" => Color::Red,
                "green" => Color::Green,
                _ => Color::Blue,
            },
            n: object.pointer("/spec/n").and_then(Value::as_u64),
        });
        if let Some(branch) = self.branches.last_mut() {
            branch.kinds[kind].entry(key).or_default().push((revision, state));
        }
    }

    /// The state of an object at a revision.
    pub(crate) fn at(&self, kind: usize, key: &ObjectKey, revision: u64) -> Option<&State> {
        state_at(self.now().kinds[kind].get(key)?, revision)
    }

    /// Whether it was the same at a revision in every time line that came so far.
    pub(crate) fn agree_at(&self, kind: usize, key: &ObjectKey, revision: u64) -> bool {
        let states = self.branches.iter().map(|branch| {
            let chain = branch.kinds[kind].get(key)?;
            state_at(chain, revision)
        });
        let now = self.at(kind, key, revision);
        states.into_iter().all(|state| state == now)
    }

    /// How many keys there ever were, at most.
    pub(crate) fn n_keys(&self, kind: usize) -> usize {
        self.branches.iter().map(|branch| branch.kinds[kind].len()).sum()
    }

    /// What an informer can see at a revision, in key order.
    pub(crate) fn all_at(
        &self,
        kind: usize,
        which: Which,
        revision: u64,
    ) -> impl Iterator<Item = (&ObjectKey, &State)> {
        self.all_in(self.branches.len() - 1, kind, which, revision)
    }

    /// The same in one of the time lines.
    pub(crate) fn all_in(
        &self,
        branch: usize,
        kind: usize,
        which: Which,
        revision: u64,
    ) -> impl Iterator<Item = (&ObjectKey, &State)> {
        self.branches[branch].kinds[kind]
            .iter()
            .filter_map(move |(key, chain)| Some((key, state_at(chain, revision)?)))
            .filter(move |(key, state)| which.sees(key, state.color))
    }

    /// The state that was written with exactly this version and number.
    pub(crate) fn written(
        &self,
        kind: usize,
        key: &ObjectKey,
        stamp: &Stamp,
        n: Option<u64>,
    ) -> Option<&State> {
        let version = number(&stamp.version)?;
        let chains = self
            .branches
            .iter()
            .filter_map(|branch| branch.kinds[kind].get(key));
        let mut states = chains.filter_map(|chain| state_at(chain, version));
        states.find(|state| state.has_stamp(stamp) && state.n == n)
    }

    /// Whether the incarnation that this stamp names was not there for an informer at some time after that version.
    pub(crate) fn was_gone(&self, kind: usize, which: Which, key: &ObjectKey, stamp: &Stamp) -> bool {
        let Some(version) = number(&stamp.version) else {
            return false;
        };
        // A deletion carries the version at which the object went.
        let absent = |state: Option<&State>| {
            state.is_none_or(|state| state.uid != stamp.uid || !which.sees(key, state.color))
        };
        let left = |chain: &Chain| {
            chain
                .iter()
                .any(|(revision, state)| *revision >= version && absent(state.as_ref()))
        };
        let chains = self
            .branches
            .iter()
            .filter_map(|branch| branch.kinds[kind].get(key));
        // In a time line that began before that version: when it began, or ever since.
        let unwritten = |branch: &Branch| {
            let chain = branch.kinds[kind].get(key);
            let since = chain.into_iter().flatten();
            let mut since = since.filter(|(revision, _)| *revision > branch.from);
            branch.from < version
                && (absent(chain.and_then(|chain| state_at(chain, branch.from)))
                    || since.any(|(_, state)| absent(state.as_ref())))
        };
        chains.into_iter().any(left) || self.branches[1..].iter().any(unwritten)
    }
}

fn state_at(chain: &Chain, revision: u64) -> Option<&State> {
    let n_before = chain.partition_point(|(at, _)| *at <= revision);
    chain[..n_before].last()?.1.as_ref()
}
