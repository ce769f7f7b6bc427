//! What each hook does to the numbers.

use std::{sync::Arc, time::Duration};

use informer_controller::{ReconcileMetrics as _, ReconcileResult};
use informer_core::{FailureClass, Resource, TokioClock};
use informer_events::{Fate, Metrics as _, Verb, Written};
use informer_leaderelection::Metrics as _;
use informer_prometheus::Registry;
use informer_reflector::Problem;
use informer_sharedinformer::{InformerId, MetricsProvider as _};
use informer_workqueue::{AddOptions, Config, Metrics as _, Queue, WorkQueue as _};
use proptest::prelude::*;

use crate::{scrape::Scrape, table::pods};

const SECOND: Duration = Duration::from_secs(1);

#[expect(clippy::disallowed_methods, reason = "the time is paused: nobody waits")]
async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

#[test]
fn reconciles_are_counted_by_result() {
    let registry = Registry::new();
    let metrics = registry.controller("c");
    metrics.max_concurrent(3);
    for result in [
        ReconcileResult::Success,
        ReconcileResult::Error,
        ReconcileResult::Error,
        ReconcileResult::RequeueAfter,
    ] {
        metrics.began();
        metrics.reconciled(result, Duration::from_millis(300));
        metrics.ended();
    }
    metrics.began();
    metrics.terminal_error();
    metrics.panicked();
    metrics.panicked();
    metrics.timed_out();
    let scrape = Scrape::of(&registry);
    let value = |name: &str, labels: &str| {
        scrape
            .value(&format!("controller_runtime_{name}"), labels)
            .unwrap()
    };
    assert_eq!(value("reconcile_total", "result=success"), 1.0);
    assert_eq!(value("reconcile_total", "result=error"), 2.0);
    assert_eq!(value("reconcile_total", "result=requeue"), 0.0);
    assert_eq!(value("reconcile_total", "result=requeue_after"), 1.0);
    assert_eq!(value("reconcile_errors_total", ""), 2.0);
    assert_eq!(value("terminal_reconcile_errors_total", ""), 1.0);
    assert_eq!(value("reconcile_panics_total", ""), 2.0);
    assert_eq!(value("reconcile_timeouts_total", ""), 1.0);
    assert_eq!(value("max_concurrent_reconciles", ""), 3.0);
    assert_eq!(value("active_workers", ""), 1.0);
    assert_eq!(value("reconcile_time_seconds_sum", ""), 1.2);
    let buckets = scrape.buckets("controller_runtime_reconcile_time_seconds", "");
    let filled: Vec<_> = buckets.into_iter().filter(|(_, count)| *count > 0.0).collect();
    assert_eq!(filled, [("0.3".to_owned(), 4.0)]);
}

#[test]
fn a_change_of_leader_is_seen() {
    let registry = Registry::new();
    registry.leading("a", false);
    registry.leading("b", true);
    registry.leading("a", true);
    registry.leading("b", false);
    registry.slow_path("a");
    let scrape = Scrape::of(&registry);
    assert_eq!(scrape.value("leader_election_master_status", "name=a"), Some(1.0));
    assert_eq!(scrape.value("leader_election_master_status", "name=b"), Some(0.0));
    assert_eq!(
        scrape.value("leader_election_slowpath_total", "name=a"),
        Some(1.0)
    );
}

#[test]
fn stores_and_handlers_are_seen() {
    let registry = Registry::new();
    let informer = registry.informer(&pods().part("in kube-system"));
    informer.queued(5);
    informer.processed(5, Duration::from_millis(3));
    informer.stored(12, &"1234567890123456789".into());
    informer.refused(2);
    informer.backlog("slow", 7, 3);
    informer.backlog("slow", 9, 10);
    informer.called("slow", SECOND, true);
    let scrape = Scrape::of(&registry);
    let labels = "name=test version=v1 resource=pods group=";
    let value = |name: &str| scrape.value(&format!("informer_{name}"), labels).unwrap();
    assert_eq!(value("queued_items"), 5.0);
    assert_eq!(value("processing_latency_seconds_count"), 1.0);
    assert_eq!(value("store_objects"), 12.0);
    assert_eq!(value("store_refused_objects"), 2.0);
    assert_eq!(value("store_resource_version"), 567_890_123_456_789.0);
    assert_eq!(value("handler_backlog"), 9.0);
    assert_eq!(value("handler_merged_total"), 10.0);
    assert_eq!(value("handler_panics_total"), 1.0);
    assert_eq!(value("handler_duration_seconds_sum"), 1.0);
    let sample = scrape.find("informer_handler_backlog", labels)[0];
    assert_eq!(
        (&*sample.labels["handler"], &*sample.labels["part"]),
        ("slow", "in kube-system")
    );
}

