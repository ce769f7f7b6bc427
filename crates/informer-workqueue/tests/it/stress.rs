//! Threads and tasks on one queue.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use informer_workqueue::{
    AddOptions, Config, ItemExponential, Outcome, Queue, Shutdown, ThreadClock, WorkQueue, WorkQueueExt,
};

use crate::support::{Random, TokioClock, ms, secs};

/// Delays, retries and plain adds over threads that block: each key ends with as many successes as it should.
#[test]
fn threads_with_delays_and_retries_lose_nothing() {
    const KEYS: usize = 64;
    let config = Config::<usize>::default().limiter(ItemExponential::new(ms(1), ms(4)));
    let queue = Queue::with(config, ThreadClock);
    let busy: Vec<AtomicBool> = (0..KEYS).map(|_| AtomicBool::new(false)).collect();
    let added: Vec<AtomicU32> = (0..KEYS).map(|_| AtomicU32::new(0)).collect();
    let seen: Vec<AtomicU32> = (0..KEYS).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(lease) = queue.take_blocking() {
                    let key = *lease.item();
                    assert!(!busy[key].swap(true, SeqCst), "{key} is with two workers");
                    let fails = lease.failures() < 2;
                    if !fails {
                        seen[key].fetch_max(added[key].load(SeqCst), SeqCst);
                    }
                    busy[key].store(false, SeqCst);
                    lease.finish(if fails { Outcome::Retry } else { Outcome::Forget });
                }
            });
        }
        let mut random = Random::new(7);
        for _ in 0..20_000 {
            let key = usize::try_from(random.below(KEYS as u64)).unwrap();
            added[key].fetch_add(1, SeqCst);
            if random.below(2) == 0 {
                queue.add_now(key);
            } else {
                queue.add_after(key, ms(random.below(3)));
            }
        }
        let pending = || (0..KEYS).any(|key| seen[key].load(SeqCst) != added[key].load(SeqCst));
        while pending() {
            thread::yield_now();
        }
        queue.shut_down(Shutdown::Now);
    });
}

/// The thread that watches the clock for a delayed item may be given another one and be long gone when the time comes.
#[test]
fn a_delayed_item_does_not_wait_for_a_busy_thread() {
    for _ in 0..20 {
        let queue = Queue::new(ThreadClock);
        let (delayed_taken, wait) = mpsc::channel();
        let wait = Mutex::new(wait);
        thread::scope(|scope| {
            for _ in 0..2 {
                let (queue, wait, delayed_taken) = (&queue, &wait, delayed_taken.clone());
                scope.spawn(move || {
                    while let Some(lease) = queue.take_blocking() {
                        if *lease == "delayed" {
                            queue.shut_down(Shutdown::Now);
                            delayed_taken.send(()).unwrap();
                        } else {
                            wait.lock().unwrap().recv_timeout(secs(10)).unwrap();
                        }
                    }
                });
            }
            while queue.stats().running == 0 && !queue.is_shutting_down() {
                queue.add_after("delayed", ms(5));
                queue.add_now("long");
                thread::yield_now();
            }
        });
    }
}

/// Tasks that are cancelled at random while they wait, beside a thread that blocks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_tasks_and_a_thread_lose_nothing() {
    let queue = Queue::new(TokioClock);
    let taken = Arc::new(AtomicU32::new(0));
    let spawn = |seed: u64| {
        let (queue, taken) = (queue.clone(), taken.clone());
        async move {
            let mut random = Random::new(seed);
            loop {
                tokio::select! {
                    biased;
                    lease = queue.take() => match lease {
                        Some(lease) => {
                            taken.fetch_add(1, SeqCst);
                            drop(lease);
                        }
                        None => return,
                    },
                    () = async { for _ in 0..random.below(3) { tokio::task::yield_now().await } } => {}
                }
            }
        }
    };
    let tasks: Vec<_> = (1..5)
        .map(|seed| {
            #[expect(clippy::disallowed_methods, reason = "the test owns them")]
            tokio::spawn(spawn(seed))
        })
        .collect();
    let blocking = {
        let (queue, taken) = (queue.clone(), taken.clone());
        thread::spawn(move || {
            while queue.take_blocking().is_some() {
                taken.fetch_add(1, SeqCst);
            }
        })
    };
    for item in 0..20_000_u32 {
        let delay = if item % 5 == 0 { ms(1) } else { ms(0) };
        queue.add(item, AddOptions::after(delay));
        if item % 64 == 0 {
            tokio::task::yield_now().await;
        }
    }
    while taken.load(SeqCst) < 20_000 {
        tokio::task::yield_now().await;
    }
    queue.shut_down(Shutdown::Now);
    for task in tasks {
        task.await.unwrap();
    }
    blocking.join().unwrap();
    assert_eq!(taken.load(SeqCst), 20_000);
}
