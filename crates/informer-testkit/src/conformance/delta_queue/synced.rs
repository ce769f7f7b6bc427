//! What belongs to the initial list, and when a queue is synced.

use std::sync::Arc;

use informer_core::{Cause, Delta};

use super::{
    Rig,
    line::{BatchOf, Line, list, modified},
};
use crate::conformance::{
    Samples,
    check::{Outcome, ensure},
    rig::bookmark,
};

/// A list, and changes that come while it still waits: of an object of the list, and of another.
pub(super) fn initial_and_later_apart<S: Samples>(rig: &Rig<S>) -> Outcome {
    for max in [1, 2, 3, 1000] {
        let mut line = Line::new(rig);
        let items = (0..3).map(|n| line.entry(n, 0, &format!("{}", n + 1)));
        let items = items.collect::<Vec<_>>();
        let later = vec![
            modified(line.entry(0, 1, "20")),
            Delta::Upsert(line.entry(4, 0, "21"), Cause::Added),
            modified(line.entry(1, 1, "22")),
            bookmark("23"),
        ];
        line.push([list(items.clone(), "10")]);
        line.push(later);
        let mut n_initial = 0;
        while let Some(batch) = line.step(max)? {
            looks_right::<S>(&batch, &items)?;
            n_initial += usize::from(batch.initial);
        }
        ensure!(n_initial > 0, "no batch says that it is of the initial list");
        let held = line.store.lock().entries.len();
        ensure!(held == 4, "of four objects {held} arrive");
        let deltas = vec![
            modified(line.entry(2, 1, "30")),
            list(vec![line.entry(0, 1, "20"), line.entry(5, 0, "31")], "32"),
        ];
        line.push(deltas);
        while let Some(batch) = line.step(max)? {
            ensure!(
                !batch.initial,
                "the first list is through, and a batch of the second says that it is initial: {:?}",
                batch.deltas
            );
        }
    }
    Ok(())
}

fn looks_right<S: Samples>(batch: &BatchOf<S>, items: &[super::line::EntryOf<S>]) -> Outcome {
    for delta in &batch.deltas {
        let initial = match delta {
            Delta::Replace { .. } => true,
            Delta::Upsert(entry, _) => items.iter().any(|it| Arc::ptr_eq(&it.object, &entry.object)),
            // What closes the list, or comes later.
            Delta::Bookmark { .. } => continue,
            _ => false,
        };
        ensure!(
            initial == batch.initial,
            "{delta:?} {} to the initial list, and its batch says the contrary: {:?}",
            if initial { "belongs" } else { "does not belong" },
            batch.deltas
        );
    }
    Ok(())
}

pub(super) fn not_before_it_is_settled<S: Samples>(rig: &Rig<S>) -> Outcome {
    for max in [1, 1000] {
        let mut line = Line::new(rig);
        let items = (0..3).map(|n| line.entry(n, 0, "1")).collect();
        line.push([list(items, "10")]);
        ensure!(!line.queue.has_synced(), "it is synced by a push");
        loop {
            let batch = line.pop(max)?;
            if batch.is_empty() {
                break;
            }
            line.commit(batch, &|_| true);
            // `pop` and `settle` look that only the latter makes it synced.
            let whole = line.store.lock().entries.len() == 3;
            line.settle()?;
            ensure!(
                whole || !line.queue.has_synced(),
                "it is synced, and a part of the first list still waits"
            );
        }
        ensure!(
            line.queue.has_synced(),
            "all of the first list is settled, and it is not synced"
        );
    }
    Ok(())
}

pub(super) fn an_empty_list_syncs<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::new(rig);
    line.push([bookmark("5"), Delta::Resync]);
    line.drain()?;
    ensure!(
        !line.queue.has_synced(),
        "it is synced by a bookmark and a resync, without a list"
    );
    line.push([list(Vec::new(), "10")]);
    line.drain()?;
    ensure!(
        line.queue.has_synced(),
        "an empty list is settled, and it is not synced"
    );
    let applied = line.store.lock().applied.clone();
    ensure!(
        applied.as_str() == "10",
        "after an empty list at 10, the store has applied {applied:?}"
    );
    Ok(())
}

pub(super) fn synced_for_good<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    ensure!(
        line.queue.has_synced(),
        "a list is popped and settled, and it is not synced"
    );
    let items = vec![line.entry(1, 1, "20"), line.entry(5, 0, "21")];
    // `pop` and `settle` look that it stays so.
    line.push([list(items, "22"), list(Vec::new(), "23"), Delta::Resync]);
    ensure!(
        line.queue.has_synced(),
        "it was synced, and a second list ended that"
    );
    line.drain().map(drop)
}

pub(super) fn a_failure_keeps_nobody_unsynced<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::new(rig);
    let items: Vec<_> = (0..3).map(|n| line.entry(n, 0, "1")).collect();
    let bad = items[1].object.clone();
    line.push([list(items, "10")]);
    // One object is never taken, and comes again and again.
    for _ in 0..20 {
        let batch = line.pop(1000)?;
        line.commit(batch, &|object| !Arc::ptr_eq(object, &bad));
        line.settle()?;
    }
    ensure!(
        line.queue.has_synced(),
        "one object of the first list fails for ever, the others are settled, and it is not synced"
    );
    let held = line.store.lock().entries.len();
    ensure!(
        held == 2,
        "one object of three fails for ever, and of the others {held} arrive"
    );
    Ok(())
}
