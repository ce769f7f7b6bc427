//! Time, as drivers see it.

use std::{fmt, future::Future, sync::Arc, time::Instant};

use crate::BoxFuture;

/// Tells the time and waits. Drivers hold one; machines get `now` as an argument.
pub trait Clock: Clone + Send + Sync + 'static {
    /// The time now. Never goes backward.
    fn now(&self) -> Instant;

    /// Returns at `at` or soon after; at once if it has passed.
    ///
    /// # Cancel safety
    /// Dropping it ends the wait.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send;
}

trait DynClock: Send + Sync {
    fn dyn_now(&self) -> Instant;
    fn dyn_sleep_until(&self, at: Instant) -> BoxFuture<'_, ()>;
}

impl<C: Clock> DynClock for C {
    fn dyn_now(&self) -> Instant {
        self.now()
    }

    fn dyn_sleep_until(&self, at: Instant) -> BoxFuture<'_, ()> {
        Box::pin(self.sleep_until(at))
    }
}

/// Any clock behind one type.
#[derive(Clone)]
pub struct BoxClock(Arc<dyn DynClock>);

impl BoxClock {
    /// Boxes a clock.
    #[must_use]
    pub fn new(clock: impl Clock) -> Self {
        Self(Arc::new(clock))
    }
}

impl fmt::Debug for BoxClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxClock").finish_non_exhaustive()
    }
}

impl Clock for BoxClock {
    fn now(&self) -> Instant {
        self.0.dyn_now()
    }

    async fn sleep_until(&self, at: Instant) {
        self.0.dyn_sleep_until(at).await;
    }
}

/// The real clock, on tokio's timer: a test that pauses tokio's time pauses this clock.
#[cfg(feature = "tokio")]
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioClock;

#[cfg(feature = "tokio")]
impl Clock for TokioClock {
    #[expect(clippy::disallowed_methods, reason = "this is the edge where time enters")]
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    async fn sleep_until(&self, at: Instant) {
        tokio::time::sleep_until(at.into()).await;
    }
}
