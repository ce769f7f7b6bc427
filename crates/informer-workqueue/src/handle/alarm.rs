//! The one timer of a queue.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, PoisonError, Weak},
    task::{Context, Poll, Wake, Waker},
    time::Instant,
};

use informer_core::Clock;

use super::Inner;
use crate::Item;

/// The clock's timer, armed for the next delayed item. It belongs to the queue, not to the worker that armed it: when it rings it wakes
/// whoever waits then, so a worker may go away at any time.
pub(super) struct Alarm {
    at: Instant,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
    waker: Waker,
}

impl Alarm {
    /// Makes sure that the timer rings at `due` or before. Ready: it has rung, look again. It may ring too early, never too late.
    pub(super) fn guard<T: Item, C: Clock>(inner: &Arc<Inner<T, C>>, due: Instant) -> Poll<()> {
        let mut alarm = inner.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        // Another worker may have armed it for an earlier time since `due` was read: that one stays.
        if alarm.as_ref().is_none_or(|alarm| due < alarm.at) {
            *alarm = Some(Self::set(inner, due));
        }
        let Some(armed) = &mut *alarm else {
            return Poll::Ready(());
        };
        let rung = armed.sleep.as_mut().poll(&mut Context::from_waker(&armed.waker));
        let at = armed.at;
        if rung.is_ready() {
            *alarm = None;
        }
        inner.lock().waiters.armed_at = rung.is_pending().then_some(at);
        rung
    }

    fn set<T: Item, C: Clock>(inner: &Arc<Inner<T, C>>, at: Instant) -> Self {
        let clock = inner.clock.clone();
        Self {
            at,
            sleep: Box::pin(async move { clock.sleep_until(at).await }),
            waker: Arc::new(Ring(Arc::downgrade(inner))).into(),
        }
    }
}

/// Weak: the queue owns the timer, which holds this.
struct Ring<T, C>(Weak<Inner<T, C>>);

impl<T: Item, C: Clock> Wake for Ring<T, C> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(inner) = self.0.upgrade() {
            let wakes = inner.lock().waiters.call(1);
            wakes.wake();
        }
    }
}
