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

/// Every state of every object, by kind.
#[derive(Debug, Default)]
pub(crate) struct History {
    kinds: [BTreeMap<ObjectKey, Chain>; KINDS],
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
        self.kinds[kind].entry(key).or_default().push((revision, state));
    }

    /// The state of an object at a revision.
    pub(crate) fn at(&self, kind: usize, key: &ObjectKey, revision: u64) -> Option<&State> {
        state_at(self.kinds[kind].get(key)?, revision)
    }

    /// How many keys there ever were.
    pub(crate) fn n_keys(&self, kind: usize) -> usize {
        self.kinds[kind].len()
    }

    /// What an informer can see at a revision, in key order.
    pub(crate) fn all_at(
        &self,
        kind: usize,
        which: Which,
        revision: u64,
    ) -> impl Iterator<Item = (&ObjectKey, &State)> {
        self.kinds[kind]
            .iter()
            .filter_map(move |(key, chain)| Some((key, state_at(chain, revision)?)))
            .filter(move |(key, state)| which.sees(key, state.color))
    }

    /// The state that was written with exactly this version.
    pub(crate) fn written(&self, kind: usize, key: &ObjectKey, stamp: &Stamp) -> Option<&State> {
        self.at(kind, key, number(&stamp.version)?)
            .filter(|state| state.has_stamp(stamp))
    }

    /// Whether the incarnation that this stamp names was not there for an informer at some time after that version, `until` at the latest.
    pub(crate) fn was_gone(
        &self,
        kind: usize,
        which: Which,
        key: &ObjectKey,
        stamp: &Stamp,
        until: u64,
    ) -> bool {
        let Some(version) = number(&stamp.version) else {
            return false;
        };
        let Some(chain) = self.kinds[kind].get(key) else {
            return false;
        };
        // A deletion carries the version at which the object went.
        let absent = |state: &Option<State>| {
            state
                .as_ref()
                .is_none_or(|state| state.uid != stamp.uid || !which.sees(key, state.color))
        };
        chain
            .iter()
            .any(|(revision, state)| *revision >= version && *revision <= until && absent(state))
    }
}

fn state_at(chain: &Chain, revision: u64) -> Option<&State> {
    let n_before = chain.partition_point(|(at, _)| *at <= revision);
    chain[..n_before].last()?.1.as_ref()
}
