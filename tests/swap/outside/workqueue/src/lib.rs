//! A work queue in a program without Kubernetes and without a runtime: threads that take turns at letters.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use informer_core::Clock;
use informer_workqueue::{AddOptions, Config, ItemExponential, Outcome, Queue, Shutdown, WorkQueue};

/// Works through letters on threads; each fails once. Returns what was done, sorted.
pub fn work(letters: &[char], n_threads: usize, clock: impl Clock) -> Vec<char> {
    let limiter = ItemExponential::new(Duration::from_millis(1), Duration::from_secs(1));
    let queue = Queue::with(Config::default().limiter(limiter), clock);
    for letter in letters {
        queue.add(*letter, AddOptions::default());
        queue.add(*letter, AddOptions::default());
    }
    let left = Arc::new(Mutex::new(letters.to_vec()));
    let mut done: Vec<char> = thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            while let Some(lease) = queue.take_blocking() {
                if lease.failures() == 0 {
                    lease.finish(Outcome::Retry);
                    continue;
                }
                let letter = *lease.item();
                done.push(letter);
                lease.finish(Outcome::Forget);
                let is_last = left.lock().is_ok_and(|mut left| {
                    left.retain(|other| *other != letter);
                    left.is_empty()
                });
                if is_last {
                    queue.shut_down(Shutdown::Now);
                }
            }
            done
        };
        let workers: Vec<_> = (0..n_threads).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .filter_map(|worker| worker.join().ok())
            .flatten()
            .collect()
    });
    done.sort_unstable();
    done
}

#[test]
fn each_letter_is_done_once_after_it_failed_once() {
    assert_eq!(
        work(&['c', 'a', 'b'], 2, informer_workqueue::ThreadClock),
        ['a', 'b', 'c']
    );
}
