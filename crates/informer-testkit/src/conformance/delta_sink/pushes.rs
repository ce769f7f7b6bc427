//! What is pushed, and what becomes of it.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use informer_core::{Delta, DeltaSink, Stamp, Store};

use super::{Rig, used::Used};
use crate::{
    Rng,
    conformance::{
        Samples,
        check::{Outcome, ensure},
        probe::{Wakes, step_by_step},
        rig::{bookmark, deleted, list, modified},
        samples::entry,
        world::World,
    },
};

pub(super) fn welcome_at_first<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let ready = used.ready(Waker::noop());
    ensure!(
        ready == Poll::Ready(Ok(())),
        "nothing was pushed yet, and a push is not welcome: {ready:?}"
    );
    ensure!(
        !used.is_closed(Waker::noop()),
        "nothing was pushed yet, and it says that nobody reads any more"
    );
    Ok(())
}

pub(super) fn what_is_pushed_arrives<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let entry = |n, state, version: &str| entry(&rig.samples, n, state, version);
    used.push([list(
        vec![entry(0, 0, "1"), entry(1, 0, "2"), entry(2, 0, "3")],
        "10",
    )]);
    used.push([
        modified(entry(0, 1, "11")),
        deleted(entry(1, 0, "12")),
        Delta::Unreadable {
            key: rig.samples.key(2),
            stamp: Stamp::new("13", "uid-2"),
        },
        bookmark("14"),
    ]);
    let held = used.held();
    let wanted = [("11", false), ("3", true)];
    let found = held.iter().map(|it| (it.stamp.version.as_str(), it.stale));
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    ensure!(
        found == wanted,
        "of a list, an update, a delete and an unreadable state this came: {held:?}"
    );
    let applied = used.ends.store.snapshot().applied().clone();
    ensure!(
        applied.as_str() == "14",
        "a bookmark of 14 was pushed, and {applied:?} is applied"
    );
    used.push([Delta::Replace {
        items: vec![entry(5, 0, "4")],
        unreadable: vec![rig.samples.key(0)],
        at: "9".into(),
        may_rewind: true,
    }]);
    let held = used.held();
    let applied = used.ends.store.snapshot().applied().clone();
    ensure!(
        held.len() == 2 && held.iter().filter(|it| it.stale).count() == 1 && applied.as_str() == "9",
        "of a list at 9 that may rewind, with one object that could not be read, this came: {held:?} at {applied:?}"
    );
    Ok(())
}

pub(super) fn nothing_blocks<S: Samples>(rig: &Rig<S>) -> Outcome {
    let Used { mut sink, mut ends } = Used::new(rig)?;
    let first = list(Vec::new(), "10");
    let deltas = (0..rig.n_pushes).map(|n| modified(entry(&rig.samples, n, 0, &format!("{}", 20 + n))));
    let deltas = [first].into_iter().chain(deltas).collect::<Vec<_>>();
    let n_pushed = deltas.len() - 1;
    let sink = step_by_step(move |step| {
        for delta in deltas {
            // Whatever it says, a push is legal.
            let _ = sink.poll_ready(&mut Context::from_waker(Waker::noop()));
            sink.push(delta);
            step();
        }
        sink
    });
    ensure!(
        sink.is_some(),
        "nobody processes what is pushed, and after at most {n_pushed} deltas a call blocks"
    );
    (ends.process)();
    let held = ends.store.len();
    ensure!(
        held == n_pushed,
        "{n_pushed} objects were pushed, and {held} came"
    );
    Ok(())
}

pub(super) fn push_when_not_ready<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let Some(n) = used.fill(rig) else {
        return Ok(());
    };
    used.push((n..n + 5).map(|n| modified(entry(&rig.samples, n, 0, &format!("{}", 20 + n)))));
    let held = used.held().len();
    ensure!(
        held == n as usize + 5,
        "{n} objects were pushed until it was full, then five more, and {held} came"
    );
    Ok(())
}

pub(super) fn whoever_waits_is_woken<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let Some(n) = used.fill(rig) else {
        return Ok(());
    };
    let (wakes, waker) = Wakes::new();
    ensure!(
        used.ready(&waker).is_pending(),
        "after {n} pushes it was full, and asked again it is not"
    );
    (used.ends.process)();
    ensure!(
        wakes.count() > 0,
        "after {n} pushes it was full, all of them were processed, and one who waited was not woken"
    );
    ensure!(
        used.ready(&waker).is_ready(),
        "all that was pushed is processed, and it is still full"
    );
    Ok(())
}

pub(super) fn known_is_exact<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let entries = [0, 1, 2].map(|n| entry(&rig.samples, n, 0, &format!("{}", n + 1)));
    used.push([
        list(entries.to_vec(), "10"),
        modified(entry(&rig.samples, 0, 1, "11")),
    ]);
    let held = used.held();
    for n in 0..5 {
        let key = rig.samples.key(n);
        let stored = held.iter().find(|it| it.key == key);
        for stamp in [
            Stamp::new(&*format!("{}", n + 1), format!("uid-{n}")),
            Stamp::new("11", format!("uid-{n}")),
            Stamp::new("11", "another"),
            Stamp::new("", format!("uid-{n}")),
        ] {
            let known = used.sink.known(&key, &stamp);
            let right = known.as_ref().is_none_or(|known| {
                stored.is_some_and(|it| it.stamp == stamp && Arc::ptr_eq(&it.object, known))
            });
            ensure!(
                right,
                "asked for {key:?} in state {stamp:?} it gives an object, and stored is {stored:?}"
            );
        }
    }
    Ok(())
}

/// What a reflector pushes, with a consumer that processes now and then.
pub(super) fn the_store_follows<S: Samples>(rig: &Rig<S>, rng: &mut Rng) -> Outcome {
    let mut used = Used::new(rig)?;
    let mut world = World::new(&rig.samples, rng);
    used.push([world.list()]);
    for _ in 0..60 {
        match rng.index(12) {
            0 => used.push([world.list()]),
            1 => used.push([bookmark(&world.now.to_string())]),
            2 => used.push([Delta::Resync]),
            3 => {
                for _ in 0..rng.index(6) {
                    world.change(rng);
                }
                used.push([world.list()]);
            }
            4 => {
                let held = used.held();
                world.is(&held)?;
                world.may_be(&held, used.ends.store.snapshot().applied().as_str())?;
            }
            _ => {
                let delta = world.change(rng);
                used.push([delta]);
            }
        }
    }
    let held = used.held();
    world.is(&held)?;
    world.may_be(&held, used.ends.store.snapshot().applied().as_str())
}
