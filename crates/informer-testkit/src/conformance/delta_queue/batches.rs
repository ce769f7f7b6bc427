//! What a batch holds, and in which order batches come.

use std::{collections::BTreeMap, sync::Arc};

use informer_core::{Cause, Delta};

use super::{
    Rig,
    line::{DeltaOf, Line, flat, gone, list, modified, version},
};
use crate::conformance::{
    Samples,
    check::{Outcome, ensure},
    rig::bookmark,
};

pub(super) fn nothing_waits_at_first<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::new(rig);
    ensure!(
        line.queue.is_empty() && matches!(line.queue.len(), 0),
        "a new queue has length {}",
        line.queue.len()
    );
    let batch = line.pop(1000)?;
    ensure!(batch.is_empty(), "a new queue hands out {:?}", batch.deltas);
    ensure!(!line.queue.has_synced(), "a new queue is synced");
    ensure!(line.is_ready()?, "a new queue does not welcome a push");
    Ok(())
}

pub(super) fn at_most_so_many<S: Samples>(rig: &Rig<S>) -> Outcome {
    for max in [1, 2, 3, 5, 1000] {
        let mut line = Line::filled(rig, 2)?;
        let deltas = (0..7).map(|n| modified(line.entry(n, 1, &format!("{}", 20 + n))));
        let deltas = deltas.collect::<Vec<_>>();
        line.push(deltas);
        line.push([bookmark("30")]);
        let nothing = line.pop(0)?;
        ensure!(
            nothing.is_empty(),
            "asked for nothing, it gives {:?}",
            nothing.deltas
        );
        while line.step(max)?.is_some() {
            let nothing = line.pop(0)?;
            ensure!(
                nothing.is_empty(),
                "asked for nothing, it gives {:?}",
                nothing.deltas
            );
            line.settle()?;
        }
        let held = line.store.lock().entries.len();
        ensure!(held == 7, "taken {max} at a time, of seven objects {held} arrive");
    }
    Ok(())
}

pub(super) fn keys_are_distinct<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    let deltas = vec![
        modified(line.entry(0, 1, "20")),
        modified(line.entry(1, 1, "21")),
        modified(line.entry(0, 2, "22")),
        gone(&rig.samples, 0, "23"),
        modified(line.entry(2, 0, "24")),
        modified(line.entry(0, 3, "25")),
    ];
    line.push(deltas);
    line.drain().map(drop)
}

pub(super) fn about_the_whole_alone<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    let deltas = vec![
        modified(line.entry(0, 1, "20")),
        bookmark("21"),
        modified(line.entry(1, 1, "22")),
        Delta::Resync,
        modified(line.entry(2, 1, "23")),
        list(vec![line.entry(3, 0, "24")], "25"),
        modified(line.entry(4, 0, "26")),
        Delta::Resync,
        Delta::Resync,
        bookmark("27"),
        bookmark("28"),
    ];
    line.push(deltas);
    line.drain().map(drop)
}

pub(super) fn the_order_of_a_key<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    line.push(story(&line));
    let mut last: BTreeMap<S::Key, u64> = BTreeMap::new();
    for delta in flat::<S>(&line.drain()?) {
        let (Some(key), Some(at)) = (delta.key(), version(&delta).and_then(|it| it.parse().ok())) else {
            continue;
        };
        let before = last.insert(key.clone(), at).unwrap_or(0);
        ensure!(
            before <= at,
            "{delta:?} comes after a delta of version {before} of the same key"
        );
    }
    Ok(())
}

pub(super) fn in_the_order_of_the_source<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    line.push(story(&line));
    let mut last = 0;
    for batch in line.drain()?.iter().filter(|batch| batch.in_order) {
        for delta in &batch.deltas {
            let at: u64 = version(delta).and_then(|it| it.parse().ok()).unwrap_or(0);
            ensure!(
                last <= at || at == 0,
                "a batch says that it is in order, and brings {delta:?} after version {last}"
            );
            last = last.max(at);
        }
    }
    Ok(())
}

pub(super) fn nothing_is_left_out<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    let story = story(&line);
    line.push(story.clone());
    let handed_out = flat::<S>(&line.drain()?);
    for delta in &story {
        let found = handed_out.iter().filter(|it| same_state(it, delta)).count();
        ensure!(
            found == 1,
            "{delta:?} was pushed once and handed out {found} times"
        );
    }
    // The last of what follows one another is a delete, so one is handed out.
    let deletes = [gone(&rig.samples, 3, "40"), gone(&rig.samples, 3, "41")];
    line.push(deletes);
    let handed_out = flat::<S>(&line.drain()?);
    let is_delete = |it: &&DeltaOf<S>| matches!(it, Delta::Delete { .. });
    let n_deletes = handed_out.iter().filter(is_delete).count();
    ensure!(
        n_deletes == 1 || n_deletes == 2,
        "of two deletes of one key that followed one another it hands out {n_deletes}"
    );
    Ok(())
}

