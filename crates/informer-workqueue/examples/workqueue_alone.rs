//! A work queue in a program that has no Kubernetes and no async runtime: three threads fetch "pages", some of which fail at first.
//!
//! Each page is fetched by one worker at a time, failures come back later and later, and the program ends when all is done.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    sync::{Mutex, PoisonError},
    thread,
};

use informer_workqueue::{Outcome, Queue, Shutdown, ThreadClock, WorkQueue, WorkQueueExt};

fn main() -> io::Result<()> {
    let queue = Queue::new(ThreadClock);
    let fetched = Mutex::new(BTreeMap::new());
    let pages = ["index", "about", "prices", "contact", "imprint", "news"];

    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| work(&queue, &fetched, pages.len()));
        }
        for page in pages {
            queue.add_now(page);
            queue.add_now(page); // Already there: fetched once all the same.
        }
    });

    let fetched = fetched.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut out = io::stdout().lock();
    for (page, attempts) in &fetched {
        writeln!(out, "{page:8} fetched at attempt {attempts}")?;
    }
    Ok(())
}

fn work(
    queue: &Queue<&'static str, ThreadClock>,
    fetched: &Mutex<BTreeMap<&'static str, u32>>,
    n_pages: usize,
) {
    while let Some(lease) = queue.take_blocking() {
        let attempt = lease.failures() + 1;
        if !fetch(&lease, attempt) {
            lease.finish(Outcome::Retry);
            continue;
        }
        let mut fetched = fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.insert(*lease, attempt);
        if fetched.len() == n_pages {
            queue.shut_down(Shutdown::Drain { queued: true });
        }
        drop(fetched);
        lease.finish(Outcome::Forget);
    }
}

/// Pages with a long name need more attempts.
fn fetch(page: &str, attempt: u32) -> bool {
    usize::try_from(attempt).is_ok_and(|attempt| attempt > page.len() / 3)
}
