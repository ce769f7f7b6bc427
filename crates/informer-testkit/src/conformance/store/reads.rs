//! What is read of one state.

use std::{ops::ControlFlow, sync::Arc};

use informer_core::{Entry, ResourceVersion, Snapshot, Store};

use crate::{
    Rng,
    conformance::{
        Samples,
        check::{Outcome, ensure},
        rig::{StoreRig, bookmark, deleted, list, modified, same_all, scanned},
    },
};

pub(super) fn empty_at_first<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.fresh();
    let before = instance.store.snapshot();
    ensure!(
        before.applied().is_none(),
        "a new store has applied {:?}",
        before.applied()
    );
    ensure!(
        instance.store.is_empty() && instance.store.list().is_empty(),
        "a new store holds {:?}",
        instance.store.list()
    );
    instance.agrees(&*before)?;
    instance.commit(list(Vec::new(), "7"))?;
    let after = instance.store.snapshot();
    ensure!(
        *after.applied() == ResourceVersion::new("7"),
        "after an empty list at 7 it has applied {:?}",
        after.applied()
    );
    Ok(())
}

pub(super) fn everything_is_found<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let instance = rig.filled(12)?;
    instance.agrees(&*instance.store.snapshot())?;
    let listed = instance.store.list();
    ensure!(listed.len() == 12, "of twelve objects it lists {}", listed.len());
    for n in 0..12 {
        let key = instance.samples.key(n);
        ensure!(
            instance.store.get(&key).is_some_and(|entry| entry.key == key),
            "{key:?} is in the list but `get` does not find it"
        );
    }
    let absent = instance.samples.key(12);
    ensure!(
        instance.store.get(&absent).is_none(),
        "`get` finds {absent:?}, which is not there"
    );
    Ok(())
}

pub(super) fn the_object_itself<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.fresh();
    let entry = instance.entry(0, 0, "1");
    instance.commit(list(vec![entry.clone()], "1"))?;
    let got = instance.store.get(&entry.key);
    ensure!(
        got.as_ref()
            .is_some_and(|got| Arc::ptr_eq(&got.object, &entry.object)),
        "the object that went in is not the one that is read: {got:?}"
    );
    ensure!(
        got.is_some_and(|got| got.stamp == entry.stamp && !got.stale),
        "its stamp {:?} is not what is read",
        entry.stamp
    );
    Ok(())
}

pub(super) fn a_snapshot_stays<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(6)?;
    let held = instance.store.snapshot();
    let before = scanned(&*held, None);
    instance.commit(modified(instance.entry(0, 1, "11")))?;
    instance.commit(deleted(instance.entry(1, 0, "12")))?;
    instance.commit(modified(instance.entry(7, 0, "13")))?;
    instance.commit(list(vec![instance.entry(9, 0, "14")], "14"))?;
    let after = scanned(&*held, None);
    ensure!(
        same_all(&before, &after),
        "a held snapshot had {before:?}; after some commits it has {after:?}"
    );
    ensure!(
        *held.applied() == ResourceVersion::new("10"),
        "a held snapshot had applied 10; after some commits it has applied {:?}",
        held.applied()
    );
    instance.agrees(&*held)
}

pub(super) fn one_state_for_every_query<S: Samples>(rig: &StoreRig<S>, rng: &mut Rng) -> Outcome {
    let mut instance = rig.fresh();
    let mut held: Vec<(Arc<dyn Snapshot<_, _>>, Vec<Entry<_, _>>)> = Vec::new();
    for version in 1..40 {
        let version = format!("{version}");
        let (n, state) = (small(rng, 12), small(rng, 5));
        let entry = instance.entry(n, state, &version);
        let delta = match rng.index(8) {
            0 | 1 => deleted(entry),
            2 => {
                let some = (0..12).filter(|_| rng.chance(0.5)).collect::<Vec<_>>();
                let items = some.into_iter().map(|n| instance.entry(n, state, &version));
                list(items.collect(), &version)
            }
            3 => bookmark(&version),
            _ => modified(entry),
        };
        instance.commit(delta)?;
        let snapshot = instance.store.snapshot();
        instance.agrees(&*snapshot)?;
        ensure!(
            snapshot.len() == instance.store.len(),
            "the store has {} entries, its snapshot {}",
            instance.store.len(),
            snapshot.len()
        );
        let entries = scanned(&*snapshot, None);
        held.push((snapshot, entries));
        let (old, entries) = &held[rng.index(held.len())];
        ensure!(
            same_all(&scanned(&**old, None), entries),
            "a held snapshot had {entries:?}, and now {:?}",
            scanned(&**old, None)
        );
        instance.agrees(&**old)?;
    }
    Ok(())
}

pub(super) fn a_scan_begins_behind<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(12)?;
    for gone in [3, 4, 8] {
        instance.commit(deleted(instance.entry(gone, 0, &format!("{}", 20 + gone))))?;
    }
    let snapshot = instance.store.snapshot();
    let entries = scanned(&*snapshot, None);
    // Behind a key that is there, and behind one that is not.
    for n in 0..13 {
        let after = instance.samples.key(n);
        let wanted: Vec<_> = entries.iter().filter(|it| it.key > after).cloned().collect();
        let visited = scanned(&*snapshot, Some(&after));
        ensure!(
            same_all(&visited, &wanted),
            "a scan from behind {after:?} visits {visited:?} instead of {wanted:?}"
        );
    }
    let mut n_visited = 0;
    snapshot.scan(None, &mut |_| {
        n_visited += 1;
        if n_visited < 3 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    ensure!(
        n_visited == 3,
        "a visit broke at the third entry, but {n_visited} were visited"
    );
    Ok(())
}

pub(super) fn the_length<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(4)?;
    let mut lengths = vec![instance.store.len()];
    instance.commit(modified(instance.entry(0, 1, "11")))?;
    lengths.push(instance.store.len());
    instance.commit(modified(instance.entry(4, 0, "12")))?;
    lengths.push(instance.store.len());
    instance.commit(deleted(instance.entry(4, 0, "13")))?;
    instance.commit(deleted(instance.entry(4, 0, "14")))?;
    lengths.push(instance.store.len());
    ensure!(
        lengths == [4, 4, 5, 4],
        "after a list of four, an update, an add, and a delete that came twice it has {lengths:?}"
    );
    Ok(())
}

fn small(rng: &mut Rng, below: u64) -> u32 {
    u32::try_from(rng.range(0..below)).unwrap_or(0)
}
