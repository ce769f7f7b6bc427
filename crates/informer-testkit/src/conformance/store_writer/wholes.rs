//! Deltas about the whole.

use informer_core::Delta;

use super::both::Both;
use crate::conformance::{
    Samples,
    check::Outcome,
    rig::{StoreRig, bookmark, deleted, list},
};

pub(super) fn a_list<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 4)?;
    both.commit(list(
        vec![
            both.entry(5, 0, "12"),
            both.entry(2, 0, "3"),
            both.entry(1, 1, "11"),
        ],
        "13",
    ))?;
    both.commit(list(Vec::new(), "14"))
}

pub(super) fn a_list_again<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 4)?;
    let copies = |both: &Both<'_, S>| (0..4).map(|n| both.entry(n, 0, &format!("{}", n + 1))).collect();
    both.commit(list(copies(&both), "20"))?;
    both.commit(Delta::Replace {
        items: copies(&both),
        unreadable: Vec::new(),
        at: "15".into(),
        may_rewind: true,
    })
}

pub(super) fn a_key_twice<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    let twice = vec![
        both.entry(0, 2, "12"),
        both.entry(1, 0, "2"),
        both.entry(0, 1, "11"),
    ];
    both.commit(list(twice, "13"))?;
    let twice = vec![both.entry(0, 2, "12"), both.entry(0, 1, "11")];
    both.commit(list(twice, "14"))
}

pub(super) fn a_list_with_gaps<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 4)?;
    both.commit(Delta::Replace {
        items: vec![both.entry(1, 1, "11"), both.entry(2, 0, "3")],
        // One that is stored, one that was read as well, one that nobody knows.
        unreadable: vec![rig.samples.key(0), rig.samples.key(1), rig.samples.key(8)],
        at: "12".into(),
        may_rewind: false,
    })
}

pub(super) fn a_resync<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 4)?;
    both.commit(Delta::Resync)?;
    both.commit(deleted(both.entry(2, 0, "11")))?;
    both.commit(Delta::Resync)?;
    both.commit(list(Vec::new(), "12"))?;
    both.commit(Delta::Resync)
}

pub(super) fn a_bookmark<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    both.commit(bookmark("20"))?;
    both.commit(bookmark("20"))?;
    both.commit(bookmark("21"))
}
