//! When nobody reads any more.

use std::task::{Poll, Waker};

use informer_core::{Closed, Delta};

use super::{Rig, used::Used};
use crate::conformance::{
    Samples,
    check::{Outcome, ensure},
    probe::Wakes,
    rig::{list, modified},
    samples::entry,
};

/// One that was closed, after it had taken a list. `None`: it cannot be.
fn closed<S: Samples>(rig: &Rig<S>) -> Outcome<Option<Used<S>>> {
    let mut used = Used::new(rig)?;
    let Some(mut close) = used.ends.close.take() else {
        return Ok(None);
    };
    used.push([list(vec![entry(&rig.samples, 0, 0, "1")], "10")]);
    (used.ends.process)();
    close();
    Ok(Some(used))
}

pub(super) fn closed_is_said<S: Samples>(rig: &Rig<S>) -> Outcome {
    let Some(mut used) = closed(rig)? else {
        return Ok(());
    };
    for _ in 0..3 {
        let ready = used.ready(Waker::noop());
        ensure!(
            ready == Poll::Ready(Err(Closed)),
            "it was closed, and asked whether a push is welcome it says {ready:?}"
        );
    }
    Ok(())
}

pub(super) fn closed_wakes<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let Some(mut close) = used.ends.close.take() else {
        return Ok(());
    };
    let (wakes, waker) = Wakes::new();
    ensure!(
        !used.is_closed(&waker),
        "it is open, and says that nobody reads any more"
    );
    // What happens meanwhile must not take the place of the one who waits.
    used.push([list(vec![entry(&rig.samples, 0, 0, "1")], "10")]);
    let full = used.fill(rig).is_some();
    let (pressed, presser) = Wakes::new();
    let waits = full && used.ready(&presser).is_pending();
    let before = wakes.count();
    close();
    ensure!(
        wakes.count() > before,
        "one waited for it to be closed, and was not woken when it was"
    );
    ensure!(
        !waits || pressed.count() > 0,
        "one waited for a push to be welcome, and was not woken when it was closed"
    );
    ensure!(
        used.is_closed(&waker) && used.is_closed(Waker::noop()),
        "it was closed, and does not say so"
    );
    Ok(())
}

pub(super) fn closed_drops<S: Samples>(rig: &Rig<S>) -> Outcome {
    let Some(mut used) = closed(rig)? else {
        return Ok(());
    };
    let entry = |n, version: &str| entry(&rig.samples, n, 0, version);
    used.push([
        modified(entry(1, "11")),
        list(vec![entry(2, "12")], "13"),
        Delta::Resync,
    ]);
    let held = used.held();
    ensure!(
        held.len() == 1 && held[0].stamp.version.as_str() == "1",
        "pushed to after it was closed it took something: {held:?}"
    );
    Ok(())
}
