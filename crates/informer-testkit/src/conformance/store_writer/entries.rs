//! Deltas of one entry.

use informer_core::{Batch, Cause, Delta, Stamp};

use super::both::Both;
use crate::conformance::{
    Samples,
    check::Outcome,
    rig::{StoreRig, deleted, list, modified},
    samples::reborn,
};

pub(super) fn a_new_key<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::new(rig);
    both.commit_batch(Batch::of(modified(both.entry(0, 0, "1")), true))?;
    both.commit_batch(Batch::of(
        Delta::Upsert(both.entry(1, 0, "2"), Cause::Added),
        false,
    ))?;
    both.commit_batch(Batch::of(
        Delta::Upsert(both.entry(2, 0, "3"), Cause::Listed),
        true,
    ))?;
    both.commit_batch(Batch::of(list(vec![both.entry(3, 0, "4")], "5"), true))?;
    both.commit_batch(Batch::of(list(vec![both.entry(4, 0, "4")], "6"), false))
}

pub(super) fn another_version<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    both.commit(modified(both.entry(0, 1, "11")))?;
    both.commit(Delta::Upsert(both.entry(0, 2, "12"), Cause::Added))?;
    both.commit_batch(Batch::of(modified(both.entry(0, 3, "13")), true))?;
    // An older version is another, too: the source knows what it says.
    both.commit(modified(both.entry(0, 4, "12")))
}

pub(super) fn another_uid<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    both.commit(modified(reborn(&rig.samples, 0, 1, "11")))?;
    both.commit(list(
        vec![reborn(&rig.samples, 0, 1, "11"), reborn(&rig.samples, 1, 0, "12")],
        "12",
    ))?;
    // The same version of another life.
    both.commit(modified(both.entry(1, 0, "12")))?;
    // Without a uid there is nothing to tell them apart.
    let mut nameless = both.entry(1, 2, "14");
    nameless.stamp.uid = "".into();
    both.commit(modified(nameless))?;
    both.commit(modified(both.entry(1, 3, "15")))
}

pub(super) fn the_stored_stamp<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    // Another copy, and other contents, which nobody must look at.
    both.commit(modified(both.entry(0, 0, "1")))?;
    both.commit(Delta::Upsert(both.entry(0, 3, "1"), Cause::Added))?;
    both.commit(Delta::Upsert(both.entry(1, 0, "2"), Cause::Listed))?;
    both.commit(Delta::Upsert(both.entry(1, 0, "2"), Cause::Sync))
}

pub(super) fn without_a_version<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::new(rig);
    let first = both.entry(0, 0, "");
    both.commit(modified(first.clone()))?;
    both.commit(modified(first.clone()))?;
    both.commit(modified(both.entry(0, 1, "")))?;
    both.commit(list(vec![first.clone()], ""))?;
    both.commit(list(vec![first], ""))
}

pub(super) fn a_sync<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    let old = both.entry(0, 0, "1");
    both.commit(modified(both.entry(0, 1, "11")))?;
    both.commit(Delta::Upsert(old, Cause::Sync))?;
    both.commit(deleted(both.entry(1, 0, "12")))?;
    both.commit(Delta::Upsert(both.entry(1, 0, "2"), Cause::Sync))
}

pub(super) fn a_delete<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 3)?;
    both.commit(deleted(both.entry(0, 3, "11")))?;
    let without_last = |n, version: &str, observed| Delta::Delete {
        key: rig.samples.key(n),
        stamp: Stamp::new(version, format!("uid-{n}")),
        last: None,
        observed,
    };
    both.commit(without_last(1, "12", true))?;
    both.commit(without_last(2, "13", false))?;
    both.commit(modified(both.entry(0, 0, "14")))
}

pub(super) fn a_delete_of_nothing<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 1)?;
    both.commit(deleted(both.entry(5, 0, "11")))?;
    both.commit(deleted(both.entry(0, 0, "12")))?;
    both.commit(deleted(both.entry(0, 0, "13")))
}

pub(super) fn a_delete_of_another<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    both.commit(deleted(reborn(&rig.samples, 0, 3, "11")))?;
    both.commit(Delta::Delete {
        key: rig.samples.key(1),
        stamp: Stamp::new("12", "another"),
        last: None,
        observed: false,
    })
}

pub(super) fn unreadable<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 3)?;
    let unreadable = |n, version: &str| Delta::Unreadable {
        key: rig.samples.key(n),
        stamp: Stamp::new(version, format!("uid-{n}")),
    };
    for n in [0, 0, 1, 2, 7] {
        both.commit(unreadable(n, &format!("{}", 11 + n)))?;
    }
    // The stored state again, another state, another life.
    both.commit(modified(both.entry(0, 0, "1")))?;
    both.commit(modified(both.entry(1, 1, "20")))?;
    both.commit(modified(reborn(&rig.samples, 2, 1, "21")))
}
