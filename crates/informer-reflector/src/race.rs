//! Waiting for several things at once, without a runtime.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Instant,
};

use informer_core::Clock;

/// What came first.
pub(crate) enum First<T> {
    Done(T),
    /// Nobody reads any more.
    Closed,
    /// Somebody wants something.
    Told,
    TimedOut,
}

/// Waits for `work`, until `alarm` goes off or `other` is ready. What is not done then is dropped.
///
/// Work that is ready wins, so that a due alarm throws away nothing that has arrived.
pub(crate) async fn race<T, C: Clock>(
    work: impl Future<Output = T>,
    alarm: &mut Alarm<C>,
    mut other: impl FnMut(&mut Context<'_>) -> Poll<First<T>>,
) -> First<T> {
    let mut work = pin!(work);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(First::Done(done));
        }
        if let Poll::Ready(other) = other(cx) {
            return Poll::Ready(other);
        }
        alarm.poll(cx).map(|()| First::TimedOut)
    })
    .await
}

/// A timer that is set again only when its time changes: one event of a watch must not cost a timer.
pub(crate) struct Alarm<C> {
    clock: C,
    at: Option<Instant>,
    sleep: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<C> fmt::Debug for Alarm<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm")
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl<C: Clock> Alarm<C> {
    pub(crate) fn new(clock: C) -> Self {
        Self {
            clock,
            at: None,
            sleep: None,
        }
    }

    pub(crate) fn set(&mut self, at: Instant) {
        if self.at != Some(at) {
            self.at = Some(at);
            self.sleep = None;
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else {
            return Poll::Pending;
        };
        let clock = &self.clock;
        let sleep = self.sleep.get_or_insert_with(|| {
            let clock = clock.clone();
            Box::pin(async move { clock.sleep_until(at).await })
        });
        let gone_off = sleep.as_mut().poll(cx);
        if gone_off.is_ready() {
            self.at = None;
            self.sleep = None;
        }
        gone_off
    }
}

/// Lets others run once.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
