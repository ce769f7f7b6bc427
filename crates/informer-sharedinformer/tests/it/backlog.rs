//! The backlog: the table of merges, every pair of it, and chains that stay gapless whatever is popped when.

use std::collections::BTreeMap;

use informer_core::{Change, ObjectKey};
use informer_sharedinformer::backlog::{Backlog, BacklogPolicy, Merged, merge};
use proptest::prelude::*;

use crate::support::{Pod, assert_gapless, key, pod, pod_of};

type PodChange = Change<ObjectKey, Pod>;

fn added(version: u64) -> PodChange {
    Change::Added {
        new: pod("ns/a", version),
        initial: true,
    }
}

fn updated(old: u64, new: u64) -> PodChange {
    Change::Updated {
        old: pod("ns/a", old),
        new: pod("ns/a", new),
    }
}

fn removed(version: u64) -> PodChange {
    Change::Removed {
        last: pod("ns/a", version),
        observed: true,
    }
}

fn resynced(version: u64) -> PodChange {
    Change::Resynced {
        current: pod("ns/a", version),
    }
}

#[test]
fn every_pair_of_changes_merges_by_the_table() {
    let waiting = [added(2), updated(1, 2), removed(2), resynced(2)];
    let next = [added(3), updated(2, 3), removed(3), resynced(2)];
    let expected = [
        "both",
        r#"Added "ns/a"@3 initial"#,
        "nothing",
        r#"Added "ns/a"@2 initial"#,
        "both",
        r#"Updated "ns/a"@1 -> "ns/a"@3"#,
        r#"Removed "ns/a"@3"#,
        r#"Updated "ns/a"@1 -> "ns/a"@2"#,
        "both",
        "both",
        "both",
        "both",
        "both",
        r#"Updated "ns/a"@2 -> "ns/a"@3"#,
        r#"Removed "ns/a"@3"#,
        r#"Resynced "ns/a"@2"#,
    ];
    let mut results = Vec::new();
    for waiting in &waiting {
        for next in &next {
            results.push(match merge(waiting.clone(), next.clone()) {
                Merged::One(change) => format!("{change:?}"),
                Merged::Nothing => "nothing".to_owned(),
                Merged::Both(first, second) => {
                    assert_eq!(format!("{first:?} {second:?}"), format!("{waiting:?} {next:?}"));
                    "both".to_owned()
                }
            });
        }
    }
    assert_eq!(results, expected);
}

#[test]
fn nothing_merges_below_the_limit() {
    let mut backlog = Backlog::new(BacklogPolicy::Merge { limit: 3 });
    backlog.push(added(1));
    backlog.push(updated(1, 2));
    backlog.push(updated(2, 3));
    assert_eq!((backlog.len(), backlog.n_merged()), (3, 0));
    backlog.push(updated(3, 4));
    assert_eq!((backlog.len(), backlog.n_merged()), (3, 1));
    let all: Vec<_> = std::iter::from_fn(|| backlog.pop()).collect();
    assert_eq!(
        all.iter().map(|change| format!("{change:?}")).collect::<Vec<_>>(),
        [
            r#"Added "ns/a"@1 initial"#,
            r#"Updated "ns/a"@1 -> "ns/a"@2"#,
            r#"Updated "ns/a"@2 -> "ns/a"@4"#,
        ]
    );
}

#[test]
fn an_unbounded_backlog_keeps_everything() {
    let mut backlog = Backlog::new(BacklogPolicy::Unbounded);
    backlog.push(added(1));
    for n in 1..5000 {
        backlog.push(updated(n, n + 1));
    }
    assert_eq!(
        (backlog.len(), backlog.n_merged(), backlog.has_room()),
        (5000, 0, true)
    );
}

#[test]
fn an_object_that_came_and_went_leaves_nothing_and_what_was_before_it_counts_again() {
    let mut backlog = Backlog::new(BacklogPolicy::Merge { limit: 1 });
    backlog.push(Change::Removed {
        last: pod_of("ns/a", 1, "u1"),
        observed: true,
    });
    for round in 1..100_u64 {
        let (first, last) = (round * 10, round * 10 + 1);
        let uid = format!("v{round}");
        backlog.push(Change::Added {
            new: pod_of("ns/a", first, &uid),
            initial: false,
        });
        assert_eq!(backlog.len(), 2);
        backlog.push(Change::Removed {
            last: pod_of("ns/a", last, &uid),
            observed: true,
        });
        assert_eq!(backlog.len(), 1);
    }
    assert_eq!(format!("{:?}", backlog.pop().unwrap()), r#"Removed "ns/a"@1#u1"#);
    assert!(backlog.pop().is_none());
}

#[derive(Debug, Clone)]
enum Step {
    /// The state of a key moves on: appears, changes, vanishes, is replaced by another object.
    Change(u8, u8),
    Resync,
    Pop(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0..6_u8, 0..8_u8).prop_map(|(key, what)| Step::Change(key, what)),
        1 => Just(Step::Resync),
        3 => (1..5_u8).prop_map(Step::Pop),
    ];
    prop::collection::vec(step, 0..400)
}

proptest! {
    #[test]
    fn chains_stay_gapless_and_end_at_the_last_state(steps in steps(), limit in 0..12_usize) {
        let mut backlog = Backlog::new(BacklogPolicy::Merge { limit });
        let mut truth: BTreeMap<ObjectKey, informer_core::Entry<ObjectKey, Pod>> = BTreeMap::new();
        let mut told: Vec<PodChange> = Vec::new();
        let mut version = 0;
        for step in steps {
            match step {
                Step::Change(name, what) => {
                    version += 1;
                    let name = format!("ns/{name}");
                    let before = truth.get(&key(&name)).cloned();
                    let uid = before.as_ref().map_or_else(|| format!("u{version}"), |it| it.stamp.uid.to_string());
                    let new = pod_of(&name, version, &uid);
                    match (before, what) {
                        (None, _) => {
                            backlog.push(Change::Added { new: new.clone(), initial: what < 2 });
                            truth.insert(new.key.clone(), new);
                        }
                        (Some(_), 0) => {
                            backlog.push(Change::Removed { last: new.clone(), observed: true });
                            truth.remove(&new.key);
                        }
                        (Some(old), 1) => {
                            let new = pod_of(&name, version, &format!("u{version}"));
                            backlog.push(Change::Removed { last: old, observed: false });
                            backlog.push(Change::Added { new: new.clone(), initial: false });
                            truth.insert(new.key.clone(), new);
                        }
                        (Some(old), _) => {
                            backlog.push(Change::Updated { old, new: new.clone() });
                            truth.insert(new.key.clone(), new);
                        }
                    }
                }
                Step::Resync => {
                    for current in truth.values() {
                        backlog.push(Change::Resynced { current: current.clone() });
                    }
                }
                Step::Pop(n) => told.extend((0..n).map_while(|_| backlog.pop())),
            }
            // At most two changes of each of the six keys beyond the limit.
            prop_assert!(backlog.len() <= limit + 12, "{} wait", backlog.len());
        }
        let waiting = backlog.len();
        let rest: Vec<_> = std::iter::from_fn(|| backlog.pop()).collect();
        prop_assert_eq!(rest.len(), waiting);
        prop_assert_eq!(backlog.n_initial(), 0);
        told.extend(rest);
        let end = assert_gapless(&told);
        let truth: BTreeMap<_, _> = truth.into_iter().map(|(key, entry)| (key, entry.stamp)).collect();
        prop_assert_eq!(end, truth);
    }
}