#[test]
fn relists_say_why() {
    let registry = Registry::new();
    let reflector = registry.reflector(&pods()).unwrap();
    let list = || {
        reflector.list_began();
        reflector.list_ended(SECOND, 10);
    };
    // The first is none, and failures before it are no reason.
    reflector.failed(Problem::List(FailureClass::Refused));
    list();
    reflector.watch_began();
    reflector.failed(Problem::Undecodable);
    reflector.failed(Problem::Watch(FailureClass::Transient));
    reflector.failed(Problem::Watch(FailureClass::Expired));
    list();
    // Nobody complained: it was asked to.
    list();
    reflector.failed(Problem::Resync);
    list();
    reflector.failed(Problem::List(FailureClass::VersionTooLarge));
    list();
    let scrape = Scrape::of(&registry);
    let mut relists: Vec<_> = scrape
        .find("reflector_relists_total", "")
        .into_iter()
        .map(|sample| {
            format!(
                "{} {} {}",
                sample.labels["request"], sample.labels["reason"], sample.value
            )
        })
        .collect();
    relists.sort();
    assert_eq!(
        relists,
        [
            "list version_too_large 1",
            "none asked 1",
            "resync refused 1",
            "watch expired 1"
        ]
    );
    let failures = |labels: &str| scrape.value("reflector_failures_total", labels);
    assert_eq!(failures("request=list reason=refused"), Some(1.0));
    assert_eq!(failures("request=object reason=undecodable"), Some(1.0));
    assert_eq!(failures("request=watch reason=transient"), Some(1.0));
    assert_eq!(scrape.value("reflector_lists_total", ""), Some(5.0));
    assert_eq!(scrape.value("reflector_items_per_list_sum", ""), Some(50.0));
}

#[tokio::test(start_paused = true)]
async fn lag_grows_while_nobody_watches() {
    let registry = Registry::new();
    let _informer = registry.informer(&pods());
    let reflector = registry.reflector(&pods()).unwrap();
    let lag = || Scrape::of(&registry).value("informer_lag_seconds", "resource=pods");
    pass(SECOND).await;
    // There is nothing yet that could be out of date.
    assert_eq!(lag(), None);
    reflector.list_began();
    reflector.list_ended(SECOND, 1);
    reflector.watch_began();
    pass(SECOND * 600).await;
    assert_eq!(lag(), Some(0.0));
    reflector.watch_ended(SECOND * 600, 0);
    pass(SECOND * 7).await;
    assert_eq!(lag(), Some(7.0));
    reflector.list_began();
    pass(SECOND).await;
    assert_eq!(lag(), Some(8.0));
    reflector.list_ended(SECOND, 1);
    reflector.watch_began();
    assert_eq!(lag(), Some(0.0));
}

