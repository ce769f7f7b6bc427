//! Waiting for a change.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use informer_core::{ResourceVersion, Store, StoreExt};

use crate::conformance::{
    Samples,
    check::{Outcome, ensure},
    probe::Wakes,
    rig::{Instance, StoreRig, bookmark, list, modified},
};

pub(super) fn whoever_waits_is_woken<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(1)?;
    let seen = instance.store.snapshot().applied().clone();
    let (wakes, waker) = Wakes::new();
    let (others, other) = Wakes::new();
    let poll = |instance: &Instance<'_, S>, waker| {
        instance
            .store
            .poll_changed(&mut Context::from_waker(waker), &seen)
    };
    ensure!(
        instance
            .store
            .poll_changed(&mut Context::from_waker(&waker), &"9".into())
            .is_ready(),
        "it has applied 10, and is not ready for one who has seen 9"
    );
    ensure!(
        poll(&instance, &waker).is_pending(),
        "it is ready for one who has seen what it has applied"
    );
    ensure!(
        poll(&instance, &other).is_pending(),
        "it is ready for a second one who has seen what it has applied"
    );
    instance.commit(bookmark("11"))?;
    ensure!(
        wakes.count() > 0 && others.count() > 0,
        "two waited; after a commit one was woken {} times, the other {}",
        wakes.count(),
        others.count()
    );
    ensure!(
        poll(&instance, &waker).is_ready(),
        "it has applied 11, and is not ready for one who has seen 10"
    );
    let seen = ResourceVersion::new("11");
    let again = instance
        .store
        .poll_changed(&mut Context::from_waker(&waker), &seen);
    ensure!(
        again.is_pending(),
        "it is ready for one who has seen 11, which it has applied"
    );
    let before = wakes.count();
    instance.commit(modified(instance.entry(0, 1, "12")))?;
    ensure!(
        wakes.count() > before,
        "one who waited a second time was not woken by an upsert"
    );
    Ok(())
}

pub(super) fn a_version_is_waited_for<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.fresh();
    let (store, version) = (instance.store.clone(), ResourceVersion::new("12"));
    let now = store.snapshot().applied().clone();
    ensure!(
        store
            .poll_changed(&mut Context::from_waker(Waker::noop()), &now)
            .is_pending(),
        "it is ready for one who has seen what it has applied, {now:?}"
    );
    let mut waiting = pin!(store.wait_for(&version));
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    for before in ["9", "11"] {
        ensure!(
            waiting.as_mut().poll(&mut cx).is_pending(),
            "it waits for 12, and ends before a commit at {before}"
        );
        let woken = wakes.count();
        instance.commit(list(Vec::new(), before))?;
        ensure!(
            wakes.count() > woken,
            "one who waits for 12 was not woken by a commit at {before}"
        );
    }
    ensure!(
        waiting.as_mut().poll(&mut cx).is_pending(),
        "it waits for 12, and ends at 11"
    );
    let woken = wakes.count();
    instance.commit(bookmark("13"))?;
    ensure!(
        wakes.count() > woken,
        "one who waits for 12 was not woken by a commit at 13"
    );
    match waiting.as_mut().poll(&mut cx) {
        Poll::Ready(Ok(())) => Ok(()),
        other => Err(format!("it waits for 12, and at 13 gives {other:?}")),
    }
}
