//! Watches: opening, polling, ending.

mod machine;
mod options;

use std::time::Duration;

use bytes::Bytes;
use informer_core::Resource;

use machine::Begin;
pub(crate) use machine::{Lag, Watch};
pub use options::WatchOptions;

use super::{
    ApiError, Cause, FakeApi, KindKey, Target,
    list::{filter, unsupported_match},
    render::Form,
};

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
        let deadline = self.elapsed() + self.watch_timeout(options.timeout);
        let bookmarks = options.bookmarks.then_some(self.options.bookmark_every);
        let mut watch = Watch::new(target, filter, form, deadline, lag);
        watch.begin(self, start, bookmarks);
        self.next_watch += 1;
        let id = WatchId(self.next_watch);
        self.watches.insert(id, watch);
        Ok(id)
    }

    /// Lets the watches of a kind send what they have not sent yet, then end.
    pub(super) fn end_watches_of(&mut self, key: &KindKey) {
        let mut watches = std::mem::take(&mut self.watches);
        for watch in watches.values_mut().filter(|watch| watch.kind == *key) {
            watch.finish(self);
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
    fn start_of(&self, options: &WatchOptions) -> Result<Begin, ApiError> {
        self.check_watch(options)?;
        let version = options.version.parse().or_else(|_| match options.version.as_str() {
            "" => Ok(0),
            text => Err(ApiError::new(
                500,
                "",
                format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"),
            )),
        })?;
        // Without a version a watch has always begun with the present state; since streaming lists, as one of those.
        let legacy = options.initial_events.is_none() && version == 0;
        if options.initial_events == Some(true) || legacy {
            // No version is the most recent state, 0 is any.
            let wanted = if options.version.is_empty() {
                self.revision
            } else {
                version
            };
            return Ok(Begin::State {
                wanted,
                mark: options.bookmarks && (self.options.streaming_lists || !legacy),
            });
        }
        Ok(if version == 0 {
            Begin::Now
        } else {
            Begin::After(version)
        })
    }

    fn check_watch(&self, options: &WatchOptions) -> Result<(), ApiError> {
        let mut causes = Vec::new();
        let matching = options.version_match.as_str();
        // Where the state comes first, the server has by now set a match by itself.
        let begins_with_state = options.initial_events.is_some()
            || matches!(options.version.as_str(), "" | "0")
            || !matching.is_empty();
        if !options.token.is_empty() && begins_with_state {
            causes.push(Cause::forbidden(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
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
