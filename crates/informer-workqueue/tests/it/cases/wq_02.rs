//! Shutting down with a drain.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use informer_workqueue::{Outcome, Queue, Shutdown, ThreadClock, WorkQueue, WorkQueueExt};

use crate::support::{ManualClock, Random, secs};

#[test]
fn wq_02_drain_hands_the_dirty_item_out_once_more() {
    let queue = Queue::new(ThreadClock);
    queue.add_now("a");
    queue.add_now("b");
    let a = queue.take_blocking().unwrap();
    let b = queue.take_blocking().unwrap();
    queue.add_now("a");
    queue.add_after("late", secs(60));
    let drained = AtomicUsize::new(0);
    thread::scope(|scope| {
        assert_eq!(queue.shut_down(Shutdown::Drain { queued: true }), ["late"]);
        scope.spawn(|| {
            queue.drained_blocking();
            drained.fetch_add(1, SeqCst);
        });
        queue.add_now("ignored");
        b.finish(Outcome::Retry);
        assert_eq!(drained.load(SeqCst), 0);
        a.finish(Outcome::Forget);
        let again = queue.take_blocking().unwrap();
        assert_eq!(*again, "a");
        assert_eq!(drained.load(SeqCst), 0);
        assert!(
            queue.take_blocking().is_none(),
            "told while the last item is in work"
        );
        drop(again);
    });
    assert!(queue.is_shutting_down());
}

#[test]
fn wq_02_drain_of_an_empty_queue_is_at_once() {
    for how in [
        Shutdown::Now,
        Shutdown::Drain { queued: true },
        Shutdown::Drain { queued: false },
    ] {
        let queue = Queue::<u32, _>::new(ManualClock::new());
        queue.shut_down(how);
        queue.drained_blocking();
        assert!(queue.take_blocking().is_none());
    }
}

/// A drain that waits for two items in work, one of them added again, and a plain shutdown at some moment before, while or after it begins
/// to wait: it returns, and so does a worker that waits; nothing is handed out or taken in afterwards.
#[test]
fn wq_02_shutdown_ends_a_drain_whenever_it_comes() {
    const TRIES: usize = 100_000;
    let (to_drainer, drainer) = mpsc::sync_channel::<Arc<Queue<u32, ThreadClock>>>(1);
    let (to_main, drained) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || {
        while let Ok(queue) = drainer.recv() {
            queue.shut_down(Shutdown::Drain { queued: true });
            queue.drained_blocking();
            assert!(queue.take_blocking().is_none());
            to_main.send(()).unwrap();
        }
    });
    let mut random = Random::new(2);
    for _ in 0..TRIES {
        let queue = Arc::new(Queue::new(ThreadClock));
        queue.add_now(1);
        queue.add_now(2);
        let leases = [(); 2].map(|()| queue.take_blocking().unwrap());
        queue.add_now(1);
        queue.add_after(3, secs(60));
        to_drainer.send(queue.clone()).unwrap();
        (0..random.below(256)).for_each(|_| std::hint::spin_loop());
        queue.shut_down(Shutdown::Now);
        queue.add_now(4);
        drained.recv().unwrap();
        drop(leases);
        assert_eq!(queue.stats(), informer_workqueue::Stats::default());
        assert!(queue.take_blocking().is_none());
    }
    drop(to_drainer);
    thread.join().unwrap();
}
