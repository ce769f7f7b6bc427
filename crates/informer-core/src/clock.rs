//! Time, as drivers see it.

use std::{future::Future, time::Instant};

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
