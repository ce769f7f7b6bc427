//! For how long internal errors are retried.

use std::time::{Duration, Instant};

/// After this long without such an error the window opens anew.
const QUIET: Duration = Duration::from_secs(60);

/// A window that opens at the first internal error (client-go `RetryWithDeadline`).
#[derive(Debug)]
pub(super) struct RetryWindow {
    open_for: Duration,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl RetryWindow {
    pub(super) fn new(open_for: Duration) -> Self {
        Self {
            open_for,
            first: None,
            last: None,
        }
    }

    /// Counts an internal error and says whether the window is still open.
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        if self.open_for.is_zero() {
            return false;
        }
        if self
            .last
            .is_none_or(|last| now.saturating_duration_since(last) >= QUIET)
        {
            self.first = None;
        }
        self.last = Some(now);
        let first = *self.first.get_or_insert(now);
        let open = now.saturating_duration_since(first) <= self.open_for;
        if !open {
            self.close();
        }
        open
    }

    /// The next internal error is the first.
    pub(super) fn close(&mut self) {
        self.first = None;
        self.last = None;
    }
}
