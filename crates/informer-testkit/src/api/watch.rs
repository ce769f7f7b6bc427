//! Watches: what has been sent, what is next, and when a bookmark or the end is due.

use std::{collections::VecDeque, ops::Bound, sync::Arc, time::Duration};

use bytes::Bytes;
use informer_core::Resource;

use super::{
    ApiError, Cause, FakeApi, Kind, KindKey, ResourceDef, Target,
    list::{filter, parse_version, unsupported_match},
    render::{self, Form},
    selector::Filter,
    table::{LogEntry, Stored},
};

/// What a watch is asked with. All text is as in the query of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchOptions {
    /// Of one namespace; of all when there is none.
    pub namespace: Option<String>,
    /// `labelSelector`.
    pub labels: String,
    /// `fieldSelector`.
    pub fields: String,
    /// `resourceVersion`.
    pub version: String,
    /// `resourceVersionMatch`.
    pub version_match: String,
    /// `sendInitialEvents`.
    pub initial_events: Option<bool>,
    /// `allowWatchBookmarks`.
    pub bookmarks: bool,
    /// `timeoutSeconds`.
    pub timeout: Option<Duration>,
}

impl WatchOptions {
    /// A watch from this version.
    #[must_use]
    pub fn from_version(version: impl ToString) -> Self {
        Self {
            version: version.to_string(),
            ..Self::default()
        }
    }

    /// A streaming list: the state as events, the end mark, then changes.
    #[must_use]
    pub fn streaming() -> Self {
        Self {
            version_match: "NotOlderThan".into(),
            initial_events: Some(true),
            bookmarks: true,
            ..Self::default()
        }
    }

    /// Of one namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// With this label selector.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.labels);
        self
    }

    /// With this field selector.
    #[must_use]
    pub fn fields(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.fields);
        self
    }

    /// With bookmarks.
    #[must_use]
    pub fn bookmarks(mut self) -> Self {
        self.bookmarks = true;
        self
    }

    /// Ending after this long.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

/// Names an open watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(u64);

/// What a watch has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchPoll {
    /// An event: a line with its newline.
    Event(Bytes),
    /// Nothing now. The time, since the first `now`, at which there will be something at the latest.
    Pending(Duration),
    /// It is over and forgotten.
    End(WatchEnd),
}

/// Why a watch is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchEnd {
    /// Its time was up.
    Timeout,
    /// It said so in an ERROR event, or its kind is gone.
    Closed,
    /// There is no such watch.
    Unknown,
}

/// The beginning of a watch.
enum Start {
    /// The present state as events, then changes; the mark when asked for.
    State { wanted: u64, mark: bool },
    /// Changes after this version.
    After(u64),
    /// Changes from now on.
    Now,
}

#[derive(Debug)]
pub(crate) struct Watch {
    kind: KindKey,
    def: Arc<ResourceDef>,
    filter: Filter,
    form: Form,
    /// Waits for this version before it sends the state.
    wanted: Option<Wanted>,
    /// The state at the beginning, as far as it is not sent.
    initial: VecDeque<Arc<Stored>>,
    /// The end mark is due after the initial state.
    mark: Option<u64>,
    /// Lines to send before anything of the log.
    pending: VecDeque<Bytes>,
    /// Everything up to this version is sent or of no interest.
    seen: u64,
    bookmark_at: Option<Duration>,
    deadline: Duration,
    closing: bool,
    /// It is served by a replica that is at this version until that time.
    lag: Option<Lag>,
}

/// A replica that is behind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lag {
    pub(crate) view: u64,
    pub(crate) until: Duration,
}

#[derive(Debug)]
struct Wanted {
    version: u64,
    until: Duration,
    mark: bool,
}

impl FakeApi {
    /// Opens a watch.
    ///
    /// # Errors
    /// As the server refuses before the first event: an unknown kind, a bad selector or option. A version that is too old or too new is
    /// told in the stream.
    pub fn watch(&mut self, resource: &Resource, options: &WatchOptions) -> Result<WatchId, ApiError> {
        let target = self.kinds.target(resource, options.namespace.as_deref())?;
        self.do_watch(&target, options, Form::Whole, None)
    }

    /// The next event of a watch, or when to ask again.
    pub fn poll_watch(&mut self, id: WatchId) -> WatchPoll {
        let Some(mut watch) = self.watches.remove(&id) else {
            return WatchPoll::End(WatchEnd::Unknown);
        };
        let poll = watch.poll(self);
        if !matches!(poll, WatchPoll::End(_)) {
            self.watches.insert(id, watch);
        }
        poll
    }

