//! What a queue answers as a sink.

use std::{
    sync::Arc,
    task::{Context, Waker},
};

use informer_core::{Delta, Stamp};

use super::{
    Rig,
    line::{Line, flat, modified},
};
use crate::conformance::{
    Samples,
    check::{Outcome, ensure},
    probe::Wakes,
};

/// Pushes until it pushes back.
fn full<S: Samples>(rig: &Rig<S>) -> Outcome<(Line<'_, S>, u32)> {
    let mut line = Line::filled(rig, 1)?;
    for n in 0..=rig.pushes_back_by {
        if !line.is_ready()? {
            return Ok((line, n));
        }
        let delta = modified(line.entry(n, 1, &format!("{}", 100 + n)));
        line.push([delta]);
    }
    Err(format!(
        "{} deltas wait, and it still welcomes a push",
        rig.pushes_back_by
    ))
}

pub(super) fn pushes_back<S: Samples>(rig: &Rig<S>) -> Outcome {
    let (mut line, n) = full(rig)?;
    ensure!(n > 0, "nothing waits, and it does not welcome a push");
    for _ in 0..3 {
        ensure!(
            !line.is_ready()?,
            "{n} deltas wait, it was not ready, and asked again it is"
        );
    }
    Ok(())
}

pub(super) fn ready_again<S: Samples>(rig: &Rig<S>) -> Outcome {
    let (mut line, n) = full(rig)?;
    while line.step(1)?.is_some() {}
    ensure!(
        line.is_ready()?,
        "{n} deltas waited and were handed out, and it still does not welcome a push"
    );
    Ok(())
}

pub(super) fn keeps_no_waker<S: Samples>(rig: &Rig<S>) -> Outcome {
    let (mut line, _) = full(rig)?;
    let (wakes, waker) = Wakes::new();
    let ready = line.queue.poll_ready(&mut Context::from_waker(&waker));
    ensure!(ready.is_pending(), "it was not ready, and asked again it is");
    ensure!(
        wakes.n_kept() == 0,
        "asked whether it is ready it keeps the waker"
    );
    line.drain()?;
    ensure!(wakes.count() == 0, "it wakes the one who asked");
    Ok(())
}

pub(super) fn push_when_not_ready<S: Samples>(rig: &Rig<S>) -> Outcome {
    let (mut line, n) = full(rig)?;
    let more = (0..5).map(|m| modified(line.entry(n + m, 2, &format!("{}", 50_000 + m))));
    let more = more.collect::<Vec<_>>();
    line.push(more.clone());
    let handed_out = flat::<S>(&line.drain()?);
    for delta in &more {
        let Delta::Upsert(entry, _) = delta else { continue };
        let came = handed_out
            .iter()
            .any(|it| matches!(it, Delta::Upsert(it, _) if Arc::ptr_eq(&it.object, &entry.object)));
        ensure!(
            came,
            "{delta:?} was pushed while a push was not welcome, and never came out"
        );
    }
    Ok(())
}

pub(super) fn nobody_reads<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 1)?;
    let closed = line.queue.poll_closed(&mut Context::from_waker(Waker::noop()));
    ensure!(
        closed.is_pending(),
        "it is read from, and says that nobody reads any more"
    );
    Ok(())
}

pub(super) fn known_is_exact<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut line = Line::filled(rig, 3)?;
    let deltas = vec![modified(line.entry(0, 1, "20")), modified(line.entry(7, 1, "21"))];
    line.push(deltas);
    line.drain()?;
    for n in 0..9 {
        let key = line.key(n);
        let stored = line.store.lock().entries.get(&key).cloned();
        for stamp in [
            Stamp::new("20", format!("uid-{n}")),
            Stamp::new("20", "another"),
            Stamp::new(&*format!("{}", n + 1), format!("uid-{n}")),
            Stamp::new("", format!("uid-{n}")),
        ] {
            let Some(known) = line.queue.known(&key, &stamp) else {
                continue;
            };
            let right = stored
                .as_ref()
                .is_some_and(|it| it.stamp == stamp && Arc::ptr_eq(&it.object, &known));
            ensure!(
                right,
                "asked for {key:?} in state {stamp:?} it gives an object, and stored is {stored:?}"
            );
        }
    }
    Ok(())
}
