//! `Machine`: what is recorded, and what of it is written when.

mod aggregate;
mod correlator;
mod fate;
mod key;
mod lru;
mod spam;
mod writes;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use informer_backoff::SplitMix64;

pub use self::{
    correlator::{COMBINED, Correlated, Correlator, SeriesId, Verdict},
    fate::Fate,
    writes::{Verb, Write, Written},
};
use self::{key::Key, writes::Writes};
use crate::{Event, EventSeries, Grouping, Options, Refusal, Stats};

/// Decides what becomes of each event: correlated, counted, queued, written, tried again, given up.
///
/// A pure machine. Inputs: [`handle_event`](Self::handle_event), [`handle_written`](Self::handle_written),
/// [`handle_timeout`](Self::handle_timeout), [`stop`](Self::stop). After each input, take the writes out with
/// [`poll_write`](Self::poll_write), then wait until [`poll_timeout`](Self::poll_timeout). Times never go backward.
#[derive(Debug, Clone)]
pub struct Machine {
    options: Options,
    random: SplitMix64,
    correlator: Correlator,
    /// What the server knows or will know, while it may become a series; of [`Grouping::Series`] only.
    tracks: BTreeMap<SeriesId, Track>,
    /// When to look at a track again, once each.
    timers: BTreeSet<(Instant, SeriesId)>,
    writes: Writes,
    is_stopping: bool,
    stats: Stats,
}

#[derive(Debug, Clone)]
struct Track {
    first: Arc<Event>,
    series: Option<EventSeries>,
    last_observed: Instant,
    /// When its state was last put in line.
    last_queued: Instant,
    /// Whether the state has changed since.
    is_dirty: bool,
}

impl Machine {
    /// A machine that has seen nothing. The seed is for the jitter of retries.
    #[must_use]
    pub fn new(options: Options, seed: u64) -> Self {
        Self {
            random: SplitMix64::new(seed),
            correlator: Correlator::new(options.clone()),
            tracks: BTreeMap::new(),
            timers: BTreeSet::new(),
            writes: Writes::default(),
            is_stopping: false,
            stats: Stats::default(),
            options,
        }
    }

    /// Input: an event happened. It has no series yet; its time is that of its happening, and its name is new.
    pub fn handle_event(&mut self, now: Instant, event: Event) -> Fate {
        let fate = if self.is_stopping {
            Fate::Stopped
        } else {
            self.record(now, event)
        };
        self.stats.count(fate);
        fate
    }

    fn record(&mut self, now: Instant, event: Event) -> Fate {
        let correlated = self.correlator.correlate(now, event);
        if correlated.combined {
            self.stats.combined += 1;
        }
        if let Some(evicted) = correlated.evicted {
            self.finish(evicted);
        }
        match correlated.verdict {
            Verdict::Write => self.write(now, correlated),
            Verdict::Count => {
                self.count(now, &correlated);
                Fate::Counted
            }
            Verdict::Skip => Fate::Spam,
        }
    }

    fn write(&mut self, now: Instant, correlated: Correlated) -> Fate {
        let Correlated {
            id, first, series, ..
        } = correlated;
        let is_new = !self.writes.has(id) && !self.tracks.contains_key(&id);
        if is_new && self.writes.len() >= self.options.queue {
            // The next of its kind is a first one again.
            self.correlator.forget(&first);
            return Fate::QueueFull;
        }
        let is_known = match self.options.grouping {
            Grouping::Series => self.tracks.contains_key(&id),
            Grouping::Notes => series.is_some(),
        };
        let verb = if is_known { Verb::Patch } else { Verb::Create };
        self.writes.push(id, verb, first.clone(), series);
        if self.options.grouping == Grouping::Series {
            let track = Track {
                first,
                series,
                last_observed: now,
                last_queued: now,
                is_dirty: false,
            };
            if self.tracks.insert(id, track).is_none() {
                self.set_timer(now, id);
            }
        }
        Fate::Queued
    }

    fn count(&mut self, now: Instant, correlated: &Correlated) {
        let Some(track) = self.tracks.get_mut(&correlated.id) else {
            return;
        };
        track.series = correlated.series;
        track.last_observed = now;
        track.is_dirty = true;
        // What was not sent yet takes the new count with it.
        if self.writes.will_send(correlated.id) {
            self.writes.update(correlated.id, correlated.series);
            track.is_dirty = false;
        }
    }

