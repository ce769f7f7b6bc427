//! `ManualClock`: time that moves only when a test says so.

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use informer_core::Clock;

/// A clock that stands still until it is advanced. Clones share one time. Needs no runtime.
#[derive(Clone)]
pub struct ManualClock {
    state: Arc<Mutex<State>>,
}

struct State {
    start: Instant,
    now: Instant,
    next_id: u64,
    sleepers: BTreeMap<(Instant, u64), Waker>,
}

impl ManualClock {
    /// A clock at an arbitrary first instant.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "an `Instant` can be had no other way; its value is never looked at"
    )]
    pub fn new() -> Self {
        Self::starting_at(Instant::now())
    }

    /// A clock at this instant.
    #[must_use]
    pub fn starting_at(start: Instant) -> Self {
        Self {
            state: Arc::new(Mutex::new(State {
                start,
                now: start,
                next_id: 0,
                sleepers: BTreeMap::new(),
            })),
        }
    }

    /// Moves the time forward and wakes whoever is due.
    pub fn advance(&self, by: Duration) {
        let to = self.lock().now + by;
        self.advance_to(to);
    }

    /// Moves the time forward to `to` and wakes whoever is due, the earliest first. An instant that has passed changes nothing.
    pub fn advance_to(&self, to: Instant) {
        let due = {
            let mut state = self.lock();
            let now = state.now.max(to);
            state.now = now;
            let later = state.sleepers.split_off(&(now, u64::MAX));
            std::mem::replace(&mut state.sleepers, later)
        };
        // Outside of the lock: a waker may poll the sleeper at once.
        due.into_values().for_each(Waker::wake);
    }

    /// Moves the time to the earliest sleeper and wakes it. `None` when nobody sleeps.
    pub fn advance_to_next(&self) -> Option<Instant> {
        let next = self.next_sleeper()?;
        self.advance_to(next);
        Some(next)
    }

    /// When the earliest sleeper is due.
    #[must_use]
    pub fn next_sleeper(&self) -> Option<Instant> {
        self.lock().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// How many sleep.
    #[must_use]
    pub fn n_sleepers(&self) -> usize {
        self.lock().sleepers.len()
    }

    /// How much time has passed since the clock was made.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        let state = self.lock();
        state.now - state.start
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock")
            .field("elapsed", &self.elapsed())
            .field("sleepers", &self.n_sleepers())
            .finish()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        self.lock().now
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        Sleep {
            clock: self.clone(),
            at,
            id: None,
        }
    }
}

struct Sleep {
    clock: ManualClock,
    at: Instant,
    id: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let clock = self.clock.clone();
        let mut state = clock.lock();
        if state.now >= self.at {
            if let Some(id) = self.id.take() {
                state.sleepers.remove(&(self.at, id));
            }
            return Poll::Ready(());
        }
        let id = *self.id.get_or_insert_with(|| {
            state.next_id += 1;
            state.next_id
        });
        let old = state.sleepers.insert((self.at, id), cx.waker().clone());
        // A waker may hold a task that sleeps itself: it is dropped outside of the lock.
        drop(state);
        drop(old);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let mut state = self.clock.lock();
            let old = state.sleepers.remove(&(self.at, id));
            drop(state);
            drop(old);
        }
    }
}
