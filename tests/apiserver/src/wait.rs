//! Waiting for a condition: the only place here that looks at a clock.

use std::{
    env, io, thread,
    time::{Duration, Instant},
};

/// How often a condition is looked at.
const PAUSE: Duration = Duration::from_millis(25);

/// By how much bounds of time are stretched: `INFORMER_TIME_SCALE`, or 5, since tests share their machine with compilers.
#[must_use]
pub fn scale() -> u32 {
    let scale = env::var("INFORMER_TIME_SCALE").ok();
    scale.and_then(|scale| scale.parse().ok()).unwrap_or(5)
}

/// A bound of time on this machine.
#[must_use]
pub fn scaled(limit: Duration) -> Duration {
    limit * scale()
}

/// Blocks until `look` finds something.
///
/// # Errors
/// What `look` fails with, or that `what` did not come true within `limit`.
#[expect(
    clippy::disallowed_methods,
    reason = "the servers are real, and so is the time that they take"
)]
pub fn block<T>(
    what: &str,
    limit: Duration,
    mut look: impl FnMut() -> io::Result<Option<T>>,
) -> io::Result<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if Instant::now() > end {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("{what}: not within {limit:?}"),
            ));
        }
        thread::sleep(PAUSE);
    }
}

/// Waits until `look` finds something, and gives it back.
///
/// # Panics
/// When it finds nothing within `limit`.
#[expect(
    clippy::disallowed_methods,
    reason = "the servers are real, and so is the time that they take"
)]
pub async fn until<T>(what: &str, limit: Duration, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() <= end, "{what}: not within {limit:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// How long `work` takes, and what it returns.
#[expect(clippy::disallowed_methods, reason = "a stop is bounded in real time")]
pub async fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let begin = Instant::now();
    let result = work.await;
    (begin.elapsed(), result)
}

/// Runs out after a time of its own.
#[derive(Debug, Clone, Copy)]
pub struct Timer {
    begin: Instant,
    limit: Duration,
}

impl Timer {
    /// Begins now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the servers are real, and so is the time that they take"
    )]
    pub fn new(limit: Duration) -> Self {
        Self {
            begin: Instant::now(),
            limit,
        }
    }

    /// Whether it has run out.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.elapsed() >= self.limit
    }

    /// How long it has run.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }
}

/// Lets a load pause between one request and the next, so that it is steady. Waits for nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "a load on real servers has a rate in real time"
)]
pub async fn pace(pause: Duration) {
    tokio::time::sleep(pause).await;
}
