//! The numbers of a reflector, for whoever collects them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use informer_core::ResourceVersion;

use crate::{Problem, Status, machine::Action};

/// Is told what a reflector does: the quantities of client-go's `reflector_*` metrics, which nothing feeds there since 2019, and failures.
/// `()` ignores them all.
///
/// A reflector without one reads no clock for it and calls nothing. Called on the reflector's task: count and return.
pub trait Metrics: Send + Sync {
    /// The whole state is asked for, by a LIST or a streaming list (`reflector_lists_total`).
    fn list_began(&self) {}

    /// The whole state came, so long after it was asked for, with so many objects (`reflector_list_duration_seconds`,
    /// `reflector_items_per_list`).
    fn list_ended(&self, _took: Duration, _objects: usize) {}

    /// A watch began: it was asked for, or a streaming list went on as one (`reflector_watches_total`).
    fn watch_began(&self) {}

    /// A watch ended, after so long, and brought so many objects (`reflector_watch_duration_seconds`, `reflector_items_per_watch`, and for
    /// one that was [`is_short`] `reflector_short_watches_total`).
    fn watch_ended(&self, _took: Duration, _objects: u64) {}

    /// The version last received is this (`reflector_last_resource_version`).
    fn received(&self, _version: &ResourceVersion) {}

    /// A request failed, or an object could not be used.
    fn failed(&self, _problem: Problem) {}
}

/// Whether a watch counts as short: less than a second, and nothing came.
#[must_use]
pub fn is_short(took: Duration, objects: u64) -> bool {
    took < Duration::from_secs(1) && objects == 0
}

impl Metrics for () {}

impl<M: Metrics + ?Sized> Metrics for Arc<M> {
    fn list_began(&self) {
        (**self).list_began();
    }

    fn list_ended(&self, took: Duration, objects: usize) {
        (**self).list_ended(took, objects);
    }

    fn watch_began(&self) {
        (**self).watch_began();
    }

    fn watch_ended(&self, took: Duration, objects: u64) {
        (**self).watch_ended(took, objects);
    }

    fn received(&self, version: &ResourceVersion) {
        (**self).received(version);
    }

    fn failed(&self, problem: Problem) {
        (**self).failed(problem);
    }
}

/// Makes numbers of what the machine wants done.
pub(crate) struct Meter {
    metrics: Arc<dyn Metrics>,
    /// When the whole state was first asked for that has not come yet.
    list_since: Option<Instant>,
    /// When the open watch began, and how many objects had come before.
    watch: Option<(Instant, u64)>,
    version: ResourceVersion,
}

impl Meter {
    pub(crate) fn new(metrics: Arc<dyn Metrics>) -> Self {
        Self {
            metrics,
            list_since: None,
            watch: None,
            version: ResourceVersion::none(),
        }
    }

    /// The machine wants this done.
    pub(crate) fn action(&mut self, now: Instant, action: &Action, status: &Status) {
        match action {
            Action::OpenList(_) => self.list_asked_for(now),
            Action::OpenWatch(request) if request.initial_events => self.list_asked_for(now),
            Action::OpenWatch(_) => {
                self.watch_over(now, status);
                self.watch_began(now, status);
            }
            Action::Close => self.watch_over(now, status),
            Action::Publish { .. } => {
                if let Some(since) = self.list_since.take() {
                    let took = now.saturating_duration_since(since);
                    self.metrics.list_ended(took, status.objects);
                }
            }
            Action::Report { problem, .. } => {
                // The next attempt is another list.
                self.list_since = None;
                self.metrics.failed(*problem);
            }
            _ => {}
        }
    }

    /// A streaming list was whole, and goes on as the watch.
    pub(crate) fn watch_began(&mut self, now: Instant, status: &Status) {
        self.watch = Some((now, status.events));
        self.metrics.watch_began();
    }

    /// Nothing is open any more that was.
    pub(crate) fn watch_over(&mut self, now: Instant, status: &Status) {
        if let Some((since, before)) = self.watch.take() {
            let took = now.saturating_duration_since(since);
            self.metrics
                .watch_ended(took, status.events.saturating_sub(before));
        }
    }

    /// An object could not be used.
    pub(crate) fn unusable(&self, problem: Problem) {
        self.metrics.failed(problem);
    }

    /// All that was wanted is done.
    pub(crate) fn settled(&mut self, version: &ResourceVersion) {
        if self.version != *version {
            self.version.clone_from(version);
            self.metrics.received(version);
        }
    }

    /// Whether a watch is open as far as this knows.
    pub(crate) fn is_watching(&self) -> bool {
        self.watch.is_some()
    }

    fn list_asked_for(&mut self, now: Instant) {
        if self.list_since.is_none() {
            self.list_since = Some(now);
            self.metrics.list_began();
        }
    }
}
