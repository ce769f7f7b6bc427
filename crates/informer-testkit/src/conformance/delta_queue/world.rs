//! A small world behind a queue: does the store follow it?

use std::{collections::BTreeSet, sync::Arc};

use informer_core::{Cause, Change, Delta};

use super::{
    Rig,
    line::{BatchOf, Line, gone, modified},
};
use crate::{
    Rng,
    conformance::{
        Samples,
        check::{Outcome, ensure},
        rig::bookmark,
        world::World,
    },
};

pub(super) fn a_resync_repeats<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 3)?;
    line.told.clear();
    line.push([Delta::Resync]);
    line.drain()?;
    let resynced: BTreeSet<_> = repeated(&line).collect();
    ensure!(
        resynced.len() == 3 && line.told.len() == 3,
        "three objects are stored, and a resync told {:?}",
        line.told
    );
    // What is deleted meanwhile stays so.
    line.told.clear();
    let waiting = modified(line.entry(1, 1, "21"));
    line.push([gone(&rig.samples, 0, "20"), waiting, Delta::Resync]);
    line.push([Delta::Resync, gone(&rig.samples, 2, "22")]);
    line.drain()?;
    let held = line.store.lock().entries.len();
    ensure!(
        held == 1,
        "two of three objects were deleted beside a resync, and {held} are left"
    );
    ensure!(
        !repeated(&line).any(|key| key == line.key(0)),
        "a resync repeats an object whose delete came before: {:?}",
        line.told
    );
    Ok(())
}

fn repeated<S: Samples>(line: &Line<'_, S>) -> impl Iterator<Item = S::Key> {
    line.told.iter().filter_map(|change| match change {
        Change::Resynced { current } => Some(current.key.clone()),
        _ => None,
    })
}

pub(super) fn a_bookmark_arrives<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 2)?;
    let stories = [
        ("20", vec![bookmark("20")]),
        ("30", vec![modified(line.entry(0, 1, "21")), bookmark("30")]),
        (
            "43",
            vec![
                bookmark("40"),
                bookmark("41"),
                gone(&rig.samples, 1, "42"),
                bookmark("43"),
            ],
        ),
    ];
    for (wanted, deltas) in stories {
        let pushed = format!("{deltas:?}");
        line.push(deltas);
        line.drain()?;
        let applied = line.store.lock().applied.clone();
        ensure!(
            applied.as_str() == wanted,
            "after {pushed} the store has applied {applied:?}"
        );
    }
    Ok(())
}

pub(super) fn a_list_may_rewind<S: Samples>(rig: &Rig<S>) -> Outcome {
    for (may_rewind, applied) in [(true, "5"), (false, "20")] {
        let mut line = Line::filled(rig, 2)?;
        let delta = modified(line.entry(0, 1, "20"));
        line.push([delta, bookmark("20")]);
        line.drain()?;
        let items = vec![line.entry(0, 2, "3")];
        line.push([Delta::Replace {
            items,
            unreadable: Vec::new(),
            at: "5".into(),
            may_rewind,
        }]);
        line.drain()?;
        let store = line.store.lock();
        ensure!(
            store.applied.as_str() == applied,
            "the store had applied 20; after a list at 5 that may{} rewind it has applied {:?}",
            if may_rewind { "" } else { " not" },
            store.applied
        );
        ensure!(
            store.entries.len() == 1 && store.entries[&rig.samples.key(0)].stamp.version.as_str() == "3",
            "after a list of one older state the store holds {:?}",
            store.entries.values().collect::<Vec<_>>()
        );
    }
    Ok(())
}

