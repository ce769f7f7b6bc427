//! A clock that is not ours: it counts steps of a millisecond.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use informer_core::{Clock, TokioClock};

/// Counts. Clones share the count.
#[derive(Debug, Clone)]
pub struct Tally {
    start: Instant,
    count: Arc<Mutex<Count>>,
}

#[derive(Debug, Default)]
struct Count {
    n: u32,
    naps: Vec<Option<Waker>>,
}

impl Tally {
    /// Begins to count.
    #[must_use]
    pub fn new() -> Self {
        Self {
            // Any instant will do.
            start: TokioClock.now(),
            count: Arc::default(),
        }
    }

    /// Counts so far.
    pub fn count(&self, by: Duration) {
        let wakers: Vec<_> = {
            let mut count = self.lock();
            count.n += u32::try_from(by.as_millis()).unwrap_or(u32::MAX);
            count.naps.iter_mut().filter_map(Option::take).collect()
        };
        // Everybody looks whether it is their turn.
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for Tally {
    fn now(&self) -> Instant {
        self.start + Duration::from_millis(1) * self.lock().n
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        let mut count = self.lock();
        count.naps.push(None);
        Nap {
            tally: self.clone(),
            at,
            place: count.naps.len() - 1,
        }
    }
}

/// Until a count is reached.
#[derive(Debug)]
pub struct Nap {
    tally: Tally,
    at: Instant,
    place: usize,
}

impl Future for Nap {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.tally.now() >= self.at {
            return Poll::Ready(());
        }
        self.tally.lock().naps[self.place] = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Nap {
    fn drop(&mut self) {
        self.tally.lock().naps[self.place] = None;
    }
}