    /// All events that a watch has now, parsed.
    pub fn drain_watch(&mut self, id: WatchId) -> Vec<serde_json::Value> {
        let mut events = Vec::new();
        while let WatchPoll::Event(line) = self.poll_watch(id) {
            events.extend(serde_json::from_slice::<serde_json::Value>(&line));
        }
        events
    }

    /// Forgets a watch.
    pub fn close_watch(&mut self, id: WatchId) {
        self.watches.remove(&id);
    }

    pub(crate) fn do_watch(
        &mut self,
        target: &Target,
        options: &WatchOptions,
        form: Form,
        lag: Option<Lag>,
    ) -> Result<WatchId, ApiError> {
        let kind = self.kind_of(target)?;
        let start = self.start_of(options)?;
        let filter = filter(target, kind, &options.labels, &options.fields)?;
        let now = self.elapsed();
        let deadline = now + self.watch_timeout(options.timeout);
        let mut watch = Watch {
            kind: target.key.clone(),
            def: target.def.clone(),
            filter,
            form,
            wanted: None,
            initial: VecDeque::new(),
            mark: None,
            pending: VecDeque::new(),
            seen: 0,
            bookmark_at: None,
            deadline,
            closing: false,
            lag,
        };
        if options.bookmarks {
            watch.schedule_bookmark(now, self.options.bookmark_every);
        }
        match start {
            Start::Now => watch.seen = watch.view(self),
            Start::After(version) => watch.seen = version,
            Start::State { wanted, mark } => {
                watch.wanted = Some(Wanted {
                    version: wanted,
                    until: now + self.options.wait_for_version,
                    mark,
                });
            }
        }
        self.next_watch += 1;
        let id = WatchId(self.next_watch);
        self.watches.insert(id, watch);
        Ok(id)
    }

    /// Lets the watches of a kind send what they have not sent yet, then end.
    pub(super) fn end_watches_of(&mut self, key: &KindKey) {
        let mut watches = std::mem::take(&mut self.watches);
        for watch in watches.values_mut().filter(|watch| watch.kind == *key) {
            watch.lag = None;
            let mut rest = VecDeque::new();
            while let Some(line) = watch.next_line(self) {
                rest.push_back(line);
            }
            watch.pending = rest;
            watch.closing = true;
        }
        self.watches = watches;
    }

    /// apiserver `handlers.handleWatch`: without a timeout, one to two times the minimum.
    fn watch_timeout(&mut self, asked: Option<Duration>) -> Duration {
        let min = self.options.min_request_timeout;
        match asked {
            Some(timeout) if !timeout.is_zero() => timeout,
            _ => min.mul_f64(1.0 + self.rng.fraction()),
        }
    }

    /// Where a watch begins (apimachinery `SetListOptionsDefaults`, `validateWatchOptions`; apiserver `Cacher.Watch`).
    fn start_of(&self, options: &WatchOptions) -> Result<Start, ApiError> {
        self.check_watch(options)?;
        let version = parse_version(&options.version)?;
        // Without a version a watch has always begun with the present state; since streaming lists, as one of those.
        let legacy = options.initial_events.is_none() && version == 0;
        if options.initial_events == Some(true) || legacy {
            // No version is the most recent state, 0 is any.
            let wanted = if options.version.is_empty() {
                self.revision
            } else {
                version
            };
            return Ok(Start::State {
                wanted,
                mark: options.bookmarks && (self.options.streaming_lists || !legacy),
            });
        }
        Ok(if version == 0 {
            Start::Now
        } else {
            Start::After(version)
        })
    }

    fn check_watch(&self, options: &WatchOptions) -> Result<(), ApiError> {
        let mut causes = Vec::new();
        let matching = options.version_match.as_str();
        if options.initial_events.is_some() {
            if matching != "NotOlderThan" {
                causes.push(Cause::forbidden(
                    "resourceVersionMatch",
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                ));
            }
            if !self.options.streaming_lists {
                causes.push(Cause::forbidden(
                    "sendInitialEvents",
                    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
                ));
            }
        }
        if !matching.is_empty() {
            if options.initial_events.is_none() {
                causes.push(Cause::forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                ));
            }
            if matching != "NotOlderThan" {
                causes.push(unsupported_match(matching, "\"NotOlderThan\""));
            }
        }
        if causes.is_empty() {
            Ok(())
        } else {
            Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", causes))
        }
    }
}

