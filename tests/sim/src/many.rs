//! Many seeds on many threads: each world on one of them.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

use crate::{outcome::Violation, plan::Plan, run::run_twice};

/// What came of many seeds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Seeds that were run, each twice.
    pub n_seeds: u64,
    /// Times that all invariants were asked, in one run of each.
    pub n_steps: u64,
    /// Lines of all traces, in one run of each.
    pub n_lines: u64,
    /// Seeds that failed, and how.
    pub failures: Vec<(u64, Violation)>,
}

/// Runs the seeds from `first` on, on this many threads. With `until_failure` no further seed is begun after one that fails.
#[must_use]
pub fn run_many(first: u64, n_seeds: u64, n_threads: usize, until_failure: bool) -> Report {
    let next = AtomicU64::new(first);
    let stop = AtomicBool::new(false);
    let work = || {
        let mut report = Report::default();
        while !stop.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first.saturating_add(n_seeds) {
                break;
            }
            let outcome = run_twice(&Plan::of_seed(seed));
            report.n_seeds += 1;
            report.n_steps += outcome.n_steps;
            report.n_lines += outcome.n_lines;
            if let Some(violation) = outcome.violation {
                report.failures.push((seed, violation));
                stop.fetch_or(until_failure, Ordering::Relaxed);
            }
        }
        report
    };
    let mut all = Report::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads.max(1)).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            match thread.join() {
                Ok(report) => all.add(report),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.failures.sort_by_key(|(seed, _)| *seed);
    all
}

impl Report {
    fn add(&mut self, other: Self) {
        self.n_seeds += other.n_seeds;
        self.n_steps += other.n_steps;
        self.n_lines += other.n_lines;
        self.failures.extend(other.failures);
    }
}
