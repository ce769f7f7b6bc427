//! One watch: what has been sent, what is next, and when a bookmark or the end is due.

use std::{collections::VecDeque, ops::Bound, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{WatchEnd, WatchPoll};
use crate::{
    ApiError, FakeApi, ResourceDef,
    api::{
        Kind, KindKey, Target,
        render::{self, Form},
        selector::Filter,
        table::{LogEntry, Stored},
    },
};

/// The beginning of a watch.
#[derive(Debug)]
pub(super) enum Begin {
    /// The present state as events, then changes; the mark when asked for.
    State { wanted: u64, mark: bool },
    /// Changes after this version.
    After(u64),
    /// Changes from now on.
    Now,
}

#[derive(Debug)]
pub(crate) struct Watch {
    pub(super) kind: KindKey,
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

impl Watch {
    pub(super) fn new(
        target: &Target,
        filter: Filter,
        form: Form,
        deadline: Duration,
        lag: Option<Lag>,
    ) -> Self {
        Self {
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
        }
    }

    /// Takes the state if that is there already, so that what happens before the first read comes as changes.
    pub(super) fn begin(&mut self, api: &FakeApi, begin: Begin, bookmarks: Option<Duration>) {
        let now = api.elapsed();
        if let Some(every) = bookmarks {
            self.schedule_bookmark(now, every);
        }
        match begin {
            Begin::Now => self.seen = self.view(api),
            Begin::After(version) => self.seen = version,
            Begin::State { wanted, mark } => {
                self.wanted = Some(Wanted {
                    version: wanted,
                    until: now + api.options.wait_for_version,
                    mark,
                });
                if let Some(kind) = api.kinds.get(&self.kind)
                    && wanted <= self.view(api)
                {
                    self.await_version(api, kind);
                }
            }
        }
    }

    /// Sends what it has not sent yet, then ends.
    pub(super) fn finish(&mut self, api: &FakeApi) {
        self.lag = None;
        let mut rest = std::mem::take(&mut self.pending);
        // An ERROR event is the last one.
        while !self.closing
            && let Some(line) = self.next_line(api)
        {
            rest.push_back(line);
        }
        self.pending = rest;
        self.closing = true;
    }

    pub(super) fn poll(&mut self, api: &FakeApi) -> WatchPoll {
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
        if let Form::Table(style) = &mut self.form {
            style.now = api.wall_seconds();
        }
        if let Some(line) = self.next_line(api) {
            // Only the first table of a watch names its columns.
            if let Form::Table(style) = &mut self.form {
                style.heads = false;
            }
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
            // One that is due comes after the state that is waited for.
            self.bookmark_at.filter(|_| self.wanted.is_none()),
            self.wanted.as_ref().map(|wanted| wanted.until),
            // One that has caught up has nothing more to wait for.
            self.lag.map(|lag| lag.until).filter(|until| *until > now),
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
        let of_another_time = api.restored && self.seen > api.revision;
        if of_another_time || self.seen < kind.table.watch_floor() {
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
