//! kube-rs cases C24, C27, C28 and C29: back-off by request, numbers, bounds, and parents that are gone.

use std::{
    convert::Infallible,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use case_tests::{Mode, Script, Stream, World, config_map, event};
use informer_client::DynamicMeta;
use informer_controller::{Action, Attempt, Controller, ForObject, ForOwner, ReconcileMetrics, channel};
use informer_core::{Clock, ObjectKey, Resource, Store as _, TokioClock};
use informer_workqueue::{Metrics, Probe, WorkQueueExt as _};
use serde_json::json;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

async fn pass(period: Duration) {
    TokioClock.sleep_until(TokioClock.now() + period).await;
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = TokioClock.now() + Duration::from_secs(3600);
    while !holds() {
        assert!(TokioClock.now() < end, "{what}: not in an hour");
        pass(ms(1)).await;
    }
}

#[derive(Debug)]
struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("as told")
    }
}

impl std::error::Error for Failed {}

type Attempts = Arc<Mutex<Vec<(u32, Instant)>>>;

fn numbers(attempts: &Attempts) -> Vec<u32> {
    attempts.lock().unwrap().iter().map(|it| it.0).collect()
}

/// How long each attempt came after the one before it.
fn gaps(attempts: &Attempts) -> Vec<Duration> {
    let attempts = attempts.lock().unwrap();
    attempts.windows(2).map(|pair| pair[1].1 - pair[0].1).collect()
}

