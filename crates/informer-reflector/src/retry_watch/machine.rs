//! The rules of a retried watch.

use std::time::{Duration, Instant};

use informer_backoff::{Backoff, SplitMix64};
use informer_core::{FailureClass, ResourceVersion, WatchRequest};

use crate::{Options, options::SHORTEST_WATCH_TIMEOUT};

/// Between the beginnings of two watches (client-go `NewRetryWatcher`).
const APART: Duration = Duration::from_secs(1);

/// How long a watch may outlive the time after which the server was to end it.
const GRACE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Machine {
    version: ResourceVersion,
    min_watch_timeout: Duration,
    backoff: Backoff,
    random: SplitMix64,
    began_at: Option<Instant>,
    opens_at: Instant,
    ends_at: Instant,
}

impl Machine {
    pub(super) fn new(version: ResourceVersion, options: &Options, seed: u64, now: Instant) -> Self {
        Self {
            version,
            min_watch_timeout: options.min_watch_timeout.max(SHORTEST_WATCH_TIMEOUT),
            backoff: Backoff::new(options.backoff.clone()),
            random: SplitMix64::new(seed),
            began_at: None,
            opens_at: now,
            ends_at: now,
        }
    }

    pub(super) fn version(&self) -> &ResourceVersion {
        &self.version
    }

    /// When the next watch may begin.
    pub(super) fn opens_at(&self) -> Instant {
        self.opens_at
    }

    /// When the open watch is given up: the server should have ended it, so the connection is dead.
    pub(super) fn ends_at(&self) -> Instant {
        self.ends_at
    }

    /// A watch begins.
    pub(super) fn open(&mut self, now: Instant) -> WatchRequest {
        let shortest = self.min_watch_timeout;
        let timeout = self.random.next_between(shortest, shortest.saturating_mul(2));
        let mut request = WatchRequest::default();
        request.version = Some(self.version.clone());
        request.bookmarks = true;
        request.timeout = Some(timeout);
        self.began_at = Some(now);
        self.ends_at = now + timeout + GRACE;
        request
    }

    /// It brought this version; an empty one is none.
    pub(super) fn received(&mut self, now: Instant, version: &ResourceVersion) {
        if !version.is_none() {
            self.version.clone_from(version);
            self.backoff.on_healthy(now);
        }
    }

    /// It ended quietly.
    pub(super) fn ended(&mut self, now: Instant) {
        self.opens_at = now.max(self.began_at.unwrap_or(now) + APART);
    }

    /// It failed. Whether it is begun again: from a version that is gone, or without permission, there is no going on.
    pub(super) fn failed(
        &mut self,
        now: Instant,
        class: FailureClass,
        retry_after: Option<Duration>,
    ) -> bool {
        let wait = self.backoff.next(now, self.random.next_u64());
        self.ended(now);
        self.opens_at = self.opens_at.max(now + wait.max(retry_after.unwrap_or_default()));
        !matches!(
            class,
            FailureClass::Expired
                | FailureClass::Unauthorized
                | FailureClass::Forbidden
                | FailureClass::Unsupported
                | FailureClass::Fatal
        )
    }
}
