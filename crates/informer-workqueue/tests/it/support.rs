//! Clocks and wakers for the tests.

use std::{
    future::{Future, poll_fn},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Poll, Wake, Waker},
    time::{Duration, Instant},
};

use informer_core::Clock;

/// A time to start from.
#[expect(
    clippy::disallowed_methods,
    reason = "an instant can only be made from the clock"
)]
pub(crate) fn epoch() -> Instant {
    Instant::now()
}

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A clock that stands still until it is moved.
#[derive(Debug, Clone)]
pub(crate) struct ManualClock {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    now: Instant,
    sleepers: Vec<Arc<Sleeper>>,
    most_sleepers: usize,
}

#[derive(Debug)]
struct Sleeper {
    at: Instant,
    waker: Mutex<Option<Waker>>,
}

impl ManualClock {
    pub(crate) fn new() -> Self {
        let shared = Shared {
            now: epoch(),
            sleepers: Vec::new(),
            most_sleepers: 0,
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
        }
    }

    pub(crate) fn advance(&self, by: Duration) {
        let due: Vec<_> = {
            let mut shared = self.shared.lock().unwrap();
            shared.now += by;
            let now = shared.now;
            shared
                .sleepers
                .iter()
                .filter(|it| it.at <= now)
                .cloned()
                .collect()
        };
        for sleeper in due {
            let waker = sleeper.waker.lock().unwrap().take();
            waker.into_iter().for_each(Waker::wake);
        }
    }

    /// The most timers that were ever armed at once.
    pub(crate) fn most_timers(&self) -> usize {
        self.shared.lock().unwrap().most_sleepers
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        self.shared.lock().unwrap().now
    }

    async fn sleep_until(&self, at: Instant) {
        struct Guard(ManualClock, Arc<Sleeper>);

        impl Drop for Guard {
            fn drop(&mut self) {
                let mut shared = self.0.shared.lock().unwrap();
                shared.sleepers.retain(|it| !Arc::ptr_eq(it, &self.1));
            }
        }

        let sleeper = Arc::new(Sleeper {
            at,
            waker: Mutex::new(None),
        });
        {
            let mut shared = self.shared.lock().unwrap();
            shared.sleepers.push(sleeper.clone());
            shared.most_sleepers = shared.most_sleepers.max(shared.sleepers.len());
        }
        let guard = Guard(self.clone(), sleeper);
        poll_fn(|cx| {
            *guard.1.waker.lock().unwrap() = Some(cx.waker().clone());
            if at <= self.now() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

/// tokio's clock, which a paused runtime moves by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokioClock;

impl Clock for TokioClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        tokio::time::sleep_until(at.into())
    }
}

/// A waker that counts.
#[derive(Debug, Default)]
pub(crate) struct Wakes(AtomicUsize);

impl Wakes {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let wakes = Arc::new(Self::default());
        (wakes.clone(), wakes.into())
    }

    pub(crate) fn n(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Small, fast, the same for a seed.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}
