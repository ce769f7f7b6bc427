//! What the suites watch wakers, threads and waits with.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    task::{Poll, Wake, Waker},
    thread,
    time::Duration,
};

use informer_core::{BoxClock, Clock};

/// How long a thread may take for a step before it counts as stuck. No check that is passed waits for it.
const STUCK: Duration = Duration::from_secs(10);

/// Counts how often its waker was woken.
#[derive(Debug, Default)]
pub(super) struct Wakes(AtomicUsize);

impl Wakes {
    pub(super) fn new() -> (Arc<Self>, Waker) {
        let wakes = Arc::new(Self::default());
        (wakes.clone(), Waker::from(wakes))
    }

    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Wakers of it that somebody keeps, beside the one that `new` gave out.
    pub(super) fn n_kept(self: &Arc<Self>) -> usize {
        Arc::strong_count(self).saturating_sub(2)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Runs `job` on another thread and waits for it. `None`: it is stuck.
pub(super) fn elsewhere<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    step_by_step(|_| job())
}

/// The same for a job of many steps, which calls what it is given after each: it is stuck when one step is.
pub(super) fn step_by_step<T: Send + 'static>(
    job: impl FnOnce(&dyn Fn()) -> T + Send + 'static,
) -> Option<T> {
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        let result = job(&|| drop(tell.send(None)));
        // The receiver may have given up.
        drop(tell.send(Some(result)));
    });
    loop {
        match told.recv_timeout(STUCK) {
            Ok(None) => {}
            Ok(Some(result)) => return Some(result),
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return None,
            },
        }
    }
}

/// How long an async suite waits for what must come.
///
/// By default a suite polls a thousand times and lets other tasks of its thread run in between: right for whatever has no real
/// input or output in it. Where something is really waited for, give it [time](Self::time).
#[derive(Clone)]
pub struct Patience(Kind);

#[derive(Clone)]
enum Kind {
    Polls(u32),
    Time(BoxClock, Duration),
}

impl Patience {
    /// At most so many polls, with other tasks of the thread in between.
    #[must_use]
    pub const fn polls(n: u32) -> Self {
        Self(Kind::Polls(n))
    }

    /// At most so long.
    #[must_use]
    pub fn time(clock: impl Clock, at_most: Duration) -> Self {
        Self(Kind::Time(BoxClock::new(clock), at_most))
    }

    /// Waits for what must come. `None`: it did not.
    pub(super) async fn wait<F: Future>(&self, future: F) -> Option<F::Output> {
        self.wait_a_part(1, future).await
    }

    /// Waits for what must not come, so not as long.
    pub(super) async fn glance<F: Future>(&self, future: F) -> Option<F::Output> {
        self.wait_a_part(20, future).await
    }

    /// Waits until something holds that wakes nobody. `false`: it does not come to hold.
    pub(super) async fn until(&self, mut holds: impl FnMut() -> bool) -> bool {
        const STEPS: u32 = 100;
        if let Kind::Time(clock, at_most) = &self.0 {
            for _ in 0..STEPS {
                if holds() {
                    return true;
                }
                clock.sleep_until(clock.now() + *at_most / STEPS).await;
            }
            return holds();
        }
        let held = poll_fn(|_| if holds() { Poll::Ready(()) } else { Poll::Pending });
        self.wait(held).await.is_some()
    }

    /// Whether what is waited for may be real input.
    pub(super) fn is_real(&self) -> bool {
        matches!(self.0, Kind::Time(..))
    }

    async fn wait_a_part<F: Future>(&self, part: u32, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        match &self.0 {
            Kind::Polls(n) => {
                let mut left = (n / part).max(1);
                poll_fn(|cx| {
                    if let Poll::Ready(output) = future.as_mut().poll(cx) {
                        return Poll::Ready(Some(output));
                    }
                    left -= 1;
                    if left == 0 {
                        return Poll::Ready(None);
                    }
                    cx.waker().wake_by_ref();
                    Poll::Pending
                })
                .await
            }
            Kind::Time(clock, at_most) => {
                let mut end = pin!(clock.sleep_until(clock.now() + *at_most / part));
                poll_fn(|cx| {
                    if let Poll::Ready(output) = future.as_mut().poll(cx) {
                        return Poll::Ready(Some(output));
                    }
                    end.as_mut().poll(cx).map(|()| None)
                })
                .await
            }
        }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self::polls(1000)
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Polls(n) => f.debug_tuple("Polls").field(n).finish(),
            Kind::Time(_, at_most) => f.debug_tuple("Time").field(at_most).finish(),
        }
    }
}
