//! A small world that a source tells of, with its past: what a store behind it may hold.

use std::collections::BTreeMap;

use informer_core::{Cause, Delta, Entry, Stamp};

use super::{
    Samples,
    check::{Outcome, ensure},
    rig::list,
    samples::{entry, reborn},
};
use crate::Rng;

const N_OBJECTS: u32 = 6;

type EntryOf<S> = Entry<<S as Samples>::Key, <S as Samples>::Object>;
type DeltaOf<S> = Delta<<S as Samples>::Key, <S as Samples>::Object>;

/// The world and its past.
pub(super) struct World<'a, S: Samples> {
    samples: &'a S,
    pub(super) now: u64,
    pub(super) objects: BTreeMap<u32, EntryOf<S>>,
    /// What there was at each version.
    past: BTreeMap<u64, BTreeMap<u32, Stamp>>,
}

impl<'a, S: Samples> World<'a, S> {
    /// A world of some objects.
    pub(super) fn new(samples: &'a S, rng: &mut Rng) -> Self {
        let mut world = Self {
            samples,
            now: 10,
            objects: BTreeMap::new(),
            past: BTreeMap::new(),
        };
        world.note();
        for _ in 0..rng.index(8) {
            world.change(rng);
        }
        world
    }

    /// Something happens, and a watch tells it.
    pub(super) fn change(&mut self, rng: &mut Rng) -> DeltaOf<S> {
        self.now += 1;
        let version = self.now.to_string();
        let n = u32::try_from(rng.range(0..u64::from(N_OBJECTS))).unwrap_or(0);
        let state = u32::try_from(rng.range(0..5)).unwrap_or(0);
        let existing = self.objects.get(&n).map(|it| it.stamp.uid.clone());
        let delta = match existing {
            Some(uid) if rng.chance(0.35) => {
                let last = self.objects.remove(&n).map(|it| it.object);
                Delta::Delete {
                    key: self.samples.key(n),
                    stamp: Stamp::new(&*version, uid),
                    last: last.filter(|_| rng.chance(0.7)),
                    observed: true,
                }
            }
            Some(uid) => {
                let mut entry = entry(self.samples, n, state, &version);
                entry.stamp.uid = uid;
                self.objects.insert(n, entry.clone());
                Delta::Upsert(entry, Cause::Modified)
            }
            None => {
                let entry = reborn(self.samples, n, state, &version);
                self.objects.insert(n, entry.clone());
                Delta::Upsert(entry, Cause::Added)
            }
        };
        self.note();
        delta
    }

    /// All there is.
    pub(super) fn list(&self) -> DeltaOf<S> {
        list(self.objects.values().cloned().collect(), &self.now.to_string())
    }

    fn note(&mut self) {
        let stamps = self.objects.iter().map(|(n, entry)| (*n, entry.stamp.clone()));
        self.past.insert(self.now, stamps.collect());
    }

    /// Whether this is all there is.
    pub(super) fn is(&self, held: &[EntryOf<S>]) -> Outcome {
        let mut wanted: Vec<&EntryOf<S>> = self.objects.values().collect();
        wanted.sort_by(|a, b| a.key.cmp(&b.key));
        let same = held.len() == wanted.len()
            && held
                .iter()
                .zip(&wanted)
                .all(|(a, b)| a.key == b.key && a.stamp == b.stamp && !a.stale);
        ensure!(
            same,
            "nothing waits any more; the source holds {wanted:?}, the store {held:?}"
        );
        Ok(())
    }

    /// Whether a store that has applied this version may hold this: each object as it was then, or later.
    pub(super) fn may_be(&self, held: &[EntryOf<S>], applied: &str) -> Outcome {
        let Ok(applied) = applied.parse::<u64>() else {
            return Ok(());
        };
        let Some(then) = self.past.get(&applied) else {
            return Err(format!(
                "the store has applied {applied}, a version that the source never told"
            ));
        };
        for n in 0..N_OBJECTS {
            let key = self.samples.key(n);
            let stored = held.iter().find(|it| it.key == key);
            let fits = match (then.get(&n), stored) {
                (Some(stamp), Some(stored)) => number(&stored.stamp) >= number(stamp),
                (Some(_), None) => self
                    .past
                    .range(applied..)
                    .any(|(_, objects)| !objects.contains_key(&n)),
                (None, Some(stored)) => number(&stored.stamp) > applied,
                (None, None) => true,
            };
            ensure!(
                fits,
                "the store has applied {applied}, when {key:?} was at {:?}, and holds {stored:?}",
                then.get(&n)
            );
        }
        Ok(())
    }
}

fn number(stamp: &Stamp) -> u64 {
    stamp.version.as_str().parse().unwrap_or(0)
}
