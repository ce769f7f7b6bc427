//! The end of a queue in time, and delays that are taken back or changed.

use std::{thread, time::Duration};

use informer_workqueue::{AddOptions, Outcome, Queue, Shutdown, ThreadClock, WorkQueue, WorkQueueExt};

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() {
    let queue = Queue::new(ThreadClock);

    // Of two adds the earlier time counts; only a reschedule makes it later, and a cancel takes it back.
    queue.add_after("report", Duration::from_millis(1));
    assert!(queue.reschedule(&"report", Duration::from_secs(3600)));
    queue.add_after("never mind", Duration::from_secs(3600));
    assert!(queue.cancel(&"never mind"));

    queue.add("urgent", AddOptions::default().priority(10));
    for item in ["a", "b", "c"] {
        queue.add_now(item);
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            while let Some(lease) = queue.take_blocking() {
                println!("worked on {}", lease.item());
                lease.finish(Outcome::Forget);
            }
        });
        // Waits for what is in work and for what is ready, a minute at most; what is delayed is named.
        let drained = queue.drain_blocking(Shutdown::Drain { queued: true }, Duration::from_secs(60));
        println!("left: {:?}, still in work: {:?}", drained.left, drained.running);
        assert!(drained.is_complete());
    });
}
