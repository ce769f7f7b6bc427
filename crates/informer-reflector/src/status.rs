//! What can be known of a reflector from outside while it runs.

use std::{
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use informer_core::{BoxClock, FailureClass, ListRequest, ResourceVersion, WatchRequest};

use crate::{Options, Problem};

/// What a reflector is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// It was made, and has not sent its first request.
    Starting,
    /// A LIST is under way.
    Listing,
    /// A streaming list is under way.
    Streaming,
    /// A watch is open, or being opened.
    Watching,
    /// It waits before the next attempt.
    BackingOff,
    /// It ended: the sink was closed, or its future was dropped.
    Stopped,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Starting => "starting",
            Self::Listing => "listing",
            Self::Streaming => "streaming",
            Self::Watching => "watching",
            Self::BackingOff => "backing off",
            Self::Stopped => "stopped",
        })
    }
}

/// What a source was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// A list, or a page of one.
    List(ListRequest),
    /// A watch, or a streaming list.
    Watch(WatchRequest),
}

impl Request {
    fn parts(&self) -> (&'static str, Option<&ResourceVersion>) {
        match self {
            Self::List(request) if request.token.is_some() => ("page of a list", None),
            Self::List(request) => ("list", request.version.as_ref()),
            Self::Watch(request) if request.initial_events => ("streaming list", request.version.as_ref()),
            Self::Watch(request) => ("watch", request.version.as_ref()),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (what, None) => f.write_str(what),
            (what, Some(version)) => write!(f, "{what} at version {version}"),
        }
    }
}

/// The last failure.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastError {
    /// What failed, and how.
    pub problem: Problem,
    /// What was asked of the source when it failed.
    pub tried: Option<Request>,
    /// What was said of it.
    pub message: Arc<str>,
    /// When.
    pub at: Instant,
}

impl LastError {
    /// The class of a failed request; `None` for a failed resync.
    #[must_use]
    pub fn class(&self) -> Option<FailureClass> {
        self.problem.class()
    }
}

impl fmt::Display for LastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tried {
            Some(tried) if self.problem != Problem::Resync => write!(f, "{tried} failed: {}", self.message),
            _ => write!(f, "resync failed: {}", self.message),
        }
    }
}

/// A reflector at one moment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// Its name.
    pub name: Arc<str>,
    /// The kind of objects.
    pub kind: Arc<str>,
    /// What it is doing.
    pub phase: Phase,
    /// Since when; `None` while starting.
    pub since: Option<Instant>,
    /// What the source was asked last.
    pub tried: Option<Request>,
    /// Whether a whole state was handed to the sink. Stays true.
    pub synced: bool,
    /// Failed requests in a row; 0 means that all is well.
    pub failures: u32,
    /// When it tries again, while it is backing off.
    pub next_attempt: Option<Instant>,
    /// The last failure. It stays readable when all is well again.
    pub last_error: Option<LastError>,
    /// When something last worked: a list was complete, a watch opened or brought something new.
    pub last_success: Option<Instant>,
    /// Objects of the last whole state, give or take what the watch added and deleted since. The store knows exactly.
    pub objects: usize,
    /// LIST requests, each page counted.
    pub lists: u64,
    /// WATCH requests, streaming lists included.
    pub watches: u64,
    /// Whole states taken after the first.
    pub relists: u64,
    /// Objects that the watch brought, without those of a streaming list, and without bookmarks.
    pub events: u64,
    /// Bytes of bodies, where the source counts them.
    pub bytes: u64,
    /// The version last received, from which a watch would resume.
    pub version: ResourceVersion,
    /// The version up to which what was received is in use, where the sink tells it.
    pub applied: Option<ResourceVersion>,
    /// Since when the source is not followed, so that what was handed over may be out of date; `None` while a watch is open, and before
    /// there is anything to be out of date.
    pub behind_since: Option<Instant>,
    /// Objects and events that could not be used.
    pub skipped: u64,
    /// What was said of the last of them.
    pub last_skipped: Option<Arc<str>>,
}

impl Status {
    /// What failed last, if that was not made good: a kind that is forbidden or missing is told here from one that takes its time.
    #[must_use]
    pub fn trouble(&self) -> Option<&LastError> {
        self.last_error.as_ref().filter(|_| self.failures > 0)
    }

