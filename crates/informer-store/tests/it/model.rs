//! Random commits against a naive model: a sorted map, and indices that are computed when asked.

use std::collections::{BTreeMap, BTreeSet};

use informer_core::{Batch, Cause, Delta, Entry, ObjectKey, Stamp, Store};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::support::{Bad, Thing, commit_batch, key, lines, tagged, thing};

type Things = Vec<Delta<ObjectKey, Thing>>;

#[derive(Debug, Clone)]
enum Step {
    Commit {
        deltas: Vec<Raw>,
        initial: bool,
        in_order: bool,
    },
    AddIndex,
}

/// A delta as numbers, so that a failing case prints well.
#[derive(Debug, Clone)]
enum Raw {
    Upsert(Object, Cause),
    Delete {
        key: usize,
        version: u32,
        uid: usize,
        last: bool,
        observed: bool,
    },
    Unreadable {
        key: usize,
        version: u32,
    },
    Replace {
        items: Vec<Object>,
        unreadable: Vec<usize>,
        at: u32,
        may_rewind: bool,
    },
    Resync,
    Bookmark {
        at: u32,
        may_rewind: bool,
    },
}

#[derive(Debug, Clone)]
struct Object {
    key: usize,
    version: u32,
    uid: usize,
    tags: Vec<&'static str>,
    fails: bool,
}

const KEYS: [&str; 6] = ["a", "n/a", "n/b", "n/c", "o/a", "o/b"];
const UIDS: [&str; 3] = ["", "u1", "u2"];
const TAGS: [&str; 4] = ["", "x", "y", "z"];

fn object() -> impl Strategy<Value = Object> {
    let tags = vec(select(&TAGS[..]), 0..3);
    (
        0..KEYS.len(),
        0..12_u32,
        0..UIDS.len(),
        tags,
        prop::bool::weighted(0.1),
    )
        .prop_map(|(key, version, uid, tags, fails)| Object {
            key,
            version,
            uid,
            tags,
            fails,
        })
}

