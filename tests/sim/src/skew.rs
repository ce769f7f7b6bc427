//! A clock that shows another time than the world's, and goes at another rate.

use std::time::{Duration, Instant};

use informer_core::Clock;
use informer_testkit::ManualClock;

/// Shows `offset` more than the world's clock did at the beginning, and goes `rate` thousandths as fast.
#[derive(Debug, Clone)]
pub(crate) struct SkewClock {
    world: ManualClock,
    start: Instant,
    offset: Duration,
    rate: u32,
}

impl SkewClock {
    pub(crate) fn new(world: ManualClock, offset: Duration, rate: u32) -> Self {
        let start = world.now() - world.elapsed();
        Self {
            world,
            start,
            offset,
            rate,
        }
    }

    /// How much time has passed by this clock since the beginning of the world.
    pub(crate) fn elapsed(&self) -> Duration {
        nanos(self.world.elapsed().as_nanos() * u128::from(self.rate) / 1000)
    }
}

impl Clock for SkewClock {
    fn now(&self) -> Instant {
        self.start + self.offset + self.elapsed()
    }

    async fn sleep_until(&self, at: Instant) {
        let local = at.saturating_duration_since(self.start + self.offset).as_nanos();
        // Not before it shows that time.
        let world = nanos((local * 1000).div_ceil(u128::from(self.rate)));
        self.world.sleep_until(self.start + world).await;
    }
}

fn nanos(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