    /// Input: the time has come that [`poll_timeout`](Self::poll_timeout) told, or is later.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.writes.handle_timeout(now);
        while let Some(&(at, id)) = self.timers.first() {
            if at > now {
                break;
            }
            self.timers.pop_first();
            self.look_at(now, id);
        }
    }

    /// Upstream: client-go `finishSeries` and `refreshExistingEventSeries`, which look at all of them every 6 and 30 minutes.
    fn look_at(&mut self, now: Instant, id: SeriesId) {
        let Some(track) = self.tracks.get_mut(&id) else {
            return;
        };
        if now.saturating_duration_since(track.last_observed) >= self.options.finish_after {
            self.finish(id);
            return;
        }
        if track.is_dirty && now.saturating_duration_since(track.last_queued) >= self.options.refresh_every {
            track.is_dirty = false;
            track.last_queued = now;
            self.writes
                .push(id, Verb::Patch, track.first.clone(), track.series);
        }
        self.set_timer(now, id);
    }

    /// A timer per track, which may be early: it is set again then.
    fn set_timer(&mut self, now: Instant, id: SeriesId) {
        let Some(track) = self.tracks.get(&id) else {
            return;
        };
        let over = track.last_observed.checked_add(self.options.finish_after);
        let refresh = track.last_queued.checked_add(self.options.refresh_every);
        let refresh = refresh.filter(|&at| at > now);
        if let Some(at) = over.into_iter().chain(refresh).min() {
            self.timers.insert((at, id));
        }
    }

    /// A series is over: its last count is written, if that was not done.
    fn finish(&mut self, id: SeriesId) {
        let Some(track) = self.tracks.remove(&id) else {
            return;
        };
        self.correlator.forget(&track.first);
        if track.is_dirty {
            self.writes.push(id, Verb::Patch, track.first, track.series);
        }
    }

    /// Output: the next request to be made.
    pub fn poll_write(&mut self) -> Option<Write> {
        self.writes.poll(self.options.in_flight)
    }

    /// Input: a write ended so. `None` for one that is not under way.
    pub fn handle_written(
        &mut self,
        now: Instant,
        id: SeriesId,
        result: Result<(), Refusal>,
    ) -> Option<Written> {
        let jitter = 1.0 + self.options.retry_jitter.max(0.0) * self.random.next_fraction();
        let delay = self.options.retry_delay.mul_f64(jitter);
        let written = self
            .writes
            .handle_written(now, id, result, self.options.max_tries, delay)?;
        match written {
            Written::Done => self.stats.written += 1,
            Written::Again => self.stats.retried += 1,
            Written::Rejected => self.stats.rejected += 1,
            Written::Exhausted => {
                self.stats.exhausted += 1;
                // The count is not lost: it is written with the next refresh, or at the end of the series.
                if let Some(track) = self.tracks.get_mut(&id)
                    && track.series.is_some()
                {
                    track.is_dirty = true;
                }
            }
        }
        Some(written)
    }

    /// Output: when to call [`handle_timeout`](Self::handle_timeout), if nothing happens before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let timer = self.timers.first().map(|(at, _)| *at);
        timer.into_iter().chain(self.writes.next_due()).min()
    }

    /// Input: nothing more is recorded. Counts that were not written are, and what waits for its next try is tried at once.
    pub fn stop(&mut self) {
        self.is_stopping = true;
        let ids: Vec<_> = self.tracks.keys().copied().collect();
        for id in ids {
            self.finish(id);
        }
        self.timers.clear();
        self.writes.hurry();
    }

    /// How many writes wait or are under way.
    #[must_use]
    pub fn n_writes(&self) -> usize {
        self.writes.len()
    }

    /// How many series are remembered.
    #[must_use]
    pub fn n_series(&self) -> usize {
        self.correlator.n_series()
    }

    /// Input: the time for the rest is over. Returns how many writes are given up, those under way among them.
    pub fn abandon(&mut self) -> usize {
        self.stop();
        self.writes.abandon()
    }

    /// What happened so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }

    pub(crate) fn count_invalid(&mut self) -> Fate {
        self.stats.count(Fate::Invalid);
        Fate::Invalid
    }
}
