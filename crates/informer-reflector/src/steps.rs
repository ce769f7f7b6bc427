//! The steps of taking a whole state, for the log when it was slow (client-go's trace in `Reflector.list` and `Reflector.watchList`).

use std::time::{Duration, Instant};

use crate::log::{self, Labels, Times};

/// What takes longer is slow.
const SLOW: Duration = Duration::from_secs(10);

/// A whole state under way.
#[derive(Debug)]
pub(crate) struct Steps {
    how: &'static str,
    began_at: Instant,
    pages: u32,
    times: Times,
}

impl Steps {
    /// Begins; `how` is a word for people.
    pub(crate) fn new(how: &'static str, now: Instant) -> Self {
        Self {
            how,
            began_at: now,
            pages: 0,
            times: Times::default(),
        }
    }

    /// The source has answered.
    pub(crate) fn listed(&mut self, now: Instant) {
        self.pages += 1;
        self.times.listed.get_or_insert(now - self.began_at);
    }

    /// The version is known.
    pub(crate) fn version_read(&mut self, now: Instant) {
        self.times.version_read.get_or_insert(now - self.began_at);
    }

    /// All objects are there.
    pub(crate) fn objects_read(&mut self, now: Instant) {
        self.version_read(now);
        self.times.objects_read.get_or_insert(now - self.began_at);
    }

    /// The sink has taken them.
    pub(crate) fn synced(&mut self, now: Instant) {
        self.times.synced.get_or_insert(now - self.began_at);
    }

    /// The status tells the new version.
    pub(crate) fn version_set(&mut self, now: Instant) {
        self.times.version_set.get_or_insert(now - self.began_at);
    }

    /// Whether nothing is left but to show it.
    pub(crate) fn is_synced(&self) -> bool {
        self.times.synced.is_some()
    }

    /// It is over, however far it came.
    pub(crate) fn finish(self, now: Instant, labels: &Labels) {
        let took = now.saturating_duration_since(self.began_at);
        if took >= SLOW {
            log::slow_list(labels, self.how, self.pages, &self.times, took);
        }
    }
}
