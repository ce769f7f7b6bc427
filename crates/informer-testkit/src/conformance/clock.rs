//! The suite for [`Clock`]: time, as drivers see it.
//!
//! ```
//! use informer_testkit::{ManualClock, block_on, conformance::clock};
//!
//! // A clock, and what lets its time pass.
//! let suite = clock::Suite::new("ManualClock", || {
//!     let clock = ManualClock::new();
//!     let time = clock.clone();
//!     (clock, move |by| { time.advance(by); async {} })
//! });
//! block_on(suite.run()).assert_conforms();
//! ```

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use informer_core::{BoxClock, Clock};

use super::{
    check::{Awaited, Check, Outcome, Scope, async_checks, ensure, runs_async, shown},
    probe::Wakes,
};
use crate::Rng;

type Passing = Pin<Box<dyn Future<Output = ()>>>;
type Pass = Box<dyn FnMut(Duration) -> Passing>;

/// Checks a clock.
pub struct Suite<C> {
    subject: String,
    rig: Rig<C>,
    scope: Scope,
}

struct Rig<C> {
    make: Box<dyn Fn() -> (C, Pass)>,
    step: Duration,
}

impl<C: Clock> Suite<C> {
    /// `make` makes a clock, and what lets so much of its time pass: at once, or by waiting.
    pub fn new<T, P>(subject: &str, make: impl Fn() -> (C, T) + 'static) -> Self
    where
        T: FnMut(Duration) -> P + 'static,
        P: Future<Output = ()> + 'static,
    {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                make: Box::new(move || {
                    let (clock, mut pass) = make();
                    (clock, Box::new(move |by| Box::pin(pass(by))))
                }),
                step: Duration::from_secs(1),
            },
            scope: Scope::default(),
        }
    }

    /// The unit of time that the checks count in: a second, unless you say otherwise. Less for a clock whose time really passes.
    #[must_use]
    pub fn step(mut self, step: Duration) -> Self {
        self.rig.step = step;
        self
    }

    runs_async!("Clock");
}

shown!([C] Suite<C>);

fn all<C: Clock>() -> Vec<Check<Awaited<Rig<C>>>> {
    async_checks! {
        directed never_backward: "The time now. Never goes backward.";
        directed clones_are_one_clock: "Tells the time and waits. Drivers hold one; machines get `now` as an argument.";
        directed the_past_is_over: "Returns at `at` or soon after; at once if it has passed.";
        directed not_before_its_time: "Returns at `at` or soon after; at once if it has passed.";
        directed whoever_sleeps_is_woken: "Returns at `at` or soon after; at once if it has passed.";
        random each_at_its_time: "Returns at `at` or soon after; at once if it has passed.";
        directed a_dropped_sleep: "Dropping it ends the wait.";
        directed behind_one_type: "Any clock behind one type.";
    }
}

fn poll(sleep: Pin<&mut impl Future<Output = ()>>, waker: &Waker) -> Poll<()> {
    sleep.poll(&mut Context::from_waker(waker))
}

async fn never_backward<C: Clock>(rig: &Rig<C>) -> Outcome {
    let (clock, mut pass) = (rig.make)();
    let mut before = clock.now();
    for _ in 0..4 {
        let now = clock.now();
        ensure!(now >= before, "its time went back by {:?}", before - now);
        pass(rig.step).await;
        let later = clock.now();
        ensure!(
            later >= now + rig.step,
            "{:?} passed, and its time moved by {:?}",
            rig.step,
            later - now
        );
        before = later;
    }
    Ok(())
}

async fn clones_are_one_clock<C: Clock>(rig: &Rig<C>) -> Outcome {
    let (clock, mut pass) = (rig.make)();
    let other = clock.clone();
    pass(rig.step * 3).await;
    let (first, second) = (clock.now(), other.now());
    let apart = second.saturating_duration_since(first) + first.saturating_duration_since(second);
    ensure!(apart < rig.step, "a clock and its clone are {apart:?} apart");
    Ok(())
}

async fn the_past_is_over<C: Clock>(rig: &Rig<C>) -> Outcome {
    let (clock, mut pass) = (rig.make)();
    let start = clock.now();
    pass(rig.step).await;
    for at in [start, start + rig.step] {
        let ended = poll(pin!(clock.sleep_until(at)), Waker::noop());
        ensure!(ended.is_ready(), "a sleep until a time that has passed waits");
    }
    Ok(())
}

