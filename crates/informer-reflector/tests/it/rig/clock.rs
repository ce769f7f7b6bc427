//! A clock that is moved by hand.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use informer_core::Clock;

use super::lock;
use crate::script::epoch;

#[derive(Clone)]
pub(crate) struct ManualClock(Arc<Mutex<Time>>);

struct Time {
    now: Instant,
    sleepers: Vec<(Instant, Waker)>,
    /// Times that were ever slept for.
    sleeps: usize,
}

impl ManualClock {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Time {
            now: epoch(),
            sleepers: Vec::new(),
            sleeps: 0,
        })))
    }

    pub(crate) fn advance(&self, by: Duration) {
        let mut time = lock(&self.0);
        time.now += by;
        let now = time.now;
        let due: Vec<Waker> = time
            .sleepers
            .extract_if(.., |(at, _)| *at <= now)
            .map(|(_, waker)| waker)
            .collect();
        drop(time);
        due.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn sleeps(&self) -> usize {
        lock(&self.0).sleeps
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        lock(&self.0).now
    }

    async fn sleep_until(&self, at: Instant) {
        lock(&self.0).sleeps += 1;
        poll_fn(|cx| {
            let mut time = lock(&self.0);
            if time.now >= at {
                return Poll::Ready(());
            }
            time.sleepers.push((at, cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}
