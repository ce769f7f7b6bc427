//! Rules of the streaming list.

use std::time::{Duration, Instant};

use informer_core::{FailureClass, ResourceVersion, WatchRequest};

use super::{Action, Failed, Input, Machine, Next, Note, State, What, after, watch::SHORT};
use crate::{Phase, Problem, Request};

/// So many streams may be cut before LIST is used instead.
const MOST_CUTS: u32 = 2;

/// client-go `newInitialEventsEndBookmarkTicker`.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// In all a streaming list may take this many times the wait without progress: a busy watch whose server knows no end marker always
/// makes some.
const MOST_WAITS: u32 = 10;

/// A streaming list under way.
#[derive(Debug)]
pub(super) struct Streaming {
    /// It was asked with a version.
    with_version: bool,
    opened: bool,
    began_at: Instant,
    objects: usize,
    /// Events of any kind.
    events: usize,
    progress_at: Instant,
    warn_at: Instant,
    /// When to look at the times above.
    pub(super) check_at: Instant,
    /// The server ends it then.
    ends_at: Instant,
}

impl Machine {
    /// Begins a streaming list: not older than what was seen, or the most recent state (client-go `rewatchResourceVersion`).
    pub(super) fn open_stream(&mut self, now: Instant) {
        let mut request = WatchRequest::default();
        request.version = self.not_older_than();
        request.bookmarks = true;
        request.initial_events = true;
        let timeout = self.watch_timeout_to_ask_for();
        request.timeout = Some(timeout);
        self.state = State::Streaming(Streaming {
            with_version: request.version.is_some(),
            opened: false,
            began_at: now,
            objects: 0,
            events: 0,
            progress_at: now,
            warn_at: now + WARN_EVERY,
            check_at: after(now, WARN_EVERY.min(self.options.streaming_wait)),
            ends_at: after(now, timeout),
        });
        self.enter(now, Phase::Streaming);
        self.ask(Request::Watch(request));
    }

    pub(super) fn stream_input(&mut self, now: Instant, input: Input) {
        let State::Streaming(streaming) = &mut self.state else {
            return;
        };
        match input {
            Input::Opened => streaming.opened = true,
            Input::Event { what, .. } => {
                streaming.events += 1;
                streaming.progress_at = now;
                match what {
                    What::Added => streaming.objects += 1,
                    What::Modified => {}
                    What::Deleted => streaming.objects = streaming.objects.saturating_sub(1),
                }
                self.actions.push_back(Action::Keep);
            }
            Input::Bookmark {
                end_of_initial: false,
                ..
            } => streaming.events += 1,
            Input::Bookmark { at, .. } => self.stream_is_whole(now, at),
            Input::Odd
            | Input::Item
            | Input::ListEnd { .. }
            | Input::Relist
            | Input::Resynced
            | Input::ResyncFailed(_) => {}
            Input::Ended => self.stream_ended(now),
            Input::Failed(failed) => self.stream_failed(now, failed),
        }
    }

    /// The end marker came: what was kept is the whole state, and the same stream is the watch from here on.
    fn stream_is_whole(&mut self, now: Instant, at: ResourceVersion) {
        let State::Streaming(streaming) = &self.state else {
            return;
        };
        if at.is_none() {
            self.actions.push_back(Action::Close);
            self.fall_back(now, "its end marker has no resource version", true, false);
            return;
        }
        let (objects, ends_at) = (streaming.objects, streaming.ends_at);
        self.publish(now, at, objects);
        self.follow_stream(now, ends_at);
    }

    fn stream_ended(&mut self, now: Instant) {
        let State::Streaming(streaming) = &self.state else {
            return;
        };
        if streaming.events == 0 && now.saturating_duration_since(streaming.began_at) < SHORT {
            self.fall_back(now, "it ended within a second and brought nothing", false, true);
        } else {
            self.stream_was_cut(now);
        }
    }

    /// It ended before its end marker: nothing of it counts. It is begun anew, but not for ever.
    fn stream_was_cut(&mut self, now: Instant) {
        self.cuts = self.cuts.saturating_add(1);
        if self.cuts < MOST_CUTS {
            self.forget_stream();
            self.note(Note::StreamingCut);
            self.open_stream(now);
        } else {
            self.fall_back(now, "it was cut repeatedly", false, true);
        }
    }

    fn stream_failed(&mut self, now: Instant, failed: Failed) {
        let State::Streaming(streaming) = &self.state else {
            return;
        };
        match failed.class {
            FailureClass::Refused | FailureClass::Throttled => {
                self.forget_stream();
                self.fail(now, Problem::StreamingList(failed.class), failed, Next::Relist);
            }
            FailureClass::Expired | FailureClass::VersionTooLarge if streaming.with_version => {
                self.forget_stream();
                self.note(Note::VersionRefused { class: failed.class });
                self.unavailable = true;
                self.open_stream(now);
            }
            FailureClass::Transient if streaming.opened => {
                self.report(now, Problem::StreamingList(failed.class), failed, Duration::ZERO);
                self.stream_was_cut(now);
            }
            class => {
                let for_good = class == FailureClass::Unsupported;
                let why = failed.message.clone();
                if !says_no(class) {
                    self.report(now, Problem::StreamingList(class), failed, Duration::ZERO);
                }
                self.fall_back(now, &why, for_good, false);
            }
        }
    }

    /// Uses LIST instead, in the same attempt. `for_good`: this source is not asked to stream again. `after_cut`: nor is it if LIST works.
    fn fall_back(&mut self, now: Instant, why: &str, for_good: bool, after_cut: bool) {
        self.forget_stream();
        self.note(Note::StreamingFellBack {
            why: why.into(),
            for_good,
        });
        self.streams &= !for_good;
        self.open_list(now, after_cut);
    }

    fn forget_stream(&mut self) {
        if matches!(&self.state, State::Streaming(streaming) if streaming.events > 0) {
            self.actions.push_back(Action::Forget);
        }
    }

    pub(super) fn stream_timeout(&mut self, now: Instant) {
        let wait = self.options.streaming_wait;
        let State::Streaming(streaming) = &mut self.state else {
            return;
        };
        let late_at = after(streaming.progress_at, wait)
            .min(after(streaming.began_at, wait.saturating_mul(MOST_WAITS)));
        if late_at <= now {
            self.actions.push_back(Action::Close);
            self.fall_back(now, "its end marker did not come in time", false, true);
            return;
        }
        let silent_for = now.saturating_duration_since(streaming.progress_at);
        if streaming.warn_at <= now {
            streaming.warn_at = now + WARN_EVERY;
            if silent_for >= WARN_EVERY {
                self.actions
                    .push_back(Action::Note(Note::StreamingSilent { silent_for }));
            }
        }
        streaming.check_at = late_at.min(streaming.warn_at);
    }
}

/// An answer, not a failure: LIST is asked next, and if it gets the same answer, that one counts.
fn says_no(class: FailureClass) -> bool {
    matches!(
        class,
        FailureClass::Unsupported
            | FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::NotFound
    )
}
