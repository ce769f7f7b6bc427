//! The rules of a reflector as a pure state machine.
//!
//! It knows no objects: it is told of their kind of change and version, and answers what to do with the object at hand. Methods are of
//! three kinds. *Inputs*: [`handle_input`](Machine::handle_input) and [`handle_timeout`](Machine::handle_timeout), with the time as an
//! argument. *Outputs*: [`poll_action`](Machine::poll_action), to be drained after each input and after [`new`](Machine::new), and
//! [`poll_timeout`](Machine::poll_timeout), when to call `handle_timeout` at the latest. *Getters*: [`status`](Machine::status) and
//! [`revision`](Machine::revision).
//!
//! One request is open at a time. [`Action::OpenList`] and [`Action::OpenWatch`] replace whatever was open.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use informer_backoff::{Backoff, SplitMix64};
use informer_core::{FailureClass, ResourceVersion};

use crate::{LastError, Options, Phase, Problem, Request, Start, Status, options::SHORTEST_WATCH_TIMEOUT};

mod action;
mod list;
mod resync;
mod retry;
mod stream;
mod watch;

pub use action::{Action, Failed, Input, Note, What};
use list::Listing;
use retry::RetryWindow;
use stream::Streaming;
use watch::Watching;

/// The longest that a server may ask to wait.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(3600);

const VERY_LONG: Duration = Duration::from_secs(365 * 24 * 3600);

/// The reflector's rules. See the module documentation.
#[derive(Debug)]
pub struct Machine {
    options: Options,
    random: SplitMix64,
    backoff: Backoff,
    state: State,
    /// The last version was refused as expired or too large: until a whole state has come, requests for one carry no version
    /// (client-go `isLastSyncResourceVersionUnavailable`).
    unavailable: bool,
    /// The server pages also what it could serve from a cache, so it has none (client-go `paginatedResult`).
    pages_always: bool,
    /// Streaming lists are still to be tried with this source.
    streams: bool,
    /// Streaming lists that were cut since the last that went through.
    cuts: u32,
    /// Watches in a row that ended early and brought nothing new.
    fruitless: u32,
    internal_errors: RetryWindow,
    /// When to resync next: only while there is a watch, or a wait before the same watch goes on.
    resync_at: Option<Instant>,
    actions: VecDeque<Action>,
    status: Status,
    revision: u64,
}

#[derive(Debug)]
enum State {
    Waiting { until: Instant, then: Next },
    Listing(Listing),
    Streaming(Streaming),
    Watching(Watching),
}

/// What follows a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Take the whole state, by the strategy.
    Relist,
    /// Watch from the last version received.
    Rewatch,
}

impl Machine {
    /// A machine that begins at `now`: its first request is the first action. All its chance comes from `seed`; the seed in the options is
    /// for drivers.
    #[must_use]
    pub fn new(options: Options, seed: u64, now: Instant) -> Self {
        let mut options = options;
        options.resync_period = options.resync_period.filter(|period| !period.is_zero());
        let mut machine = Self {
            random: SplitMix64::new(seed),
            backoff: Backoff::new(options.backoff.clone()),
            state: State::Waiting {
                until: now,
                then: Next::Relist,
            },
            unavailable: false,
            pages_always: false,
            streams: options.start == Start::StreamingList,
            cuts: 0,
            fruitless: 0,
            internal_errors: RetryWindow::new(options.max_internal_error_retry),
            resync_at: None,
            actions: VecDeque::new(),
            status: Status::new(&options),
            revision: 0,
            options,
        };
        machine.begin(now);
        machine
    }