#[tokio::test(start_paused = true)]
async fn c24_failures_back_off_success_forgets_and_events_count_for_nothing() {
    let attempts = Attempts::default();
    let (requests, source) = channel("test");
    let fail = Arc::new(AtomicUsize::new(5));
    let controller = Controller::builder("c24")
        .source(source)
        .reconcile({
            let (attempts, fail) = (attempts.clone(), fail.clone());
            move |_: u32, attempt: Attempt| {
                attempts.lock().unwrap().push((attempt.number, TokioClock.now()));
                let left = fail.load(SeqCst);
                fail.store(left.saturating_sub(1), SeqCst);
                async move { if left > 0 { Err(Failed) } else { Ok(Action::Done) } }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(1).await.unwrap();
    until("five failures and a success", || numbers(&attempts).len() == 6).await;
    assert_eq!(numbers(&attempts), [1, 2, 3, 4, 5, 6]);
    assert_eq!(gaps(&attempts), [5, 10, 20, 40, 80].map(ms));

    // Events lead to reconciles, not to back-off.
    for n in 7..27 {
        requests.send(1).await.unwrap();
        until("it is reconciled", || numbers(&attempts).len() == n).await;
        pass(ms(1)).await;
    }
    assert_eq!(numbers(&attempts)[6..], [1; 20]);
    fail.store(1, SeqCst);
    requests.send(1).await.unwrap();
    until("one failure and a success", || numbers(&attempts).len() == 28).await;
    assert_eq!(numbers(&attempts)[26..], [1, 2]);
    assert_eq!(gaps(&attempts)[26], ms(5));
    running.stop().await.unwrap();
}

/// The newest of each number.
#[derive(Debug, Clone, Default)]
struct Numbers(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    depth: usize,
    adds: usize,
    retries: usize,
    probe: Option<Probe>,
}

impl Metrics for Numbers {
    fn opened(&self, probe: Probe) {
        self.0.lock().unwrap().probe = Some(probe);
    }

    fn depth(&self, depth: usize) {
        self.0.lock().unwrap().depth = depth;
    }

    fn added(&self) {
        self.0.lock().unwrap().adds += 1;
    }

    fn retried(&self) {
        self.0.lock().unwrap().retries += 1;
    }
}

impl Numbers {
    fn longest_for(&self) -> Duration {
        let probe = self.0.lock().unwrap().probe.clone().unwrap();
        probe.stats().unwrap().longest_for
    }
}

#[tokio::test(start_paused = true)]
async fn c27_a_queue_tells_its_depth_adds_retries_and_longest_run() {
    let told = Numbers::default();
    let fails = Arc::new(AtomicUsize::new(3));
    let controller = Controller::builder("c27")
        .queue_metrics(told.clone())
        .reconcile(move |_: u32, _| {
            let left = fails.load(SeqCst);
            fails.store(left.saturating_sub(1), SeqCst);
            async move {
                pass(Duration::from_secs(60)).await;
                if left > 0 { Err(Failed) } else { Ok(Action::Done) }
            }
        })
        .source(channel("nothing").1)
        .build()
        .unwrap();
    let queue = controller.queue().clone();
    let running = controller.spawn().unwrap();
    (0..100).for_each(|key| queue.add_now(key));
    pass(ms(1)).await;
    {
        let told = told.0.lock().unwrap();
        assert_eq!((told.depth, told.adds, told.retries), (99, 100, 0));
    }
    let first = told.longest_for();
    pass(Duration::from_secs(20)).await;
    assert_eq!(
        told.longest_for() - first,
        Duration::from_secs(20),
        "it grows while nothing happens"
    );

    // Of a hundred that take a minute each, three fail once.
    pass(Duration::from_secs(104 * 60)).await;
    {
        let told = told.0.lock().unwrap();
        assert_eq!((told.depth, told.adds, told.retries), (0, 103, 3));
    }
    assert_eq!(told.longest_for(), Duration::ZERO);
    assert_eq!(controller.status().counts.succeeded, 100);
    running.stop().await.unwrap();
}

/// Tokio's clock, which counts how often it is read.
#[derive(Debug, Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl Clock for Counting {
    fn now(&self) -> Instant {
        self.0.fetch_add(1, SeqCst);
        TokioClock.now()
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        TokioClock.sleep_until(at)
    }
}

/// How often the clock is read for a hundred reconciles, with somebody who counts or without.
async fn looks_at_the_clock(metrics: Option<Arc<dyn ReconcileMetrics>>) -> usize {
    let clock = Counting::default();
    let mut builder = Controller::builder("c27-zero")
        .skip_name_validation()
        .clock(clock.clone())
        .source(channel("nothing").1)
        .reconcile(|_: u32, _| async { Ok::<_, Infallible>(Action::Done) });
    if let Some(metrics) = metrics {
        builder = builder.metrics(metrics);
    }
    let controller = builder.build().unwrap();
    let queue = controller.queue().clone();
    let running = controller.spawn().unwrap();
    (0..100).for_each(|key| queue.add_now(key));
    until("all is done", || controller.status().counts.succeeded == 100).await;
    running.stop().await.unwrap();
    clock.0.load(SeqCst)
}

/// Nothing is read or kept for numbers that nobody wants: with a recorder each attempt is timed, which takes two looks at the clock.
#[tokio::test(start_paused = true)]
async fn c27_numbers_that_nobody_wants_cost_nothing() {
    let nobody = looks_at_the_clock(None).await;
    let somebody = looks_at_the_clock(Some(Arc::new(()))).await;
    assert_eq!(somebody, nobody + 200);
}

/// Lets so many in at once.
#[derive(Debug, Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

async fn most_at_once(concurrency: Option<usize>) -> usize {
    const KEYS: usize = 10_000;
    let gauge = Arc::new(Gauge::default());
    let mut builder = Controller::builder("c28").skip_name_validation();
    if let Some(concurrency) = concurrency {
        builder = builder.concurrency(concurrency);
    }
    let controller = builder
        .source(channel("nothing").1)
        .reconcile({
            let gauge = gauge.clone();
            move |_: usize, _| {
                let gauge = gauge.clone();
                async move {
                    let now = gauge.now.fetch_add(1, SeqCst) + 1;
                    gauge.most.fetch_max(now, SeqCst);
                    pass(ms(1)).await;
                    gauge.now.fetch_sub(1, SeqCst);
                    Ok::<_, Infallible>(Action::Done)
                }
            }
        })
        .build()
        .unwrap();
    let queue = controller.queue().clone();
    (0..KEYS).for_each(|key| queue.add_now(key));
    let running = controller.spawn().unwrap();
    until("all is done", || {
        controller.status().counts.succeeded == KEYS as u64
    })
    .await;
    running.stop().await.unwrap();
    gauge.most.load(SeqCst)
}

#[tokio::test(start_paused = true)]
async fn c28_never_more_in_flight_than_said_and_one_by_default() {
    assert_eq!(most_at_once(None).await, 1);
    assert_eq!(most_at_once(Some(16)).await, 16);
}

/// A parent and its ten children go: the reconciler is given their keys and finds nothing, which is its business and no error.
#[tokio::test(start_paused = true)]
async fn c29_what_is_gone_when_its_key_is_reconciled_is_no_error() {
    const CHILDREN: usize = 10;
    let owner =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "parent", "uid": "u", "controller": true}]);
    let mut items = vec![config_map("parent", "1")];
    for n in 0..CHILDREN {
        let mut child = config_map(&format!("child-{n}"), "1");
        child["metadata"]["ownerReferences"] = owner.clone();
        items.push(child);
    }
    for mode in Mode::ALL {
        let lines: Vec<_> = items.iter().map(|item| event("DELETED", item)).collect();
        let script = Script::new(mode);
        script.state(None, &items, "5", Stream::open(&lines));
        let world = World::start(&script, mode);
        let kind = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        let of_owner = ForOwner::new(&kind, DynamicMeta).unwrap();
        let (store, found) = (world.informer.store(), Arc::new(AtomicUsize::new(0)));
        let controller = Controller::builder("c29")
            .skip_name_validation()
            .watches(&world.informer, ForObject)
            .watches(&world.informer, of_owner)
            .reconcile({
                let found = found.clone();
                move |key: ObjectKey, attempt: Attempt| {
                    assert_eq!(attempt.number, 1);
                    found.fetch_add(usize::from(store.get(&key).is_some()), SeqCst);
                    async { Ok::<_, Failed>(Action::Done) }
                }
            })
            .build()
            .unwrap();
        let running = controller.spawn().unwrap();
        world.until_told(2 * (CHILDREN + 1)).await;
        world
            .until("each key was reconciled", || {
                controller.status().counts.succeeded > CHILDREN as u64
            })
            .await;
        world.pass(Duration::from_secs(10)).await;
        assert!(world.stored().is_empty());
        let counts = controller.status().counts;
        assert_eq!((counts.failed, counts.panicked), (0, 0));
        assert!(found.load(SeqCst) <= CHILDREN + 1);
        running.stop().await.unwrap();
        world.stop().await;
    }
}
