//! Handlers come and go, readers read, and the source changes, lists and deletes, all at once: invariants 1 to 4 hold throughout, and at the
//! end nothing is left. In a process of its own, since it counts tasks, threads and descriptors.
//!
//! Two seconds for each queue, or `INFORMER_STRESS_SECONDS`.

#![expect(clippy::unwrap_used, reason = "a failed test says where")]

mod cluster;
mod handlers;
mod readers;

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use informer_core::{Clock, ObjectKey, TokioClock};
use informer_sharedinformer::{HandlerOptions, QueueKind, SharedInformer};
use tokio::{runtime::Handle, task::JoinSet};

use crate::{
    cluster::{Cluster, Pod},
    handlers::Chain,
};

type Informer = SharedInformer<ObjectKey, Pod>;

const TASKS: u64 = 8;
const READERS: u64 = 80;

async fn pass(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}

/// What must be as it was.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    objects: usize,
    tasks: usize,
    threads: usize,
    descriptors: usize,
}

impl Counts {
    fn now(objects: &AtomicUsize) -> Self {
        let entries = |folder: &str| fs::read_dir(folder).map_or(0, Iterator::count);
        Self {
            objects: objects.load(Ordering::Relaxed),
            tasks: Handle::current().metrics().num_alive_tasks(),
            threads: entries("/proc/self/task"),
            descriptors: entries("/proc/self/fd"),
        }
    }
}

/// One run. `atomic`: a list is seen whole or not at all.
async fn run(queue: QueueKind<ObjectKey, Pod>, atomic: bool, time: Duration, objects: &Arc<AtomicUsize>) {
    let stop = Arc::new(AtomicBool::new(false));
    let cluster = Cluster::new(objects.clone(), stop.clone());
    let done = cluster.counts();
    let informer = SharedInformer::fed_by(move |sink| cluster.play(sink))
        .name("pods")
        .queue(queue)
        .resync(Duration::from_secs(1))
        .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&pod.node))
        .build()
        .unwrap();
    let whole = Chain::new(informer.store());
    let (first, history) = (whole.clone(), whole.clone());
    let first = informer
        .add_handler(
            move |change: &_| first.told(change),
            HandlerOptions::named("first"),
        )
        .unwrap();
    let running = informer.spawn().unwrap();
    let mut tasks = JoinSet::new();
    for seed in 0..TASKS {
        tasks.spawn(handlers::come_and_go(informer.clone(), seed, stop.clone()));
    }
    for seed in 0..READERS {
        tasks.spawn(readers::read(informer.store(), seed, atomic, stop.clone()));
    }
    pass(time).await;
    stop.store(true, Ordering::Relaxed);
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    let idle = |informer: &Informer| informer.status().queued == 0 && first.backlog() == 0;
    while !idle(&informer) {
        pass(Duration::from_millis(1)).await;
    }
    assert!(running.stop().await.still_running.is_empty());
    assert_eq!(first.n_panics(), 0, "a chain with a gap: see above");
    history.assert_ends_as(&informer.store());
    assert!(informer.status().healthy);
    let (events, lists) = done.get();
    assert!(events > 100 && lists > 2, "{events} events, {lists} lists");
}

#[test]
fn invariants_hold_while_everything_happens_at_once_and_nothing_is_left() {
    let seconds = std::env::var("INFORMER_STRESS_SECONDS").map_or(2, |text| text.parse().unwrap());
    let time = Duration::from_secs(seconds);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let objects = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        // The first wait sets up what a runtime keeps.
        pass(Duration::from_millis(1)).await;
        let before = Counts::now(&objects);
        for (queue, atomic) in [(QueueKind::InOrder, true), (QueueKind::Coalescing, false)] {
            run(queue, atomic, time, &objects).await;
            // Tasks and threads end in a moment.
            let end = TokioClock.now() + Duration::from_secs(60);
            while Counts::now(&objects) != before && TokioClock.now() < end {
                pass(Duration::from_millis(5)).await;
            }
            assert_eq!(Counts::now(&objects), before);
        }
    });
}
