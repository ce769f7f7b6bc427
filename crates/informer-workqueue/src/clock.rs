//! A clock for programs without an async runtime.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
    thread::{self, JoinHandle},
    time::Instant,
};

use informer_core::Clock;

/// The real clock, without a runtime.
///
/// Blocking takes need no timer from it, only the time. An async wait starts a thread that ends with the wait; a queue has at most one
/// such wait at a time. In a program with a runtime, use that runtime's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadClock;

impl Clock for ThreadClock {
    #[expect(clippy::disallowed_methods, reason = "this is the edge where time enters")]
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        Sleep { at, timer: None }
    }
}

struct Sleep {
    at: Instant,
    timer: Option<Timer>,
}

struct Timer {
    /// `None`: nobody waits any more.
    waker: Arc<Mutex<Option<Waker>>>,
    thread: JoinHandle<()>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let at = self.at;
        if at <= ThreadClock.now() {
            return Poll::Ready(());
        }
        match &self.timer {
            Some(timer) => {
                *timer.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            }
            None => {
                let waker = Arc::new(Mutex::new(Some(cx.waker().clone())));
                let shared = waker.clone();
                let thread = thread::spawn(move || run_timer(at, &shared));
                self.timer = Some(Timer { waker, thread });
            }
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            timer.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
            timer.thread.thread().unpark();
        }
    }
}

/// Waits until `at`, then wakes; ends early when there is nobody left to wake.
fn run_timer(at: Instant, waker: &Mutex<Option<Waker>>) {
    loop {
        let left = at.saturating_duration_since(ThreadClock.now());
        let mut waker = waker.lock().unwrap_or_else(PoisonError::into_inner);
        if waker.is_none() {
            return;
        }
        if left.is_zero() {
            let waker = waker.take();
            return waker.into_iter().for_each(Waker::wake);
        }
        drop(waker);
        thread::park_timeout(left);
    }
}