    /// For how long the source has not been followed; zero while a watch is open, `None` before the first whole state. What waits in the
    /// sink is the sink's to tell.
    #[must_use]
    pub fn lag(&self, now: Instant) -> Option<Duration> {
        let behind = |since| now.saturating_duration_since(since);
        self.synced
            .then(|| self.behind_since.map_or(Duration::ZERO, behind))
    }

    pub(crate) fn new(options: &Options) -> Self {
        Self {
            name: options.name.clone(),
            kind: options.type_description.clone(),
            phase: Phase::Starting,
            since: None,
            tried: None,
            synced: false,
            failures: 0,
            next_attempt: None,
            last_error: None,
            last_success: None,
            objects: 0,
            lists: 0,
            watches: 0,
            relists: 0,
            events: 0,
            bytes: 0,
            version: ResourceVersion::none(),
            applied: None,
            behind_since: None,
            skipped: 0,
            last_skipped: None,
        }
    }
}

/// Reads the status of a reflector, also after the reflector has moved into its task and after it has ended. Clones are cheap.
#[derive(Debug, Clone)]
pub struct StatusReader {
    shared: Arc<Shared>,
    /// The revision that this reader has seen.
    seen: u64,
    pub(crate) clock: BoxClock,
}

impl StatusReader {
    /// The status now.
    #[must_use]
    pub fn get(&self) -> Status {
        self.shared.lock().status.clone()
    }

    /// Ready once something of note differs from what this reader was last told of: all but plain progress (`events`,
    /// `objects`, `bytes`, `version`, `applied`).
    pub fn poll_changed(&mut self, cx: &mut Context<'_>) -> Poll<Status> {
        let mut board = self.shared.lock();
        if board.revision != self.seen {
            self.seen = board.revision;
            return Poll::Ready(board.status.clone());
        }
        if !board.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            board.wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Waits as [`poll_changed`](Self::poll_changed) does. The first call returns at once.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the next call returns the latest status.
    pub async fn changed(&mut self) -> Status {
        poll_fn(|cx| self.poll_changed(cx)).await
    }

    /// Waits until the status satisfies `wanted`, and returns it. Set a deadline around it.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait.
    pub async fn wait_until(&mut self, mut wanted: impl FnMut(&Status) -> bool) -> Status {
        let mut status = self.get();
        while !wanted(&status) {
            status = self.changed().await;
        }
        status
    }
}

/// Where the driver writes the status.
#[derive(Debug)]
pub(crate) struct StatusBoard(Arc<Shared>);

impl StatusBoard {
    pub(crate) fn new(options: &Options) -> Self {
        Self(Arc::new(Shared(Mutex::new(Board {
            status: Status::new(options),
            revision: 1,
            wakers: Vec::new(),
        }))))
    }

    pub(crate) fn reader(&self, clock: BoxClock) -> StatusReader {
        StatusReader {
            shared: self.0.clone(),
            seen: 0,
            clock,
        }
    }

    /// Something of note has changed: all who wait are woken.
    pub(crate) fn publish(&self, status: &Status) {
        self.change(|shown| shown.clone_from(status));
    }

    /// Only plain progress: nobody is woken.
    pub(crate) fn progress(&self, status: &Status) {
        let shown = &mut self.0.lock().status;
        shown.events = status.events;
        shown.objects = status.objects;
        shown.bytes = status.bytes;
        shown.last_success = status.last_success;
        shown.behind_since = status.behind_since;
        shown.version.clone_from(&status.version);
        shown.applied.clone_from(&status.applied);
    }

    pub(crate) fn stopped(&self, now: Instant) {
        self.change(|shown| {
            shown.phase = Phase::Stopped;
            shown.since = Some(now);
            shown.next_attempt = None;
            if shown.synced {
                shown.behind_since.get_or_insert(now);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Status)) {
        let mut board = self.0.lock();
        change(&mut board.status);
        board.revision += 1;
        let wakers = std::mem::take(&mut board.wakers);
        drop(board);
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[derive(Debug)]
struct Shared(Mutex<Board>);

#[derive(Debug)]
struct Board {
    status: Status,
    revision: u64,
    wakers: Vec<Waker>,
}

impl Shared {
    /// Nothing of others runs under the lock, so its poison says nothing.
    fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
