//! What the machine tells of its numbers.

use std::{collections::BTreeMap, time::Duration};

use crate::Metrics;

/// Counts what waits at each priority and tells whoever collects. Without a collector it does nothing.
pub(super) struct Meter(Option<Numbers>);

struct Numbers {
    metrics: Box<dyn Metrics>,
    /// Those that wait, by priority. No entry is zero.
    levels: BTreeMap<i32, usize>,
    depth: usize,
}

impl Meter {
    pub(super) fn new(metrics: Option<Box<dyn Metrics>>) -> Self {
        Self(metrics.map(|metrics| Numbers {
            metrics,
            levels: BTreeMap::new(),
            depth: 0,
        }))
    }

    pub(super) fn metrics(&self) -> Option<&dyn Metrics> {
        self.0.as_ref().map(|it| &*it.metrics)
    }

    /// An item waits that did not.
    pub(super) fn entered(&mut self, priority: i32) {
        if let Some(numbers) = &mut self.0 {
            numbers.metrics.added();
            numbers.shift(priority, 1);
            numbers.tell();
        }
    }

    /// An item that waits has another priority.
    pub(super) fn moved(&mut self, from: i32, to: i32) {
        if from != to
            && let Some(numbers) = &mut self.0
        {
            numbers.shift(from, -1);
            numbers.shift(to, 1);
        }
    }

    /// An item was handed out.
    pub(super) fn taken(&mut self, priority: i32, waited_for: Duration) {
        if let Some(numbers) = &mut self.0 {
            numbers.shift(priority, -1);
            numbers.tell();
            numbers.metrics.taken(waited_for);
        }
    }

    /// Nothing waits any more.
    pub(super) fn emptied(&mut self) {
        if let Some(numbers) = &mut self.0 {
            for (priority, _) in std::mem::take(&mut numbers.levels) {
                numbers.metrics.depth_at(priority, 0);
            }
            numbers.depth = 0;
            numbers.tell();
        }
    }

    pub(super) fn finished(&self, worked_for: Duration) {
        if let Some(numbers) = &self.0 {
            numbers.metrics.finished(worked_for);
        }
    }

    pub(super) fn retried(&self) {
        if let Some(numbers) = &self.0 {
            numbers.metrics.retried();
        }
    }
}

impl Numbers {
    fn shift(&mut self, priority: i32, by: isize) {
        self.depth = self.depth.saturating_add_signed(by);
        let level = self.levels.entry(priority).or_default();
        *level = level.saturating_add_signed(by);
        let depth = *level;
        if depth == 0 {
            self.levels.remove(&priority);
        }
        self.metrics.depth_at(priority, depth);
    }

    fn tell(&self) {
        self.metrics.depth(self.depth);
    }
}