fn raw() -> impl Strategy<Value = Raw> {
    let causes = [Cause::Added, Cause::Modified, Cause::Listed, Cause::Sync];
    prop_oneof![
        10 => (object(), select(causes.to_vec())).prop_map(|(it, cause)| Raw::Upsert(it, cause)),
        4 => (0..KEYS.len(), 0..12_u32, 0..UIDS.len(), any::<bool>(), any::<bool>())
            .prop_map(|(key, version, uid, last, observed)| Raw::Delete { key, version, uid, last, observed }),
        2 => (0..KEYS.len(), 0..12_u32).prop_map(|(key, version)| Raw::Unreadable { key, version }),
        2 => (vec(object(), 0..6), vec(0..KEYS.len(), 0..3), 0..12_u32, any::<bool>())
            .prop_map(|(items, unreadable, at, may_rewind)| Raw::Replace { items, unreadable, at, may_rewind }),
        1 => Just(Raw::Resync),
        1 => (0..12_u32, any::<bool>()).prop_map(|(at, may_rewind)| Raw::Bookmark { at, may_rewind }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (vec(raw(), 0..5), any::<bool>(), any::<bool>())
            .prop_map(|(deltas, initial, in_order)| Step::Commit { deltas, initial, in_order }),
        1 => Just(Step::AddIndex),
    ]
}

/// Version 0 stands for none.
fn version(n: u32) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

impl Object {
    fn entry(&self) -> Entry<ObjectKey, Thing> {
        let bad = if self.fails { Bad::Fails } else { Bad::No };
        let stamp = Stamp::new(version(self.version).as_str(), UIDS[self.uid]);
        Entry::new(key(KEYS[self.key]), stamp, thing(&self.tags, bad))
    }
}

fn deltas(raw: &[Raw]) -> Things {
    raw.iter().map(delta).collect()
}

fn delta(raw: &Raw) -> Delta<ObjectKey, Thing> {
    match raw {
        Raw::Upsert(object, cause) => Delta::Upsert(object.entry(), *cause),
        Raw::Delete {
            key: at,
            version: n,
            uid,
            last,
            observed,
        } => Delta::Delete {
            key: key(KEYS[*at]),
            stamp: Stamp::new(version(*n).as_str(), UIDS[*uid]),
            last: last.then(|| thing(&[], Bad::No)),
            observed: *observed,
        },
        Raw::Unreadable { key: at, version: n } => Delta::Unreadable {
            key: key(KEYS[*at]),
            stamp: Stamp::new(version(*n).as_str(), ""),
        },
        Raw::Replace {
            items,
            unreadable,
            at,
            may_rewind,
        } => Delta::Replace {
            items: items.iter().map(Object::entry).collect(),
            unreadable: unreadable.iter().map(|at| key(KEYS[*at])).collect(),
            at: version(*at).as_str().into(),
            may_rewind: *may_rewind,
        },
        Raw::Resync => Delta::Resync,
        Raw::Bookmark { at, may_rewind } => Delta::Bookmark {
            at: version(*at).as_str().into(),
            may_rewind: *may_rewind,
        },
    }
}

/// One stored state: version, uid, tags, stale.
#[derive(Debug, Clone, PartialEq)]
struct State {
    version: u32,
    uid: &'static str,
    tags: BTreeSet<&'static str>,
    stale: bool,
}

#[derive(Default)]
struct Model {
    states: BTreeMap<ObjectKey, State>,
    /// There, and never read.
    unread: BTreeSet<ObjectKey>,
    applied: u32,
    changes: Vec<String>,
    failed: Vec<String>,
    kept: Vec<String>,
}

fn shown(key: &ObjectKey, version_of: u32, uid: &str, stale: bool) -> String {
    let uid = if uid.is_empty() {
        String::new()
    } else {
        format!("#{uid}")
    };
    let stale = if stale { " (stale)" } else { "" };
    format!("{key:?}@{}{uid}{stale}", version(version_of))
}

impl State {
    fn show(&self, key: &ObjectKey) -> String {
        shown(key, self.version, self.uid, self.stale)
    }
}

fn same_uid(a: &str, b: &str) -> bool {
    a == b || a.is_empty() || b.is_empty()
}

impl Model {
    fn advance(&mut self, to: u32, may_rewind: bool) {
        if to != 0 && (may_rewind || to > self.applied) {
            self.applied = to;
        }
    }

    /// Whether it was taken.
    fn upsert(&mut self, it: &Object, initial: bool) -> bool {
        let key = key(KEYS[it.key]);
        let new = State {
            version: it.version,
            uid: UIDS[it.uid],
            tags: it.tags.iter().copied().collect(),
            stale: false,
        };
        let added = format!(
            "Added {}{}",
            new.show(&key),
            if initial { " initial" } else { "" }
        );
        let old = self.states.get(&key).cloned();
        if let Some(old) = &old
            && old.version == new.version
            && new.version != 0
            && same_uid(old.uid, new.uid)
        {
            self.states.get_mut(&key).unwrap().stale = false;
            return true;
        }
        if it.fails {
            self.failed.push(key.to_string());
            return false;
        }
        match old {
            None => self.changes.push(added),
            Some(old) if same_uid(old.uid, new.uid) => {
                self.changes
                    .push(format!("Updated {} -> {}", old.show(&key), new.show(&key)));
            }
            Some(old) => {
                self.changes
                    .push(format!("Removed {} unobserved", old.show(&key)));
                self.changes.push(added);
            }
        }
        self.unread.remove(&key);
        self.states.insert(key, new);
        true
    }

    fn apply(&mut self, raw: &Raw, initial: bool, in_order: bool) {
        match raw {
            Raw::Upsert(it, Cause::Sync) => {
                let key = key(KEYS[it.key]);
                if let Some(state) = self.states.get(&key) {
                    self.changes.push(format!("Resynced {}", state.show(&key)));
                }
            }
            Raw::Upsert(it, cause) => {
                if !self.upsert(it, initial) {
                    self.kept.push(format!(
                        "{cause:?} {}",
                        shown(&key(KEYS[it.key]), it.version, UIDS[it.uid], false)
                    ));
                } else if in_order && *cause != Cause::Listed {
                    self.advance(it.version, false);
                }
            }
            Raw::Delete {
                key: at,
                version,
                uid,
                last,
                observed,
            } => {
                let key = key(KEYS[*at]);
                self.unread.remove(&key);
                if let Some(old) = self.states.remove(&key) {
                    let same = same_uid(old.uid, UIDS[*uid]);
                    let told = if *last && same {
                        shown(&key, *version, UIDS[*uid], false)
                    } else {
                        old.show(&key)
                    };
                    let seen = if *observed && same { "" } else { " unobserved" };
                    self.changes.push(format!("Removed {told}{seen}"));
                }
                if in_order && *observed {
                    self.advance(*version, false);
                }
            }
            Raw::Unreadable { key: at, version } => {
                self.mark(&key(KEYS[*at]));
                if in_order {
                    self.advance(*version, false);
                }
            }
            Raw::Replace {
                items,
                unreadable,
                at,
                may_rewind,
            } => {
                self.replace(items, unreadable, initial);
                self.advance(*at, *may_rewind);
            }
            Raw::Resync => {
                for (key, state) in &self.states {
                    self.changes.push(format!("Resynced {}", state.show(key)));
                }
            }
            Raw::Bookmark { at, may_rewind } => self.advance(*at, *may_rewind),
        }
    }

    fn mark(&mut self, key: &ObjectKey) {
        match self.states.get_mut(key) {
            Some(state) => state.stale = true,
            None => drop(self.unread.insert(key.clone())),
        }
    }

    fn replace(&mut self, items: &[Object], unreadable: &[usize], initial: bool) {
        self.unread.clear();
        for at in unreadable {
            if !items.iter().any(|it| it.key == *at) {
                self.mark(&key(KEYS[*at]));
            }
        }
        for key in self.states.clone().into_keys() {
            if items.iter().any(|it| key.to_string() == KEYS[it.key]) {
                continue;
            }
            if unreadable.iter().any(|at| key.to_string() == KEYS[*at]) {
                self.states.get_mut(&key).unwrap().stale = true;
            } else {
                let old = self.states.remove(&key).unwrap();
                self.changes
                    .push(format!("Removed {} unobserved", old.show(&key)));
            }
        }
        for (at, it) in items.iter().enumerate() {
            if items[at + 1..].iter().any(|later| later.key == it.key) {
                continue;
            }
            if !self.upsert(it, initial) {
                let key = key(KEYS[it.key]);
                self.mark(&key);
                self.kept
                    .push(format!("Listed {}", shown(&key, it.version, UIDS[it.uid], false)));
            }
        }
    }

    fn with_tag(&self, tag: &str) -> Vec<ObjectKey> {
        let tagged = self.states.iter().filter(|(_, state)| state.tags.contains(tag));
        tagged.map(|(key, _)| key.clone()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_store_does_what_a_sorted_map_does(steps in vec(step(), 0..20)) {
        let (mut writer, reader) = tagged();
        let mut model = Model::default();
        let mut indices = vec!["tag".to_owned()];
        let mut kept_views = Vec::new();
        for step in &steps {
            match step {
                Step::AddIndex => {
                    let name = format!("late-{}", indices.len());
                    reader.add_index(name.as_str(), |it: &Thing, emit: &mut dyn FnMut(&str)| {
                        it.tags.iter().for_each(|tag| emit(tag));
                    }).unwrap();
                    indices.push(name);
                }
                Step::Commit { deltas: raw, initial, in_order } => {
                    let mut batch = Batch { deltas: deltas(raw), initial: *initial, in_order: *in_order };
                    model.changes.clear();
                    model.failed.clear();
                    model.kept.clear();
                    for delta in raw {
                        model.apply(delta, *initial, *in_order);
                    }
                    let mut changes = Vec::new();
                    let result = informer_core::StoreWriter::commit(&mut writer, &mut batch, &mut changes);
                    prop_assert_eq!(lines(&changes), model.changes.join("\n"));
                    let failed: Vec<_> = result.err().into_iter().flat_map(|it| it.failed).map(|it| it.key.to_string()).collect();
                    prop_assert_eq!(&failed, &model.failed);
                    let kept: Vec<_> = batch.deltas.iter().map(|it| format!("{it:?}")).collect();
                    prop_assert_eq!(&kept, &model.kept);
                }
            }
            let view = reader.view();
            let shown: Vec<_> = view.iter().map(|it| format!("{it:?}")).collect();
            let expected: Vec<_> = model.states.iter().map(|(key, state)| state.show(key)).collect();
            prop_assert_eq!(&shown, &expected);
            prop_assert_eq!(view.len(), expected.len());
            prop_assert!(view.unreadable().eq(&model.unread));
            prop_assert_eq!(view.applied().as_str(), version(model.applied));
            for index in &indices {
                let values: BTreeSet<_> = model.states.values().flat_map(|it| it.tags.iter().copied()).collect();
                let found: Vec<_> = view.index_values(index).unwrap();
                prop_assert_eq!(found.iter().map(|it| &**it).collect::<Vec<_>>(), values.into_iter().collect::<Vec<_>>());
                let either = BTreeSet::from_iter([model.with_tag("x"), model.with_tag("y")].concat());
                let found = view.by_object(index, &thing(&["x", "y"], Bad::No)).unwrap();
                prop_assert_eq!(found.iter().map(|it| &it.key).collect::<Vec<_>>(), either.iter().collect::<Vec<_>>());
                for tag in TAGS {
                    prop_assert_eq!(view.index_keys(index, tag).unwrap(), model.with_tag(tag));
                    let entries = reader.by_index(index, tag).unwrap();
                    prop_assert_eq!(entries.into_iter().map(|it| it.key).collect::<Vec<_>>(), model.with_tag(tag));
                }
            }
            kept_views.push((view, reader.page(2), shown));
        }
        // Every view that was taken on the way is as it was.
        for (view, mut page, shown) in kept_views {
            prop_assert_eq!(view.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>(), shown.clone());
            // And so is a list that was begun then.
            let mut entries = page.entries;
            while let Some(next) = page.next {
                page = next.page(3);
                prop_assert!(!page.entries.is_empty());
                entries.append(&mut page.entries);
            }
            prop_assert_eq!(entries.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>(), shown);
        }
        let _ = commit_batch(&mut writer, &mut Batch::default());
    }
}
