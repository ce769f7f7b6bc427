//! What is read by index.

use std::{ops::ControlFlow, sync::Arc};

use informer_core::{Entry, Store};

use crate::conformance::{
    Indices, Samples,
    check::{Outcome, ensure},
    rig::{StoreRig, deleted, indexed, list, modified, same_all, scanned},
};

pub(super) fn a_visit_breaks<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let instance = rig.filled(12)?;
    let snapshot = instance.store.snapshot();
    for (name, value) in values(&instance.indices, &scanned(&*snapshot, None)) {
        let mut n_visited = 0;
        let visited = snapshot.by_index(&name, &value, &mut |_| {
            n_visited += 1;
            ControlFlow::Break(())
        });
        ensure!(
            visited.is_ok() && n_visited == 1,
            "a visit broke at the first entry under {value:?}, but {n_visited} were visited"
        );
        let found = indexed(&*snapshot, &name, &value)?;
        ensure!(
            found.iter().map(|it| &it.key).is_sorted_by(|a, b| a < b),
            "under {value:?} of {name:?} it visits {found:?}, which is not in key order"
        );
        let provided = instance
            .store
            .by_index(&name, &value)
            .map_err(|error| error.to_string())?;
        ensure!(
            same_all(&found, &provided),
            "`Store::by_index` gives {provided:?}, its snapshot {found:?}"
        );
    }
    Ok(())
}

pub(super) fn an_index_forgets<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(6)?;
    let before = values(&instance.indices, &instance.store.list());
    for n in 0..6 {
        instance.commit(modified(instance.entry(n, 1, &format!("{}", 20 + n))))?;
        instance.agrees(&*instance.store.snapshot())?;
    }
    for n in 0..6 {
        instance.commit(deleted(instance.entry(n, 1, &format!("{}", 30 + n))))?;
    }
    for (name, value) in before {
        let found = indexed(&*instance.store.snapshot(), &name, &value)?;
        ensure!(
            found.is_empty(),
            "everything is deleted, but {value:?} of {name:?} has {found:?}"
        );
    }
    Ok(())
}

pub(super) fn values_are_folded<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    // Enough states that some object has a value twice, and some none.
    for state in 0..5 {
        let mut instance = rig.fresh();
        let items = (0..6).map(|n| instance.entry(n, state, "1"));
        let items = list(items.collect(), "1");
        instance.commit(items)?;
        instance.agrees(&*instance.store.snapshot())?;
    }
    Ok(())
}

pub(super) fn an_unknown_index<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let instance = rig.filled(3)?;
    let mut n_visited = 0;
    let result = instance.store.snapshot().by_index("flavour", "sweet", &mut |_| {
        n_visited += 1;
        ControlFlow::Continue(())
    });
    let Err(error) = result else {
        return Err("asked for an index that it was not made with, it answers without an error".to_owned());
    };
    ensure!(
        n_visited == 0,
        "an index that is not there has {n_visited} entries"
    );
    let said = error.to_string();
    let names = instance
        .indices
        .iter()
        .map(|(name, _)| &**name)
        .chain(["flavour"]);
    for name in names {
        ensure!(said.contains(name), "the error does not name {name:?}: {said}");
    }
    let provided = instance.store.by_index("flavour", "sweet");
    ensure!(
        provided.is_err(),
        "its snapshot says that the index is unknown, the store does not"
    );
    Ok(())
}

/// Every value of every index that these entries have.
fn values<Q, K>(indices: &Indices<K>, entries: &[Entry<Q, K>]) -> Vec<(Arc<str>, String)> {
    let mut all = Vec::new();
    for (name, function) in indices {
        for entry in entries {
            // One that fails is not in a store, and is looked for elsewhere.
            let _ = function.values(&entry.object, &mut |value| {
                all.push((name.clone(), value.to_owned()))
            });
        }
    }
    all.sort();
    all.dedup();
    all
}
