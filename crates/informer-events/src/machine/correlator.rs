//! The correlator: which events are one, how often it happened, and whether that is worth a write.

use std::{sync::Arc, time::Instant};

use super::{Key, aggregate::Aggregator, key, lru::Lru, spam::SpamFilter};
use crate::{
    Event, EventSeries, Grouping, Options,
    event::{NOTE_LIMIT, cut},
};

/// Begins the note of a combined event (client-go `record.EventAggregatorByReasonMessageFunc`).
pub const COMBINED: &str = "(combined from similar events): ";

/// Names a series among those of one correlator. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub(super) u64);

/// What is to be done about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The server is to know.
    Write,
    /// It is one more of a series that the server knows.
    Count,
    /// It is spam. It counts all the same, if the series is written later.
    Skip,
}

/// What became of an event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Correlated {
    /// The series it belongs to; an event that happens once is one of one.
    pub id: SeriesId,
    /// The first event of the series, under whose name all of it is kept.
    pub first: Arc<Event>,
    /// How often it happened, from the second time on.
    pub series: Option<EventSeries>,
    /// Whether it was combined with others of other notes or actions.
    pub combined: bool,
    /// What is to be done.
    pub verdict: Verdict,
    /// The series that had to be forgotten, since there are too many.
    pub evicted: Option<SeriesId>,
}

impl Correlated {
    /// How often it happened.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.series.map_or(1, |series| series.count)
    }

    /// The event as it is to be on the server.
    #[must_use]
    pub fn event(&self) -> Event {
        with_series(&self.first, self.series)
    }
}

/// Combines, counts and filters events: client-go's `record.EventCorrelator`, and the rules of `tools/events` for series.
///
/// A pure machine: the time is an argument, and chance has no part in it.
#[derive(Debug, Clone)]
pub struct Correlator {
    options: Options,
    aggregator: Aggregator,
    spam: SpamFilter,
    observed: Lru<Observed>,
    next_id: u64,
}

#[derive(Debug, Clone)]
struct Observed {
    id: SeriesId,
    first: Arc<Event>,
    series: Option<EventSeries>,
    last: Instant,
    /// Whether a write of it has passed the filter.
    passed: bool,
}

impl Correlator {
    /// A correlator that has seen nothing.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            aggregator: Aggregator::new(options.combine_at, options.combine_within, options.memory),
            spam: SpamFilter::new(options.burst, options.refill_every, options.memory),
            observed: Lru::new(options.memory),
            options,
            next_id: 0,
        }
    }

    /// An event happened. It has no series yet; its time is that of its happening.
    pub fn correlate(&mut self, now: Instant, mut event: Event) -> Correlated {
        let group = key::similar(&event);
        let own = match self.options.grouping {
            Grouping::Series => key::isomorphic(&event),
            Grouping::Notes => key::with_note(&event),
        };
        let different = match self.options.grouping {
            Grouping::Series => own.clone(),
            Grouping::Notes => Key::of([event.note.as_str()]),
        };
        let combined = self.aggregator.combines(now, group.clone(), different);
        let key = if combined { group } else { own };
        if combined {
            event.note = cut(&format!("{COMBINED}{}", event.note), NOTE_LIMIT).to_owned();
            event.related = None;
        }
        let spam = key::spam(&event);
        let (mut observed, evicted) = self.observe(now, &key, event);
        let verdict = self.verdict(now, &mut observed, spam);
        let correlated = Correlated {
            id: observed.id,
            first: observed.first.clone(),
            series: observed.series,
            combined,
            verdict,
            evicted,
        };
        self.observed.insert(key, observed);
        correlated
    }

    /// A series is over, or was never kept: the next of its events begins another.
    pub fn forget(&mut self, event: &Event) {
        let is_it = |observed: &Observed| observed.first.metadata == event.metadata;
        let own = match self.options.grouping {
            Grouping::Series => key::isomorphic(event),
            Grouping::Notes => key::with_note(event),
        };
        for key in [own, key::similar(event)] {
            if self
                .observed
                .get_mut(&key)
                .is_some_and(|observed| is_it(observed))
            {
                self.observed.remove(&key);
            }
        }
    }

    /// How many series it remembers.
    #[must_use]
    pub fn n_series(&self) -> usize {
        self.observed.len()
    }

    /// One more of a series, which it may begin.
    fn observe(&mut self, now: Instant, key: &Key, event: Event) -> (Observed, Option<SeriesId>) {
        let is_over = |observed: &Observed| match self.options.grouping {
            Grouping::Series => now.saturating_duration_since(observed.last) >= self.options.finish_after,
            Grouping::Notes => false,
        };
        match self.observed.get_mut(key) {
            Some(observed) if !is_over(observed) => {
                let count = observed.series.map_or(1, |series| series.count).saturating_add(1);
                observed.series = Some(EventSeries::new(count, event.event_time));
                observed.last = now;
                (observed.clone(), None)
            }
            _ => {
                let observed = Observed {
                    id: SeriesId(self.next_id),
                    first: Arc::new(event),
                    series: None,
                    last: now,
                    passed: false,
                };
                self.next_id += 1;
                let evicted = self.observed.insert(key.clone(), observed.clone());
                (observed, evicted.map(|evicted| evicted.id))
            }
        }
    }

    /// Upstream filters after counting, so that what was skipped is counted later (client-go `EventCorrelator.EventCorrelate`).
    fn verdict(&mut self, now: Instant, observed: &mut Observed, spam: Key) -> Verdict {
        let is_series = self.options.grouping == Grouping::Series;
        let count = observed.series.map_or(1, |series| series.count);
        if is_series && observed.passed && count > 2 {
            return Verdict::Count;
        }
        let known = is_series && observed.passed;
        if self.spam.allows(now, spam) {
            observed.passed = true;
            return Verdict::Write;
        }
        if known { Verdict::Count } else { Verdict::Skip }
    }
}

/// The event that a series is kept as.
pub(super) fn with_series(first: &Event, series: Option<EventSeries>) -> Event {
    Event {
        series,
        ..first.clone()
    }
}