async fn not_before_its_time<C: Clock>(rig: &Rig<C>) -> Outcome {
    let (clock, mut pass) = (rig.make)();
    let at = clock.now() + rig.step * 4;
    let mut sleep = pin!(clock.sleep_until(at));
    loop {
        let ended = poll(sleep.as_mut(), Waker::noop()).is_ready();
        let now = clock.now();
        if ended {
            ensure!(now >= at, "a sleep ends {:?} before its time", at - now);
            return Ok(());
        }
        ensure!(
            now < at + rig.step * 2,
            "a sleep does not end, and its time has passed by {:?}",
            now - at
        );
        pass(rig.step).await;
    }
}

async fn whoever_sleeps_is_woken<C: Clock>(rig: &Rig<C>) -> Outcome {
    let (clock, mut pass) = (rig.make)();
    let mut sleep = pin!(clock.sleep_until(clock.now() + rig.step));
    let ((gave_up, first), (wakes, second)) = (Wakes::new(), Wakes::new());
    for waker in [&first, &second] {
        ensure!(
            poll(sleep.as_mut(), waker).is_pending(),
            "a sleep ends before its time"
        );
    }
    pass(rig.step * 2).await;
    ensure!(
        wakes.count() > 0,
        "a sleep was polled by two, its time came, and the latter was not woken (the former {} times)",
        gave_up.count()
    );
    ensure!(
        poll(sleep, &second).is_ready(),
        "a sleep woke who waited, and does not end"
    );
    Ok(())
}

async fn each_at_its_time<C: Clock>(rig: &Rig<C>, mut rng: Rng) -> Outcome {
    let (clock, mut pass) = (rig.make)();
    let start = clock.now();
    let steps: Vec<u32> = (0..6)
        .map(|_| u32::try_from(rng.range(1..6)).unwrap_or(1))
        .collect();
    let mut sleeps: Vec<_> = steps
        .iter()
        .map(|n| start + rig.step * *n)
        .map(|at| (at, Some(Box::pin(clock.sleep_until(at))), Wakes::new()))
        .collect();
    for (_, sleep, (_, waker)) in &mut sleeps {
        let ended = sleep.as_mut().map(|sleep| poll(sleep.as_mut(), waker));
        ensure!(
            ended == Some(Poll::Pending),
            "one of six sleeps ends before its time"
        );
    }
    for _ in 0..4 {
        pass(rig.step * 2).await;
        for (at, sleep, (wakes, waker)) in &mut sleeps {
            let Some(sleeping) = sleep else { continue };
            let late = clock.now().checked_duration_since(*at);
            let ended = poll(sleeping.as_mut(), waker).is_ready();
            ensure!(
                !ended || clock.now() >= *at,
                "one of six sleeps ends before its time"
            );
            // Soon after is soon enough.
            let is_due = late.is_some_and(|late| late >= rig.step);
            ensure!(
                !is_due || (ended && wakes.count() > 0),
                "one of six sleeps was due {late:?} ago; it was woken {} times, and has ended: {ended}",
                wakes.count()
            );
            if ended {
                *sleep = None;
            }
        }
    }
    let n_left = sleeps.iter().filter(|(_, sleep, _)| sleep.is_some()).count();
    ensure!(
        n_left == 0,
        "all of six sleeps were due, and {n_left} have not ended"
    );
    Ok(())
}

async fn a_dropped_sleep<C: Clock>(rig: &Rig<C>) -> Outcome {
    let (clock, mut pass) = (rig.make)();
    let (wakes, waker) = Wakes::new();
    let at = clock.now() + rig.step;
    drop({
        let mut sleep = Box::pin(clock.sleep_until(at));
        let _ = poll(sleep.as_mut(), &waker);
        sleep
    });
    pass(rig.step * 2).await;
    ensure!(
        wakes.count() == 0 && wakes.n_kept() == 0,
        "a sleep was dropped, and its waker is kept, or was woken"
    );
    Ok(())
}

async fn behind_one_type<C: Clock>(rig: &Rig<C>) -> Outcome {
    let (clock, mut pass) = (rig.make)();
    let boxed = BoxClock::new(clock.clone());
    let mut sleep = pin!(boxed.sleep_until(clock.now() + rig.step));
    ensure!(
        poll(sleep.as_mut(), Waker::noop()).is_pending(),
        "a sleep of the boxed clock ends before its time"
    );
    pass(rig.step * 2).await;
    ensure!(
        poll(sleep, Waker::noop()).is_ready(),
        "a sleep of the boxed clock does not end"
    );
    Ok(())
}