/// Two keys that change in turn, one of them with an end and another life; all of it waits at once. The third stays.
fn story<S: Samples>(line: &Line<'_, S>) -> Vec<DeltaOf<S>> {
    vec![
        modified(line.entry(0, 1, "20")),
        modified(line.entry(1, 1, "21")),
        modified(line.entry(0, 2, "22")),
        Delta::Upsert(line.entry(3, 0, "23"), Cause::Added),
        modified(line.entry(1, 2, "24")),
        gone(&line.rig.samples, 0, "25"),
        modified(line.entry(3, 1, "26")),
        Delta::Upsert(line.entry(0, 3, "27"), Cause::Added),
        modified(line.entry(0, 4, "28")),
    ]
}

fn same_state<Q: PartialEq, K>(a: &Delta<Q, K>, b: &Delta<Q, K>) -> bool {
    match (a, b) {
        (Delta::Upsert(a, c), Delta::Upsert(b, d)) => Arc::ptr_eq(&a.object, &b.object) && c == d,
        (Delta::Delete { key: a, stamp: c, .. }, Delta::Delete { key: b, stamp: d, .. }) => a == b && c == d,
        _ => false,
    }
}

pub(super) fn failed_comes_again<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    let bad = line.entry(0, 1, "20");
    let deltas = vec![modified(bad.clone()), modified(line.entry(1, 1, "21"))];
    line.push(deltas);
    let mut n_failed = 0;
    for _ in 0..100 {
        let batch = line.pop(1000)?;
        if batch.is_empty() {
            break;
        }
        let brings = batch
            .deltas
            .iter()
            .any(|it| same_state(it, &modified(bad.clone())));
        let fails = brings && n_failed < 3;
        line.commit(batch, &|object| !(fails && Arc::ptr_eq(object, &bad.object)));
        n_failed += usize::from(fails);
        line.settle()?;
    }
    ensure!(
        n_failed == 3,
        "a delta that fails three times was handed out {n_failed} times"
    );
    let stored = line.store.lock().entries.get(&bad.key).cloned();
    ensure!(
        stored
            .as_ref()
            .is_some_and(|it| Arc::ptr_eq(&it.object, &bad.object)),
        "what failed three times and then did not is not in the store, which has {stored:?}"
    );
    Ok(())
}

pub(super) fn moot_does_not<S: Samples>(rig: &Rig<S>) -> Outcome {
    for deleted in [false, true] {
        let mut line = Line::filled(rig, 2)?;
        let bad = line.entry(0, 1, "20");
        line.push([modified(bad.clone())]);
        let batch = line.pop(1000)?;
        ensure!(
            batch
                .deltas
                .iter()
                .any(|it| same_state(it, &modified(bad.clone()))),
            "{bad:?} was pushed, and the first batch is {:?}",
            batch.deltas
        );
        let later = if deleted {
            gone(&rig.samples, 0, "21")
        } else {
            modified(line.entry(0, 2, "21"))
        };
        line.push([later.clone()]);
        line.commit(batch, &|_| false);
        line.settle()?;
        let handed_out = flat::<S>(&line.drain()?);
        let again = handed_out
            .iter()
            .find(|it| same_state(it, &modified(bad.clone())));
        ensure!(
            again.is_none(),
            "{again:?} failed and {later:?} waited already, yet it was handed out again"
        );
        ensure!(
            handed_out.iter().any(|it| same_state(it, &later)),
            "{later:?} waited when another failed, and was not handed out"
        );
    }
    Ok(())
}

pub(super) fn len_is_what_waits<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    ensure!(
        line.queue.is_empty(),
        "everything was popped and settled, but its length is {}",
        line.queue.len()
    );
    let deltas = vec![modified(line.entry(0, 1, "20")), modified(line.entry(1, 1, "21"))];
    line.push(deltas);
    ensure!(
        line.queue.len() >= 2 && !line.queue.is_empty(),
        "two deltas wait, but its length is {}",
        line.queue.len()
    );
    let n_waiting = line.queue.len();
    let deltas = vec![modified(line.entry(2, 1, "22")), modified(line.entry(2, 2, "23"))];
    line.push(deltas);
    ensure!(
        line.queue.len() > n_waiting,
        "two more deltas wait, but its length stays {n_waiting}"
    );
    line.drain().map(drop)
}
