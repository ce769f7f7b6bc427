//! The applied version.

use informer_core::{Batch, Cause, Delta, Stamp};

use super::both::{Both, DeltaOf};
use crate::conformance::{
    Samples,
    check::Outcome,
    rig::{StoreRig, bookmark, deleted, list, modified},
    samples::entry,
};

/// One delta of each sort, at growing versions.
fn one_of_each<S: Samples>(rig: &StoreRig<S>, from: u32) -> Vec<DeltaOf<S>> {
    let version = |n: u32| format!("{}", from + n);
    let unread = Delta::Unreadable {
        key: rig.samples.key(2),
        stamp: Stamp::new(&*version(2), "uid-2"),
    };
    let concluded = Delta::Delete {
        key: rig.samples.key(3),
        stamp: Stamp::new(&*version(3), "uid-3"),
        last: None,
        observed: false,
    };
    vec![
        modified(entry(&rig.samples, 0, 1, &version(0))),
        deleted(entry(&rig.samples, 1, 0, &version(1))),
        unread,
        concluded,
        Delta::Upsert(entry(&rig.samples, 4, 1, &version(4)), Cause::Listed),
        Delta::Upsert(entry(&rig.samples, 0, 1, &version(5)), Cause::Sync),
        Delta::Resync,
        bookmark(&version(6)),
        list(vec![entry(&rig.samples, 0, 2, &version(7))], &version(8)),
    ]
}

pub(super) fn applied_follows<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 6)?;
    for delta in one_of_each(rig, 20) {
        both.commit(delta)?;
    }
    // All of a batch, in their order.
    let mut both = Both::filled(rig, 6)?;
    let deltas = one_of_each(rig, 20).into_iter().take(5).collect();
    both.commit_batch(Batch {
        deltas,
        initial: false,
        in_order: true,
    })
}

pub(super) fn applied_by_marks_alone<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 6)?;
    for delta in one_of_each(rig, 20) {
        both.commit_batch(Batch {
            deltas: vec![delta],
            initial: false,
            in_order: false,
        })?;
    }
    Ok(())
}

pub(super) fn applied_goes_forward<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    let rewind = |at: &str| Delta::Bookmark {
        at: at.into(),
        may_rewind: true,
    };
    both.commit(modified(both.entry(0, 1, "9")))?;
    both.commit(bookmark("9"))?;
    both.commit(list(vec![both.entry(0, 2, "8")], "8"))?;
    both.commit(bookmark("100"))?;
    both.commit(bookmark("99"))?;
    both.commit(rewind("50"))?;
    both.commit(bookmark("49"))?;
    both.commit(Delta::Replace {
        items: vec![both.entry(1, 1, "30")],
        unreadable: Vec::new(),
        at: "40".into(),
        may_rewind: true,
    })?;
    both.commit(modified(both.entry(1, 2, "41")))
}

pub(super) fn applied_without_order<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    for at in ["abc", "", "aaa", "7", "", "007", "6"] {
        both.commit(bookmark(at))?;
        both.commit(modified(both.entry(0, 1, at)))?;
    }
    Ok(())
}
