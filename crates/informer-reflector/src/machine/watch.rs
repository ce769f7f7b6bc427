//! Rules of the watch.

use std::time::{Duration, Instant};

use informer_core::{FailureClass, ResourceVersion, WatchRequest};

use super::{Action, Failed, Input, Machine, Next, Note, State, What, after, concluded};
use crate::{Phase, Problem, Request};

/// A watch that ends sooner than this and brought nothing new counts as failed (client-go `VeryShortWatchError`).
pub(super) const SHORT: Duration = Duration::from_secs(1);

/// A watch that failed after this long was a good watch.
const LONG: Duration = Duration::from_secs(60);

/// After so many watches in a row that ended early and brought nothing new, the version they begin at is not trusted any more.
const MOST_FRUITLESS: u32 = 3;

/// How long a watch may outlive the time after which the server was to end it. Then the connection is dead, and nobody noticed.
const GRACE: Duration = Duration::from_secs(30);

/// A watch under way.
#[derive(Debug)]
pub(super) struct Watching {
    opened: bool,
    began_at: Instant,
    /// It has brought a version that was not known before.
    fruitful: bool,
    /// It began where the server first sends what exists, in no order: no version of that is a point to resume from (client-go
    /// `propagateRVFromStart`).
    holds_back: bool,
    /// Since when the source was not followed as it began.
    behind_since: Option<Instant>,
    /// When it is given up.
    pub(super) ends_at: Instant,
}

impl Machine {
    /// Watches from the last version received.
    pub(super) fn open_watch(&mut self, now: Instant) {
        self.fall_behind(now);
        let mut request = WatchRequest::default();
        request.version = self.seen();
        request.bookmarks = true;
        let timeout = self.watch_timeout_to_ask_for();
        request.timeout = Some(timeout);
        self.state = State::Watching(Watching {
            opened: false,
            began_at: now,
            fruitful: false,
            holds_back: request
                .version
                .as_ref()
                .is_none_or(|version| version.as_str() == "0"),
            behind_since: self.status.behind_since,
            ends_at: after(now, timeout) + GRACE,
        });
        self.watching(now);
        self.ask(Request::Watch(request));
    }

    /// The stream of a streaming list goes on as the watch.
    pub(super) fn follow_stream(&mut self, now: Instant, ends_at: Instant) {
        self.fruitless = 0;
        self.status.behind_since = None;
        self.state = State::Watching(Watching {
            opened: true,
            began_at: now,
            fruitful: true,
            holds_back: false,
            behind_since: None,
            ends_at: ends_at + GRACE,
        });
        self.watching(now);
    }

    fn watching(&mut self, now: Instant) {
        self.enter(now, Phase::Watching);
        self.arm_resync(now);
    }

    pub(super) fn watch_input(&mut self, now: Instant, input: Input) {
        let State::Watching(watching) = &mut self.state else {
            return;
        };
        match input {
            Input::Opened => {
                watching.opened = true;
                self.status.behind_since = None;
                self.backoff.on_healthy(now);
                if self.fruitless == 0 && self.status.failures > 0 {
                    self.succeeded(now);
                }
            }
            Input::Event { what, version } => {
                if what != What::Added {
                    watching.holds_back = false;
                }
                self.actions.push_back(Action::Deliver);
                self.status.events += 1;
                match what {
                    What::Added => self.status.objects += 1,
                    What::Modified => {}
                    What::Deleted => self.status.objects = self.status.objects.saturating_sub(1),
                }
                self.received(now, version);
            }
            Input::Bookmark { at, .. } => {
                watching.holds_back = false;
                if !at.is_none() {
                    self.actions.push_back(Action::Bookmark(at.clone()));
                }
                self.received(now, at);
            }
            Input::Odd | Input::Item | Input::ListEnd { .. } | Input::Resynced | Input::ResyncFailed(_) => {}
            Input::Relist => {
                self.actions.push_back(Action::Close);
                self.note(Note::RelistWanted);
                self.pause(now, None, Next::Relist);
            }
            Input::Ended => self.watch_ended(now),
            Input::Failed(failed) => self.watch_failed(now, failed),
        }
    }

    /// The watch brought this version.
    fn received(&mut self, now: Instant, version: ResourceVersion) {
        let State::Watching(watching) = &mut self.state else {
            return;
        };
        if version.is_none() || watching.holds_back || self.status.version == version {
            return;
        }
        self.status.version = version;
        if !watching.fruitful {
            watching.fruitful = true;
            self.fruitless = 0;
            if self.status.failures > 0 {
                self.succeeded(now);
            }
        }
        self.status.last_success = Some(now);
    }

    /// A quiet end is what every watch comes to.
    fn watch_ended(&mut self, now: Instant) {
        let State::Watching(watching) = &self.state else {
            return;
        };
        if watching.fruitful || now.saturating_duration_since(watching.began_at) >= SHORT {
            self.fruitless = 0;
            self.open_watch(now);
        } else {
            let message = "the watch ended within a second and brought nothing";
            self.watch_was_fruitless(now, concluded(FailureClass::Transient, message));
        }
    }

    fn watch_failed(&mut self, now: Instant, failed: Failed) {
        let State::Watching(watching) = &self.state else {
            return;
        };
        let good = watching.fruitful || now.saturating_duration_since(watching.began_at) >= LONG;
        match failed.class {
            // The server is away or busy: a list would only add to it, and the watch most likely resumes where it was.
            FailureClass::Refused | FailureClass::Throttled => {
                self.fail(now, Problem::Watch(failed.class), failed, Next::Rewatch);
            }
            FailureClass::Expired => {
                self.note(Note::WatchExpired);
                self.pause(now, failed.retry_after, Next::Relist);
            }
            FailureClass::Transient if watching.opened && good => {
                self.fruitless = 0;
                self.report(now, Problem::Watch(failed.class), failed, Duration::ZERO);
                self.open_watch(now);
            }
            FailureClass::Transient | FailureClass::Unauthorized => self.watch_was_fruitless(now, failed),
            FailureClass::Internal if self.internal_errors.admits(now) => {
                self.fail(now, Problem::Watch(failed.class), failed, Next::Rewatch);
            }
            class => {
                self.internal_errors.close();
                self.fail(now, Problem::Watch(class), failed, Next::Relist);
            }
        }
    }

    /// It may be chance, or the version; a list tells.
    fn watch_was_fruitless(&mut self, now: Instant, failed: Failed) {
        if let State::Watching(watching) = &self.state
            && watching.behind_since.is_some()
        {
            self.status.behind_since = watching.behind_since;
        }
        self.fruitless += 1;
        let next = if self.fruitless >= MOST_FRUITLESS {
            self.fruitless = 0;
            Next::Relist
        } else {
            Next::Rewatch
        };
        self.fail(now, Problem::Watch(failed.class), failed, next);
    }

    pub(super) fn watch_timeout(&mut self, now: Instant) {
        let State::Watching(watching) = &self.state else {
            return;
        };
        if watching.ends_at <= now {
            self.actions.push_back(Action::Close);
            let message = "the watch was still open long after the server should have ended it";
            self.watch_failed(now, concluded(FailureClass::Transient, message));
        }
    }
}