/// A list that comes while something of its keys waits, or is in hand.
pub(super) fn a_list_meets_what_waits<S: Samples>(rig: &Rig<S>) -> Outcome {
    for in_hand in [false, true] {
        for max in [1, 1000] {
            let mut line = Line::filled(rig, 3)?;
            let before = vec![
                modified(line.entry(0, 1, "20")),
                Delta::Upsert(line.entry(4, 0, "21"), Cause::Added),
                gone(&rig.samples, 1, "22"),
            ];
            line.push(before);
            let batch = if in_hand { Some(line.pop(max)?) } else { None };
            // Of what waits the first stays, the new one is gone, the deleted one is back, the third could not be read, a fourth is new.
            let items = vec![
                line.entry(0, 1, "20"),
                line.entry(1, 2, "23"),
                line.entry(5, 0, "24"),
                line.entry(5, 1, "25"),
            ];
            let wanted: Vec<_> = [&items[0], &items[1], &items[3]].map(Clone::clone).to_vec();
            line.push([Delta::Replace {
                items,
                unreadable: vec![line.key(2), line.key(8)],
                at: "30".into(),
                may_rewind: false,
            }]);
            if let Some(batch) = batch {
                line.commit(batch, &|_| true);
                line.settle()?;
            }
            while line.step(max)?.is_some() {}
            let store = line.store.lock();
            let held = store.entries.values().collect::<Vec<_>>();
            for entry in &wanted {
                let stored = store.entries.get(&entry.key);
                ensure!(
                    stored.is_some_and(|it| it.stamp == entry.stamp && !it.stale),
                    "a list held {entry:?}, and the store has {held:?}"
                );
            }
            let third = store.entries.get(&rig.samples.key(2));
            ensure!(
                third.is_some_and(|it| it.stale),
                "a list could not read {:?}, and the store has {held:?}",
                rig.samples.key(2)
            );
            ensure!(
                held.len() == 4,
                "a list held {wanted:?} and one that could not be read, and the store has {held:?}"
            );
        }
    }
    Ok(())
}

/// Changes, lists, bookmarks, resyncs, failures and batches in hand, as they may come.
pub(super) fn the_store_follows<S: Samples>(rig: &Rig<S>, rng: &mut Rng) -> Outcome {
    let mut line = Line::new(rig);
    let mut world = World::new(&rig.samples, rng);
    let failing = rng.chance(0.5);
    line.push([world.list()]);
    let mut in_hand = None;
    for _ in 0..120 {
        match rng.index(20) {
            0 => line.push([world.list()]),
            1 => line.push([bookmark(&world.now.to_string())]),
            2 => line.push([Delta::Resync]),
            // A watch that was cut: some of it is never told, but by the list.
            3 => {
                for _ in 0..rng.index(6) {
                    world.change(rng);
                }
                line.push([world.list()]);
            }
            4..=12 => {
                let delta = world.change(rng);
                line.push([delta]);
            }
            _ => match in_hand.take() {
                None => in_hand = Some(line.pop(1 + rng.index(5))?).filter(|batch| !batch.is_empty()),
                Some(batch) => {
                    let bad = if failing {
                        bad_objects::<S>(&batch, rng)
                    } else {
                        Vec::new()
                    };
                    line.commit(batch, &|object| !bad.iter().any(|bad| Arc::ptr_eq(bad, object)));
                    // What failed comes again, and the store is behind for as long.
                    if !failing {
                        let store = line.store.lock();
                        let held: Vec<_> = store.entries.values().cloned().collect();
                        world.may_be(&held, store.applied.as_str())?;
                    }
                    line.settle()?;
                }
            },
        }
    }
    if let Some(batch) = in_hand {
        line.commit(batch, &|_| true);
        line.settle()?;
    }
    line.drain()?;
    let store = line.store.lock().clone();
    let held: Vec<_> = store.entries.into_values().collect();
    world.is(&held)?;
    world.may_be(&held, store.applied.as_str())?;
    ensure!(
        line.queue.has_synced(),
        "a list was settled, and it is not synced"
    );
    Ok(())
}

/// Some objects of a batch, which the store does not take this time.
fn bad_objects<S: Samples>(batch: &BatchOf<S>, rng: &mut Rng) -> Vec<Arc<S::Object>> {
    let mut objects = Vec::new();
    for delta in &batch.deltas {
        match delta {
            Delta::Upsert(entry, _) => objects.push(entry.object.clone()),
            Delta::Replace { items, .. } => objects.extend(items.iter().map(|it| it.object.clone())),
            _ => {}
        }
    }
    objects.retain(|_| rng.chance(0.2));
    objects
}
