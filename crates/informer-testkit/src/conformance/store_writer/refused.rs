//! A commit as a whole: what cannot be applied, and what is seen meanwhile.

use std::sync::{Arc, Mutex, PoisonError};

use informer_core::{Batch, Cause, Change, Delta, Store, StoreWriter};

use super::both::{Both, EntryOf};
use crate::conformance::{
    Refusal, Samples,
    check::{Outcome, ensure},
    probe::elsewhere,
    rig::{StoreRig, deleted, list, modified, same_all, scanned},
};

pub(super) fn refused_by_error<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    refused(rig, Refusal::Error)
}

pub(super) fn refused_by_panic<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    refused(rig, Refusal::Panic)
}

fn refused<S: Samples>(rig: &StoreRig<S>, how: Refusal) -> Outcome {
    let mut both = Both::filled(rig, 3)?;
    let (Some(first), Some(second)) = (both.refused(0, "11", how), both.refused(7, "12", how)) else {
        return Ok(());
    };
    let deltas = vec![
        modified(both.entry(1, 1, "13")),
        modified(first),
        modified(both.entry(8, 0, "14")),
        Delta::Upsert(second, Cause::Added),
        deleted(both.entry(2, 0, "15")),
    ];
    both.commit_batch(Batch {
        deltas,
        initial: false,
        in_order: true,
    })?;
    // Nothing is left of it: the store goes on.
    both.commit(modified(both.entry(0, 2, "16")))?;
    both.commit(modified(both.entry(7, 2, "17")))
}

pub(super) fn refused_in_a_list<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    for how in [Refusal::Error, Refusal::Panic] {
        let mut both = Both::filled(rig, 3)?;
        let (Some(known), Some(unknown)) = (both.refused(0, "11", how), both.refused(7, "12", how)) else {
            return Ok(());
        };
        let items = vec![both.entry(1, 1, "13"), known, unknown, both.entry(8, 1, "14")];
        both.commit_batch(Batch::of(list(items, "20"), true))?;
        both.commit(modified(both.entry(0, 3, "21")))?;
    }
    Ok(())
}

pub(super) fn all_at_once<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(3)?;
    let before = scanned(&*instance.store.snapshot(), None);
    let seen: Arc<Mutex<Vec<Vec<EntryOf<S>>>>> = Arc::default();
    let (store, notes) = (instance.store.clone(), seen.clone());
    instance.during_a_commit(move || {
        let store = store.clone();
        let read = elsewhere(move || scanned(&*store.snapshot(), None));
        // One that waits for the end of the commit sees no part of it.
        notes.lock().unwrap_or_else(PoisonError::into_inner).extend(read);
    });
    let items = [7, 8, 9].map(|n| instance.entry(n, 1, "11"));
    instance.commit(list(items.to_vec(), "12"))?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    match seen.iter().find(|seen| !same_all(seen, &before)) {
        None => Ok(()),
        Some(seen) => Err(format!(
            "during a commit, a reader saw {seen:?} instead of what was before, {before:?}"
        )),
    }
}

pub(super) fn appends<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(1)?;
    let mut changes = vec![Change::Resynced {
        current: instance.entry(5, 0, "5"),
    }];
    let mut batch = Batch::of(modified(instance.entry(0, 1, "11")), false);
    let result = instance.writer.commit(&mut batch, &mut changes);
    ensure!(
        result.is_ok() && batch.is_empty(),
        "a commit failed that must not: {result:?}"
    );
    ensure!(
        matches!(changes[..], [Change::Resynced { .. }, Change::Updated { .. }]),
        "changes held one, a commit told one more, and now they are {changes:?}"
    );
    let result = instance.writer.commit(&mut batch, &mut changes);
    ensure!(
        result.is_ok() && changes.len() == 2,
        "a commit of nothing told {changes:?}"
    );
    Ok(())
}
