//! Whatever may come.

use std::sync::Arc;

use informer_core::{Batch, Cause, Delta, Entry};

use super::both::{Both, DeltaOf, EntryOf};
use crate::{
    Rng,
    conformance::{Refusal, Samples, check::Outcome, rig::StoreRig, samples::reborn},
};

/// Whatever may come, on few keys, with versions that repeat, go back, and cannot be compared.
pub(super) fn as_the_rules_say<S: Samples>(rig: &StoreRig<S>, rng: &mut Rng) -> Outcome {
    let mut both = Both::new(rig);
    for at in 1..60 {
        let mut batch = match rng.index(6) {
            0 => Batch::of(random_list(&mut both, rng, at), false),
            1 => Batch::of(
                if rng.chance(0.5) {
                    Delta::Resync
                } else {
                    Delta::Bookmark {
                        at: version(rng, at).as_str().into(),
                        may_rewind: rng.chance(0.2),
                    }
                },
                false,
            ),
            _ => Batch {
                deltas: random_deltas(&mut both, rng, at),
                ..Batch::default()
            },
        };
        batch.initial = rng.chance(0.3);
        batch.in_order = rng.chance(0.7);
        both.commit_batch(batch)?;
    }
    Ok(())
}

fn version(rng: &mut Rng, at: u64) -> String {
    match rng.index(12) {
        0 => String::new(),
        1 => "some-version".to_owned(),
        2 | 3 => format!("{}", 1 + rng.range(0..at)),
        _ => format!("{at}"),
    }
}

fn random_entry<S: Samples>(both: &mut Both<'_, S>, rng: &mut Rng, n: u32, at: u64) -> EntryOf<S> {
    let version = version(rng, at);
    let state = u32::try_from(rng.range(0..5)).unwrap_or(0);
    let stored = both.wanted.entries.get(&both.tested.samples.key(n)).cloned();
    match (rng.index(12), stored) {
        (0, _) => reborn(both.tested.samples, n, state, &version),
        (1, _) => {
            let how = if rng.chance(0.9) {
                Refusal::Error
            } else {
                Refusal::Panic
            };
            let refused = both.refused(n, &version, how);
            refused.unwrap_or_else(|| both.entry(n, state, &version))
        }
        (2, _) => {
            let mut entry = both.entry(n, state, &version);
            entry.stamp.uid = "".into();
            entry
        }
        // The very same, and the same state in another copy.
        (3, Some(stored)) => Entry {
            stale: false,
            ..stored
        },
        (4 | 5, Some(stored)) => Entry::new(
            stored.key,
            stored.stamp,
            Arc::new(both.tested.samples.object(n, state)),
        ),
        _ => both.entry(n, state, &version),
    }
}

fn random_list<S: Samples>(both: &mut Both<'_, S>, rng: &mut Rng, at: u64) -> DeltaOf<S> {
    let (mut items, mut unreadable) = (Vec::new(), Vec::new());
    for n in 0..8 {
        for _ in 0..rng.index(3) {
            items.push(random_entry(both, rng, n, at));
        }
        if rng.chance(0.15) {
            unreadable.push(both.tested.samples.key(n));
        }
    }
    Delta::Replace {
        items,
        unreadable,
        at: version(rng, at).as_str().into(),
        may_rewind: rng.chance(0.2),
    }
}

fn random_deltas<S: Samples>(both: &mut Both<'_, S>, rng: &mut Rng, at: u64) -> Vec<DeltaOf<S>> {
    let mut deltas = Vec::new();
    for n in (0..8).filter(|_| rng.chance(0.4)).collect::<Vec<_>>() {
        let entry = random_entry(both, rng, n, at);
        deltas.push(match rng.index(8) {
            0 => Delta::Unreadable {
                key: entry.key,
                stamp: entry.stamp,
            },
            1 | 2 => Delta::Delete {
                key: entry.key,
                stamp: entry.stamp,
                last: rng.chance(0.5).then_some(entry.object),
                observed: rng.chance(0.7),
            },
            3 => Delta::Upsert(entry, Cause::Sync),
            4 => Delta::Upsert(entry, Cause::Listed),
            5 => Delta::Upsert(entry, Cause::Added),
            _ => Delta::Upsert(entry, Cause::Modified),
        });
    }
    deltas
}
