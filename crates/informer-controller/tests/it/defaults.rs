//! What holds for all controllers, and what one says itself.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use informer_controller::{
    Action, Attempt, Builder, Controller, Defaults, Kind, Late, ReconcileMetrics, ReconcileMetricsProvider,
    channel,
};
use informer_core::{ObjectKey, Resource};
use informer_workqueue::AddOptions;

use crate::support::{Feed, Log, Oops, Watch, secs, settle, sleep};

/// Writes down the concurrency that it is told of each controller.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<(String, usize)>>>);

struct Of(Told, String);

impl ReconcileMetrics for Of {
    fn max_concurrent(&self, workers: usize) {
        self.0.0.lock().unwrap().push((self.1.clone(), workers));
    }
}

impl ReconcileMetricsProvider for Told {
    fn reconciles(&self, controller: &str) -> Arc<dyn ReconcileMetrics> {
        Arc::new(Of(self.clone(), controller.to_owned()))
    }

    fn queue(&self, _: &str) -> Arc<dyn informer_workqueue::Metrics> {
        Arc::new(())
    }
}

fn of_kind(name: &str, group: &str, kind: &str) -> Builder<ObjectKey> {
    let (_feed, informer) = Feed::informer();
    let resource = Resource::namespaced(group, "v1", "things", kind);
    Controller::builder(name)
        .for_(Kind::of(informer).resource(&resource))
        .reconcile(|_, _| async { Ok::<_, Infallible>(Action::Done) })
}

#[test]
fn what_a_controller_says_goes_before_its_kind_and_that_before_the_rest() {
    let told = Told::default();
    let defaults = Defaults::new()
        .concurrency(2)
        .concurrency_of("Deployment.apps", 8)
        .concurrency_of("Pod", 4)
        .needs_leader_election(false)
        .warm_up(true)
        .metrics_from(told.clone());
    let build = |builder: Builder<ObjectKey>| builder.build().unwrap();
    let rest = build(of_kind("rest", "", "Node").defaults(&defaults));
    assert!(!rest.needs_leader_election() && rest.warms_up());
    build(of_kind("pods", "", "Pod").defaults(&defaults));
    build(of_kind("other pods", "metrics.k8s.io", "Pod").defaults(&defaults));
    build(of_kind("deployments", "apps", "Deployment").defaults(&defaults));
    // In any order.
    let own = build(
        of_kind("own", "apps", "Deployment")
            .concurrency(3)
            .defaults(&defaults)
            .needs_leader_election(true),
    );
    assert!(own.needs_leader_election() && own.warms_up());
    let expected = [
        ("rest", 2),
        ("pods", 4),
        ("other pods", 2),
        ("deployments", 8),
        ("own", 3),
    ];
    let told = told.0.lock().unwrap();
    let told: Vec<_> = told.iter().map(|(name, n)| (&**name, *n)).collect();
    assert_eq!(told, expected);
    // Those of controller-runtime where nobody chose.
    let plain = build(of_kind("plain", "", "Node"));
    assert!(plain.needs_leader_election() && !plain.warms_up());
    let idle = Defaults::new().concurrency(0);
    assert_eq!(
        of_kind("idle", "", "Node")
            .defaults(&idle)
            .build()
            .unwrap_err()
            .to_string(),
        r#"controller "idle" has a concurrency of zero"#
    );
}

#[tokio::test(start_paused = true)]
async fn timeouts_and_lateness_hold_for_all() {
    let told = Log::new();
    let defaults = Defaults::new()
        .timeout(secs(5))
        .sync_timeout(secs(60))
        .late(Late::GoOn)
        .on_source_error({
            let told = told.clone();
            move |error| told.push(error.source.to_string())
        });
    let (_feed, never) = Feed::informer();
    let log = Log::new();
    let controller = Controller::builder("c")
        .defaults(&defaults)
        .for_(&never)
        .reconcile(|_: ObjectKey, _| async { Ok::<_, Infallible>(Action::Done) })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    sleep(secs(150)).await;
    assert_eq!(told.all(), ["pods", "pods"]);
    running.stop().await.unwrap();

    let (requests, source) = channel("test");
    let watch = Watch::start();
    let reconcile = {
        let log = log.clone();
        move |(): (), attempt: Attempt| {
            log.push((watch.ms(), attempt.deadline.is_some()));
            async { std::future::pending::<Result<Action, Infallible>>().await }
        }
    };
    let controller = Controller::builder("c")
        .source(source)
        .defaults(&defaults)
        .reconcile(reconcile)
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(()).await.unwrap();
    assert_eq!(log.wait_for(2).await, [(0, true), (5005, true)]);
    running.stop().await.unwrap();

    // One may do without.
    let (_requests, source) = channel("test");
    let log = Log::new();
    let controller = Controller::builder("c")
        .source(source)
        .defaults(&defaults)
        .timeout(None)
        .reconcile({
            let log = log.clone();
            move |(): (), attempt: Attempt| {
                log.push(attempt.deadline);
                async { Ok::<_, Infallible>(Action::Done) }
            }
        })
        .build()
        .unwrap();
    controller.queue().add((), AddOptions::default());
    let running = controller.spawn().unwrap();
    assert_eq!(log.wait_for(1).await, [None]);
    running.stop().await.unwrap();
}

/// Without priorities: in the order of the adds, and the bucket of client-go for those that fail.
#[tokio::test(start_paused = true)]
async fn a_queue_may_do_without_priorities() {
    for priorities in [true, false] {
        let (_requests, source) = channel("test");
        let (log, watch) = (Log::new(), Watch::start());
        let controller = Controller::builder("c")
            .source(source)
            .defaults(&Defaults::new().priorities(priorities))
            .reconcile({
                let log = log.clone();
                move |n: u32, attempt: Attempt| {
                    log.push((n, watch.ms()));
                    let fails = attempt.number == 1 && n < 200;
                    async move { if fails { Err(Oops(n)) } else { Ok(Action::Done) } }
                }
            })
            .build()
            .unwrap();
        for n in 0..=200 {
            let priority = if n == 200 { 9 } else { 0 };
            controller
                .queue()
                .add(n, AddOptions::default().priority(priority));
        }
        let running = controller.spawn().unwrap();
        let seen = log.wait_for(401).await;
        assert_eq!(seen[0].0, if priorities { 200 } else { 0 });
        // A hundred at once, and a hundred more at ten a second.
        let took = seen[400].1;
        assert_eq!((9_000..11_000).contains(&took), !priorities, "{took}");
        running.stop().await.unwrap();
        settle().await;
    }
}