    /// Something happened at the source. An input that does not fit what is open is ignored.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        match (&mut self.state, input) {
            (_, Input::Resynced) => self.arm_resync(now),
            (_, Input::ResyncFailed(failed)) => self.resync_failed(now, failed),
            (State::Waiting { then, .. }, Input::Relist) => {
                *then = Next::Relist;
                self.resync_at = None;
            }
            (State::Waiting { .. }, _) => {}
            (State::Listing(_), input) => self.list_input(now, input),
            (State::Streaming(_), input) => self.stream_input(now, input),
            (State::Watching(_), input) => self.watch_input(now, input),
        }
    }

    /// Time passed. Does nothing when no timeout is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        match &self.state {
            State::Waiting { until, then } => {
                if *until <= now {
                    match then {
                        Next::Relist => self.begin(now),
                        Next::Rewatch => self.open_watch(now),
                    }
                }
            }
            State::Listing(_) => self.list_timeout(now),
            State::Streaming(_) => self.stream_timeout(now),
            State::Watching(_) => self.watch_timeout(now),
        }
        self.resync_if_due(now);
    }

    /// The object or event of the last input could not be used; `message` says why.
    pub fn handle_unusable(&mut self, message: impl Into<Arc<str>>) {
        self.status.skipped += 1;
        self.status.last_skipped = Some(message.into());
        self.revision += 1;
    }

    /// So many bytes were read of what is open. For the status alone.
    pub fn handle_bytes(&mut self, n_bytes: u64) {
        self.status.bytes = self.status.bytes.saturating_add(n_bytes);
    }

    /// What the sink has in use is now of this version. For the status alone.
    pub fn handle_applied(&mut self, version: ResourceVersion) {
        self.status.applied = Some(version);
    }

    /// What is to be done next. In order, until `None`.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do, at the earliest. Always some time: nothing is waited for without
    /// a bound.
    #[must_use]
    pub fn poll_timeout(&self) -> Instant {
        let at = match &self.state {
            State::Waiting { until, .. } => *until,
            State::Listing(listing) => listing.check_at,
            State::Streaming(streaming) => streaming.check_at,
            State::Watching(watching) => watching.ends_at,
        };
        self.resync_at.map_or(at, |resync_at| resync_at.min(at))
    }

    /// How it does.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Differs from an earlier value when something of note has changed in the status, that is more than the plain progress of a watch.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// An attempt to take the whole state.
    fn begin(&mut self, now: Instant) {
        self.note(Note::Attempt);
        if self.streams {
            self.open_stream(now);
        } else {
            self.open_list(now, false);
        }
    }

    /// The version last received, if any.
    fn seen(&self) -> Option<ResourceVersion> {
        (!self.status.version.is_none()).then(|| self.status.version.clone())
    }

    /// What a request for the whole state is to be at least as new as.
    fn not_older_than(&self) -> Option<ResourceVersion> {
        if self.unavailable { None } else { self.seen() }
    }

    /// The whole state came, at this version.
    fn publish(&mut self, now: Instant, at: ResourceVersion, objects: usize) {
        let first = !std::mem::replace(&mut self.status.synced, true);
        if !first {
            self.status.relists += 1;
        }
        self.note(Note::Populated {
            objects,
            at: at.clone(),
            first,
        });
        self.actions.push_back(Action::Publish {
            at: at.clone(),
            may_rewind: self.unavailable,
        });
        self.unavailable = false;
        self.cuts = 0;
        self.status.behind_since = Some(now);
        self.status.version = at;
        self.status.objects = objects;
        self.succeeded(now);
    }

    /// Something worked.
    fn succeeded(&mut self, now: Instant) {
        self.backoff.on_healthy(now);
        self.status.failures = 0;
        self.status.last_success = Some(now);
        self.revision += 1;
    }

    /// A request failed: report it, wait, then go on with `then`.
    fn fail(&mut self, now: Instant, problem: Problem, failed: Failed, then: Next) {
        self.status.failures = self.status.failures.saturating_add(1);
        let retry_in = self.pause(now, failed.retry_after, then);
        self.report(now, problem, failed, retry_in);
    }

    fn report(&mut self, now: Instant, problem: Problem, failed: Failed, retry_in: Duration) {
        self.status.last_error = Some(LastError {
            problem,
            tried: self.status.tried.clone(),
            message: failed.message.clone(),
            at: now,
        });
        self.revision += 1;
        self.actions.push_back(Action::Report {
            problem,
            message: failed.message,
            retry_in,
        });
    }

    /// Waits one step of the backoff, and at least as long as the server asked for.
    fn pause(&mut self, now: Instant, at_least: Option<Duration>, then: Next) -> Duration {
        let at_least = at_least.unwrap_or_default().min(LONGEST_RETRY_AFTER);
        let delay = self.backoff.next(now, self.random.next_u64()).max(at_least);
        let until = after(now, delay);
        if then == Next::Relist {
            self.resync_at = None;
        }
        self.state = State::Waiting { until, then };
        self.fall_behind(now);
        self.enter(now, Phase::BackingOff);
        self.status.next_attempt = Some(until);
        delay
    }

    /// The source is not followed any more.
    fn fall_behind(&mut self, now: Instant) {
        if self.status.synced {
            self.status.behind_since.get_or_insert(now);
        }
    }

    fn ask(&mut self, request: Request) {
        self.status.tried = Some(request.clone());
        self.actions.push_back(match request {
            Request::List(request) => {
                self.status.lists += 1;
                Action::OpenList(request)
            }
            Request::Watch(request) => {
                self.status.watches += 1;
                Action::OpenWatch(request)
            }
        });
    }

    fn enter(&mut self, now: Instant, phase: Phase) {
        self.status.next_attempt = None;
        if self.status.phase != phase {
            self.status.phase = phase;
            self.status.since = Some(now);
        }
        self.revision += 1;
    }

    fn note(&mut self, note: Note) {
        self.actions.push_back(Action::Note(note));
    }

    /// Spread over the servers and over time: client-go `reflector.go`, `minWatchTimeout` and `maxWatchTimeout`.
    fn watch_timeout_to_ask_for(&mut self) -> Duration {
        let shortest = self.options.min_watch_timeout.max(SHORTEST_WATCH_TIMEOUT);
        self.random.next_between(shortest, shortest.saturating_mul(2))
    }
}

/// `now + wait`, where a wait without sense counts as a very long one.
fn after(now: Instant, wait: Duration) -> Instant {
    now + wait.min(VERY_LONG)
}

/// A failure that the machine itself concluded.
fn concluded(class: FailureClass, message: &str) -> Failed {
    Failed {
        class,
        retry_after: None,
        message: message.into(),
    }
}
