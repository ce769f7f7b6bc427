//! A drain that ends in time, and says what it left.

use std::{
    future::poll_fn,
    pin::pin,
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use informer_core::Clock;

use crate::{Item, Queue, Shutdown, WorkQueue};

/// What a drain left behind: [`Queue::drain`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Drained<T> {
    /// What was not handed out any more: delayed at the beginning, or still waiting at the end.
    pub left: Vec<T>,
    /// What was still in work at the end, the longest in work first.
    pub running: Vec<T>,
    /// Whether the queue was drained when the wait ended, as far as the form of the shutdown promises it.
    in_time: bool,
}

impl<T> Drained<T> {
    /// Whether the time was enough for all that this form of shutdown waits for: what was in work, and with
    /// [`Shutdown::Drain`] of what is queued what was ready, too. What was dropped at the beginning does not count: it is
    /// named in [`left`](Self::left).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.in_time
    }
}

impl<T: Item, C: Clock> Queue<T, C> {
    /// Shuts it down like this, waits until it is drained, `within` at most, and says what was left. When the time is over, what still
    /// waits is dropped as with [`Shutdown::Now`].
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait; the queue stays shut down as it was told.
    pub async fn drain(&self, how: Shutdown, within: Duration) -> Drained<T> {
        let left = self.shut_down(how);
        let mut drained = pin!(self.drained());
        let mut timer = pin!(async {
            match self.inner.now().checked_add(within) {
                Some(at) => self.inner.sleep_until(at).await,
                None => std::future::pending().await,
            }
        });
        poll_fn(|cx| match drained.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => timer.as_mut().poll(cx),
        })
        .await;
        self.report(left)
    }

    /// As [`drain`](Self::drain), by blocking the thread.
    pub fn drain_blocking(&self, how: Shutdown, within: Duration) -> Drained<T> {
        let left = self.shut_down(how);
        self.drained_blocking_until(self.inner.now().checked_add(within));
        self.report(left)
    }

    fn report(&self, mut left: Vec<T>) -> Drained<T> {
        let running = self.inner.running();
        let in_time = self.poll_drained(Waker::noop()).is_ready();
        // After a complete drain this changes nothing.
        left.extend(self.shut_down(Shutdown::Now));
        Drained {
            left,
            running,
            in_time,
        }
    }

    fn drained_blocking_until(&self, deadline: Option<Instant>) {
        self.park_until_drained(|| {
            let left = deadline.map(|at| at.saturating_duration_since(self.inner.now()));
            (left != Some(Duration::ZERO)).then_some(left)
        });
    }
}