impl Watch {
    fn poll(&mut self, api: &FakeApi) -> WatchPoll {
        let now = api.elapsed();
        if self.closing {
            return match self.pending.pop_front() {
                Some(line) => WatchPoll::Event(line),
                None => WatchPoll::End(WatchEnd::Closed),
            };
        }
        if now >= self.deadline {
            return WatchPoll::End(WatchEnd::Timeout);
        }
        if let Some(line) = self.next_line(api) {
            return WatchPoll::Event(line);
        }
        if self.wanted.is_none()
            && let Some(due) = self.bookmark_at
            && now >= due
        {
            self.schedule_bookmark(now, api.options.bookmark_every);
            let view = self.view(api);
            // A watch from a version that is yet to come hears nothing before it.
            if view >= self.seen {
                return WatchPoll::Event(render::bookmark(&self.def, self.form, view, false));
            }
        }
        let waits = [
            Some(self.deadline),
            self.bookmark_at,
            self.wanted.as_ref().map(|wanted| wanted.until),
            self.lag.map(|lag| lag.until),
        ];
        WatchPoll::Pending(waits.into_iter().flatten().min().unwrap_or(self.deadline))
    }

    fn next_line(&mut self, api: &FakeApi) -> Option<Bytes> {
        let kind = api.kinds.get(&self.kind)?;
        if let Some(line) = self.await_version(api, kind) {
            return Some(line);
        }
        if self.wanted.is_some() {
            return None;
        }
        if let Some(line) = self.pending.pop_front() {
            return Some(line);
        }
        if let Some(stored) = self.initial.pop_front() {
            return Some(render::event("ADDED", &self.def, self.form, &stored));
        }
        if let Some(revision) = self.mark.take() {
            return Some(render::bookmark(&self.def, self.form, revision, true));
        }
        if self.seen < kind.table.watch_floor() {
            // Too old at the beginning, or so slow that the history is gone (apiserver `watchCacheHistory.GetIntervalLocked`).
            let message = format!(
                "too old resource version: {} ({})",
                self.seen,
                kind.table.watch_floor()
            );
            self.closing = true;
            return Some(render::error(&ApiError::expired(message).to_json()));
        }
        self.next_change(api, kind)
    }

    /// Takes the state once the wanted version is there, or says that it is too large.
    fn await_version(&mut self, api: &FakeApi, kind: &Kind) -> Option<Bytes> {
        let wanted = self.wanted.as_ref()?;
        let view = self.view(api);
        if wanted.version > view {
            if api.elapsed() < wanted.until {
                return None;
            }
            let error = ApiError::version_too_large(wanted.version, view);
            self.wanted = None;
            self.closing = true;
            return Some(render::error(&error.to_json()));
        }
        let mark = wanted.mark;
        self.wanted = None;
        let prefix = self
            .filter
            .namespace
            .as_ref()
            .map_or_else(String::new, |it| format!("{it}/"));
        let at = (view < api.revision).then_some(view);
        self.initial = kind
            .table
            .scan(&prefix, Bound::Unbounded, at)
            .filter(|stored| self.filter.matches(stored))
            .cloned()
            .collect();
        self.seen = view;
        self.mark = mark.then_some(view);
        None
    }

    fn next_change(&mut self, api: &FakeApi, kind: &Kind) -> Option<Bytes> {
        let view = self.view(api);
        for entry in kind.table.changes_after(self.seen) {
            if entry.revision > view {
                return None;
            }
            self.seen = entry.revision;
            if let Some(line) = self.line(entry) {
                return Some(line);
            }
        }
        None
    }

    /// What a change is to this watch: an object that begins to match is added, one that ceases is deleted (apiserver
    /// `cacheWatcher.convertToWatchEvent`).
    fn line(&self, entry: &LogEntry) -> Option<Bytes> {
        let matches =
            |stored: &Option<Arc<Stored>>| stored.as_deref().is_some_and(|it| self.filter.matches(it));
        let (before, after) = (matches(&entry.before), matches(&entry.after));
        let event = |kind: &str, stored: &Option<Arc<Stored>>| {
            let stored = stored.as_deref()?;
            Some(render::event(kind, &self.def, self.form, stored))
        };
        match (before, after) {
            (false, false) => None,
            (false, true) => event("ADDED", &entry.after),
            (true, true) => event("MODIFIED", &entry.after),
            (true, false) => match (&entry.gone, &entry.before) {
                (Some(_), _) => event("DELETED", &entry.gone),
                (None, before) => {
                    let before = before.as_deref()?;
                    Some(render::left(&self.def, self.form, before, entry.revision))
                }
            },
        }
    }

    /// How far the server that serves this watch has come.
    fn view(&self, api: &FakeApi) -> u64 {
        match self.lag {
            Some(lag) if api.elapsed() < lag.until => lag.view.min(api.revision),
            _ => api.revision,
        }
    }

    /// The next bookmark: after a while, or two seconds before the end (apiserver `cacheWatcher.nextBookmarkTime`).
    fn schedule_bookmark(&mut self, now: Duration, every: Duration) {
        let before_end = self.deadline.saturating_sub(Duration::from_secs(2));
        let at = (now + every).min(before_end);
        self.bookmark_at = (at > now).then_some(at);
    }
}
