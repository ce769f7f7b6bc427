//! `Clock`.

use std::{
    future::{Future, poll_fn},
    sync::{Arc, Mutex},
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use conformance_tests::Tally;
use informer_core::{BoxClock, Clock, TokioClock};
use informer_testkit::{ManualClock, block_on, conformance::clock::Suite};
use informer_workqueue::ThreadClock;

use crate::wrong::{all_catch, caught};

pub(crate) fn manual() -> Suite<ManualClock> {
    Suite::new("ManualClock", || {
        let clock = ManualClock::new();
        let time = clock.clone();
        (clock, move |by| {
            time.advance(by);
            async {}
        })
    })
}

#[test]
fn ours_conforms_by_hand() {
    block_on(manual().run()).assert_conforms();
    let boxed = Suite::new("BoxClock", || {
        let clock = ManualClock::new();
        let time = clock.clone();
        (BoxClock::new(clock), move |by| {
            time.advance(by);
            async {}
        })
    });
    block_on(boxed.run()).assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn ours_conforms_on_tokios_timer() {
    let suite = Suite::new("TokioClock", || (TokioClock, tokio::time::advance));
    suite.run().await.assert_conforms();
}

#[test]
fn ours_conforms_without_a_runtime() {
    // Its time really passes, so that only what takes a few steps is asked.
    for check in [
        "never_backward",
        "the_past_is_over",
        "not_before_its_time",
        "whoever_sleeps_is_woken",
        "behind_one_type",
    ] {
        let suite = Suite::new("ThreadClock", || {
            (ThreadClock, |by| async move {
                ThreadClock.sleep_until(ThreadClock.now() + by).await;
            })
        });
        let suite = suite.step(Duration::from_millis(20)).only(check);
        block_on(suite.run()).assert_conforms();
    }
}

#[test]
fn a_tally_conforms() {
    let suite = Suite::new("Tally", || {
        let tally = Tally::new();
        let counted = tally.clone();
        (tally, move |by| {
            counted.count(by);
            async {}
        })
    });
    block_on(suite.run()).assert_conforms();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    StandsStill,
    ClonesStartAnew,
    WaitsForThePast,
    EndsEarly,
    WakesTheFirst,
    WakesOne,
    KeepsWakers,
    ForgetsInABox,
}

const WRONG: [(Fault, &str); 8] = [
    (Fault::StandsStill, "never_backward"),
    (Fault::ClonesStartAnew, "clones_are_one_clock"),
    (Fault::WaitsForThePast, "the_past_is_over"),
    (Fault::EndsEarly, "not_before_its_time"),
    (Fault::WakesTheFirst, "whoever_sleeps_is_woken"),
    (Fault::WakesOne, "each_at_its_time"),
    (Fault::KeepsWakers, "a_dropped_sleep"),
    (Fault::ForgetsInABox, "behind_one_type"),
];

struct Bent {
    clock: ManualClock,
    fault: Fault,
    start: Instant,
    wakers: Arc<Mutex<Vec<Waker>>>,
}

impl Clone for Bent {
    fn clone(&self) -> Self {
        let clock = match self.fault {
            Fault::ClonesStartAnew | Fault::ForgetsInABox => ManualClock::starting_at(self.start),
            _ => self.clock.clone(),
        };
        Self {
            clock,
            fault: self.fault,
            start: self.start,
            wakers: self.wakers.clone(),
        }
    }
}

impl Clock for Bent {
    fn now(&self) -> Instant {
        match self.fault {
            Fault::StandsStill => self.start,
            _ => self.clock.now(),
        }
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        let (clock, fault, wakers) = (self.clock.clone(), self.fault, self.wakers.clone());
        let mut n_polls = 0;
        poll_fn(move |cx| {
            n_polls += 1;
            let early = if fault == Fault::EndsEarly {
                Duration::from_millis(1500)
            } else {
                Duration::ZERO
            };
            let is_over = clock.now() + early >= at && !(fault == Fault::WaitsForThePast && n_polls == 1);
            if is_over {
                return Poll::Ready(());
            }
            let mut wakers = wakers.lock().unwrap();
            if fault != Fault::WakesTheFirst || wakers.is_empty() {
                wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
    }
}

#[test]
fn wrong_ones_are_found_out() {
    for (fault, check) in WRONG {
        let suite = Suite::new(&format!("{fault:?}"), move || {
            let clock = ManualClock::new();
            let bent = Bent {
                start: clock.now(),
                clock: clock.clone(),
                fault,
                wakers: Arc::default(),
            };
            let wakers = bent.wakers.clone();
            let pass = move |by| {
                clock.advance(by);
                let mut wakers = wakers.lock().unwrap();
                match fault {
                    Fault::WakesOne => wakers.pop().into_iter().for_each(Waker::wake),
                    _ => wakers.drain(..).for_each(Waker::wake),
                }
                async {}
            };
            (bent, pass)
        });
        caught(check, &block_on(suite.only(check).run()));
    }
    all_catch(&block_on(manual().run()), &WRONG.map(|(_, check)| check));
}