#[test]
fn what_a_store_weighs_is_asked_each_time() {
    let registry = Registry::new();
    let informer = registry.informer(&pods());
    let weight = Arc::new(std::sync::atomic::AtomicU64::new(5));
    let weigh = weight.clone();
    registry.store_bytes(&pods(), move || weigh.load(std::sync::atomic::Ordering::Relaxed));
    let bytes = || Scrape::of(&registry).value("informer_store_bytes", "resource=pods");
    assert_eq!(bytes(), Some(5.0));
    weight.store(9, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(bytes(), Some(9.0));
    informer.stopped();
    assert_eq!(bytes(), None);
}

#[test]
fn what_is_estimated_gives_way_to_what_the_program_tells() {
    use informer_sharedinformer::MetricsProvider;

    let registry = Registry::new();
    let bytes = || Scrape::of(&registry).value("informer_store_bytes", "resource=pods");
    // Nobody measures it.
    MetricsProvider::store_bytes(&registry, &pods(), Box::new(|| 5));
    assert_eq!(bytes(), None);
    let informer = registry.informer(&pods());
    MetricsProvider::store_bytes(&registry, &pods(), Box::new(|| 5));
    assert_eq!(bytes(), Some(5.0));
    registry.store_bytes(&pods(), || 7);
    MetricsProvider::store_bytes(&registry, &pods(), Box::new(|| 5));
    assert_eq!(bytes(), Some(7.0));
    informer.stopped();
    assert_eq!(bytes(), None);
}

#[test]
fn short_watches_are_those_that_brought_nothing() {
    let registry = Registry::new();
    let reflector = registry.reflector(&pods()).unwrap();
    for (took, objects) in [(10, 0), (10, 3), (2000, 0)] {
        reflector.watch_began();
        reflector.watch_ended(Duration::from_millis(took), objects);
    }
    let scrape = Scrape::of(&registry);
    assert_eq!(scrape.value("reflector_watches_total", ""), Some(3.0));
    assert_eq!(scrape.value("reflector_short_watches_total", ""), Some(1.0));
    assert_eq!(scrape.value("reflector_items_per_watch_sum", ""), Some(3.0));
}

#[test]
fn events_are_counted_by_fate() {
    let registry = Registry::new();
    let events = registry.events("e");
    for fate in [
        Fate::Queued,
        Fate::Counted,
        Fate::Counted,
        Fate::Spam,
        Fate::QueueFull,
        Fate::Stopped,
        Fate::Invalid,
    ] {
        events.recorded(fate);
    }
    events.written(Verb::Create, Written::Again, SECOND);
    events.written(Verb::Create, Written::Done, SECOND);
    events.written(Verb::Patch, Written::Rejected, SECOND);
    events.waiting(4);
    let scrape = Scrape::of(&registry);
    let recorded =
        |fate: &str| scrape.value("informer_events_recorded_total", &format!("name=e fate={fate}"));
    assert_eq!(recorded("counted"), Some(2.0));
    for fate in ["queued", "spam", "queue_full", "stopped", "invalid"] {
        assert_eq!(recorded(fate), Some(1.0), "{fate}");
    }
    assert_eq!(
        scrape.value("informer_events_writes_total", "verb=create result=done"),
        Some(1.0)
    );
    assert_eq!(
        scrape.value("informer_events_writes_total", "verb=patch result=rejected"),
        Some(1.0)
    );
    assert_eq!(
        scrape.value("informer_events_write_duration_seconds_count", "verb=create"),
        Some(2.0)
    );
    assert_eq!(scrape.value("informer_events_pending_writes", ""), Some(4.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// No priority's depth is ever negative, and with no worker at work they add up to what waits, also beyond 25 priorities.
    #[test]
    fn t58_depths_by_priority_add_up(ops in proptest::collection::vec((0_u8..3, 0_u8..40, -40_i32..40), 0..60)) {
        let registry = Registry::new();
        let config = Config::default().metrics(registry.queue("q"));
        let queue: Queue<u8, TokioClock> = Queue::with(config, TokioClock);
        let mut leases = Vec::new();
        let mut depths = Vec::new();
        for (what, item, priority) in ops {
            match what {
                0 if !queue.is_empty() => leases.push(informer_testkit::block_on(queue.take()).unwrap()),
                1 => drop(leases.pop()),
                _ => {
                    let mut how = AddOptions::default();
                    how.priority = priority;
                    queue.add(item, how);
                }
            }
            let scrape = Scrape::of(&registry);
            depths = scrape.find("workqueue_depth", "name=q").into_iter().map(|sample| sample.value).collect();
            prop_assert!(depths.iter().all(|depth| *depth >= 0.0), "{depths:?}");
            prop_assert!(depths.iter().sum::<f64>() >= queue.len() as f64);
        }
        if !leases.is_empty() {
            leases.clear();
            let scrape = Scrape::of(&registry);
            depths = scrape.find("workqueue_depth", "name=q").into_iter().map(|sample| sample.value).collect();
        }
        prop_assert_eq!(depths.iter().sum::<f64>(), queue.len() as f64);
    }

    /// Whatever a name holds, a scraper reads that name.
    #[test]
    fn names_come_through_as_they_are(name in "\\PC*|[\\\\\"\n{}=, a]{0,8}") {
        let registry = Registry::new();
        let queue = registry.queue(&name);
        queue.added();
        let id = InformerId::new(name.clone(), Resource::cluster("", "v1", "nodes", "Node"));
        let informer = registry.informer(&id);
        informer.backlog(&name, 1, 0);
        let scrape = Scrape::of(&registry);
        let adds = scrape.find("workqueue_adds_total", "");
        prop_assert_eq!(adds[0].labels["name"].as_str(), name.as_str());
        let backlogs = scrape.find("informer_handler_backlog", "");
        prop_assert_eq!(backlogs[0].labels["handler"].as_str(), name.as_str());
        prop_assert_eq!(backlogs[0].labels["name"].as_str(), name.as_str());
    }
}
