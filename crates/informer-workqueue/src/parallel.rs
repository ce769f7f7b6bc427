//! Many small pieces of work over a few threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Calls `piece` once for each number below `pieces`, on `workers` threads that take `chunk` of them at a time, and returns when all calls
/// have ended (client-go `ParallelizeUntil`). Once `stop` says so no call begins any more; those that run are waited for. Says how many
/// calls there were.
///
/// A `chunk` or number of workers of zero counts as one. More workers than chunks are not started.
///
/// # Panics
/// When a call has panicked, after the others have ended.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let sum = AtomicUsize::new(0);
/// let done = informer_workqueue::parallelize(4, 100, 8, || false, |n| {
///     sum.fetch_add(n, Ordering::Relaxed);
/// });
/// assert_eq!((done, sum.into_inner()), (100, 4950));
/// ```
pub fn parallelize(
    workers: usize,
    pieces: usize,
    chunk: usize,
    stop: impl Fn() -> bool + Sync,
    piece: impl Fn(usize) + Sync,
) -> usize {
    let chunk = chunk.max(1);
    let workers = workers.max(1).min(pieces.div_ceil(chunk));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            // Each chunk number is given once; past the end it only grows by the number of workers.
            let Some(first) = next.fetch_add(1, Ordering::Relaxed).checked_mul(chunk) else {
                return;
            };
            for n in first..first.saturating_add(chunk).min(pieces) {
                if stop() {
                    return;
                }
                piece(n);
                done.fetch_add(1, Ordering::Relaxed);
            }
            if first >= pieces {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    done.into_inner()
}
