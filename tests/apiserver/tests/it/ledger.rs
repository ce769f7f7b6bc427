//! What a handler was told, checked as it is told.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer_core::{Change, EventHandler, ObjectKey, Stamp};

use crate::support::{Contents, state_of};

/// One change as a handler was told, without the objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Added {
        key: String,
        state: String,
        initial: bool,
    },
    Updated {
        key: String,
        old: String,
        new: String,
    },
    Removed {
        key: String,
        state: String,
        observed: bool,
    },
    Resynced {
        key: String,
    },
}

/// What a handler was told, checked as it is told: per key a gapless chain forward. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    held: BTreeMap<String, Stamp>,
    told: Vec<Told>,
    faults: Vec<String>,
}

impl Ledger {
    /// What it was told, in order.
    pub(crate) fn told(&self) -> Vec<Told> {
        self.lock().told.clone()
    }

    pub(crate) fn n_told(&self) -> usize {
        self.lock().told.len()
    }

    /// What must be there, by what it was told alone.
    pub(crate) fn held(&self) -> Contents {
        let pages = self.lock();
        pages
            .held
            .iter()
            .map(|(key, stamp)| (key.clone(), state_of(stamp)))
            .collect()
    }

    /// Fails if any chain had a gap, went backward or told a state twice.
    pub(crate) fn assert_sound(&self) {
        assert_eq!(self.lock().faults, Vec::<String>::new());
    }

    pub(crate) fn tell<K>(&self, change: &Change<ObjectKey, K>) {
        self.lock().tell(change);
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> EventHandler<ObjectKey, K> for Ledger {
    fn on_change(&mut self, change: &Change<ObjectKey, K>) {
        self.tell(change);
    }
}

impl Pages {
    fn tell<K>(&mut self, change: &Change<ObjectKey, K>) {
        let key = change.key().to_string();
        let stamp = change.entry().stamp.clone();
        let held = self.held.get(&key).cloned();
        let fault = match (change, &held) {
            (Change::Added { .. }, None) | (Change::Resynced { .. }, Some(_)) => None,
            (Change::Updated { old, new }, Some(held)) if old.stamp == *held => {
                let forward = new
                    .stamp
                    .version
                    .compare(&held.version)
                    .is_ok_and(|order| order.is_gt());
                (!forward || new.stamp.uid != held.uid).then_some("no step forward")
            }
            (Change::Removed { observed: true, .. }, Some(held)) => {
                let forward = stamp
                    .version
                    .compare(&held.version)
                    .is_ok_and(|order| order.is_gt());
                (!forward || stamp.uid != held.uid).then_some("the end of another state")
            }
            (Change::Removed { observed: false, .. }, Some(held)) => {
                (stamp != *held).then_some("not the last state that was told")
            }
            _ => Some("it does not follow"),
        };
        if let Some(fault) = fault {
            self.faults.push(format!("{change:?} after {held:?}: {fault}"));
        }
        let state = state_of(&stamp);
        self.told.push(match change {
            Change::Added { initial, .. } => Told::Added {
                key: key.clone(),
                state,
                initial: *initial,
            },
            Change::Updated { old, .. } => Told::Updated {
                key: key.clone(),
                old: state_of(&old.stamp),
                new: state,
            },
            Change::Removed { observed, .. } => Told::Removed {
                key: key.clone(),
                state,
                observed: *observed,
            },
            Change::Resynced { .. } => Told::Resynced { key: key.clone() },
        });
        match change {
            Change::Removed { .. } => self.held.remove(&key),
            _ => self.held.insert(key, stamp),
        };
    }
}
