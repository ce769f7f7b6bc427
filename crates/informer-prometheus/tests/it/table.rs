//! Every name, type, label set and bucket, against a table that was written from upstream's.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use informer_cache::{ReadOperation, WaitMetrics as _, WaitResult};
use informer_controller::{ReconcileMetrics as _, ReconcileMetricsProvider as _, ReconcileResult};
use informer_core::{FailureClass, Resource};
use informer_events::{Fate, Metrics as _, Verb, Written};
use informer_hyper::{Retry, RetryReason, TransportMetrics as _};
use informer_kubeconfig::{PluginCall, PluginMetrics as _};
use informer_leaderelection::Metrics as _;
use informer_prometheus::Registry;
use informer_reflector::Problem;
use informer_sharedinformer::{InformerId, MetricsProvider as _};
use informer_workqueue::Metrics as _;

use crate::scrape::Scrape;

/// Name, type, labels; `buckets of` says which of the lists below.
const TABLE: &str = "
    controller_runtime_active_workers                   gauge     controller
    controller_runtime_client_consistency_wait_duration_seconds histogram operation,result
    controller_runtime_max_concurrent_reconciles        gauge     controller
    controller_runtime_reconcile_errors_total           counter   controller
    controller_runtime_reconcile_panics_total           counter   controller
    controller_runtime_reconcile_time_seconds           histogram controller
    controller_runtime_reconcile_timeouts_total         counter   controller
    controller_runtime_reconcile_total                  counter   controller,result
    controller_runtime_terminal_reconcile_errors_total  counter   controller
    informer_events_pending_writes                      gauge     name
    informer_events_recorded_total                      counter   fate,name
    informer_events_write_duration_seconds              histogram name,verb
    informer_events_writes_total                        counter   name,result,verb
    informer_handler_backlog                            gauge     group,handler,name,part,resource,version
    informer_handler_duration_seconds                   histogram group,handler,name,part,resource,version
    informer_handler_merged_total                       counter   group,handler,name,part,resource,version
    informer_handler_panics_total                       counter   group,handler,name,part,resource,version
    informer_lag_seconds                                gauge     group,name,part,resource,version
    informer_metrics_refused_total                      counter   -
    informer_processing_latency_seconds                 histogram group,name,part,resource,version
    informer_queued_items                               gauge     group,name,part,resource,version
    informer_store_bytes                                gauge     group,name,part,resource,version
    informer_store_objects                              gauge     group,name,part,resource,version
    informer_store_refused_objects                      gauge     group,name,part,resource,version
    informer_store_resource_version                     gauge     group,name,part,resource,version
    informer_transport_connect_duration_seconds         histogram host,http
    informer_transport_connection_lifetime_seconds      histogram host,http
    informer_transport_connections                      gauge     host,http
    informer_transport_connections_failed_total         counter   host,reason
    informer_transport_connections_opened_total         counter   host,http
    informer_transport_connections_reused_total         counter   host,http
    informer_transport_connections_silent_total         counter   host,http
    informer_transport_open_streams                     gauge     host
    informer_transport_tls_handshake_duration_seconds   histogram host,result
    leader_election_master_status                       gauge     name
    leader_election_slowpath_total                      counter   name
    reflector_failures_total                            counter   group,name,part,reason,request,resource,version
    reflector_items_per_list                            histogram group,name,part,resource,version
    reflector_items_per_watch                           histogram group,name,part,resource,version
    reflector_last_resource_version                     gauge     group,name,part,resource,version
    reflector_list_duration_seconds                     histogram group,name,part,resource,version
    reflector_lists_total                               counter   group,name,part,resource,version
    reflector_relists_total                             counter   group,name,part,reason,request,resource,version
    reflector_short_watches_total                       counter   group,name,part,resource,version
    reflector_watch_duration_seconds                    histogram group,name,part,resource,version
    reflector_watches_total                             counter   group,name,part,resource,version
    rest_client_exec_plugin_call_total                  counter   call_status,code
    rest_client_exec_plugin_certificate_rotation_age    histogram -
    rest_client_exec_plugin_ttl_seconds                 gauge     -
    rest_client_rate_limiter_duration_seconds           histogram host,verb
    rest_client_request_duration_seconds                histogram host,verb
    rest_client_request_retries_total                   counter   code,host,verb
    rest_client_request_size_bytes                      histogram host,verb
    rest_client_requests_total                          counter   code,host,method
    rest_client_response_size_bytes                     histogram host,verb
    workqueue_adds_total                                counter   controller,name
    workqueue_delayed_items                             gauge     controller,name
    workqueue_depth                                     gauge     controller,name,priority
    workqueue_longest_running_processor_seconds         gauge     controller,name
    workqueue_queue_duration_seconds                    histogram controller,name
    workqueue_retries_total                             counter   controller,name
    workqueue_unfinished_work_seconds                   gauge     controller,name
    workqueue_work_duration_seconds                     histogram controller,name
";

/// Upstream: controller-runtime `pkg/internal/metrics` (`ExponentialBuckets(10e-9, 10, 12)`).
const QUEUE: &str = "1e-8 1e-7 1e-6 1e-5 1e-4 1e-3 1e-2 1e-1 1 10 100 1000";
/// Upstream: controller-runtime `ReconcileTime`.
const RECONCILE: &str = "0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 \
    1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 25 30 40 50 60";
/// Upstream: controller-runtime `consistencyClientWaitDuration`.
const CONSISTENCY: &str = "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2 4 6 8 10";
/// Upstream: component-base `clientgo/fifo`.
const PROCESSING: &str = "0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10";
/// Upstream: component-base `restclient`.
const REQUEST: &str = "0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60";
/// Upstream: component-base `restclient`.
const SIZE: &str = "64 256 512 1024 4096 16384 65536 262144 1048576 4194304 16777216";

/// Upstream: component-base `restclient`.
const ROTATION: &str = "600 1800 3600 14400 86400 604800 2592000 7776000 15552000 31104000 124416000";

pub(crate) fn pods() -> InformerId {
    InformerId::new("test", Resource::namespaced("", "v1", "pods", "Pod"))
}

/// What has to live for its series to be there.
struct Everything {
    registry: Registry,
    _kept: Vec<Box<dyn std::any::Any>>,
}

const SECOND: Duration = Duration::from_secs(1);

/// Calls each hook once at least.
async fn touch_everything() -> Everything {
    let registry = Registry::new();
    registry.waited(ReadOperation::Get, WaitResult::Success, SECOND);
    let queue = registry.queue("q");
    queue.opened(informer_workqueue::Probe::new(|| {
        Some(informer_workqueue::Queue::<u8, _>::new(informer_core::TokioClock).stats())
    }));
    queue.depth(1);
    queue.depth_at(0, 1);
    queue.added();
    queue.taken(SECOND);
    queue.finished(SECOND);
    queue.retried();
    let controller = registry.reconciles("c");
    controller.max_concurrent(1);
    controller.began();
    controller.reconciled(ReconcileResult::Success, SECOND);
    controller.ended();
    registry.leading("lease", true);
    registry.slow_path("lease");
    let informer = registry.informer(&pods());
    informer.queued(1);
    informer.processed(1, SECOND);
    informer.stored(1, &"7".into());
    informer.refused(0);
    informer.backlog("h", 1, 0);
    informer.called("h", SECOND, false);
    registry.store_bytes(&pods(), || 100);
    let reflector = registry.reflector(&pods()).unwrap();
    reflector.list_began();
    reflector.list_ended(SECOND, 1);
    reflector.watch_began();
    reflector.watch_ended(SECOND, 1);
    reflector.received(&"7".into());
    reflector.failed(Problem::Watch(FailureClass::Expired));
    reflector.list_began();
    let events = registry.events("e");
    events.recorded(Fate::Queued);
    events.written(Verb::Create, Written::Done, SECOND);
    events.waiting(0);
    let connections = registry.connections("h");
    let failed = informer_hyper::HyperTransport::builder("no URL")
        .build()
        .unwrap_err();
    connections.connection_opened(true, SECOND);
    connections.connection_reused(true);
    connections.connection_silent(true);
    connections.connection_closed(true, SECOND);
    connections.connection_failed(&failed, SECOND);
    connections.handshake(true, SECOND);
    let retry = Retry::new(1, 11, SECOND, RetryReason::Connection);
    connections.retrying(&http::Method::GET, &retry);
    connections.throttled(&http::Method::GET, SECOND);
    registry.called(PluginCall::Good);
    let api = informer_testkit::SharedApi::new(
        informer_testkit::FakeApi::with_builtins(),
        informer_core::TokioClock,
    );
    let transport = registry.transport(informer_testkit::FakeTransport::new(api), "fake:443");
    let client = informer_client::Client::new(transport);
    let listed = client
        .dynamic(pods().resource)
        .list(&informer_client::Selectors::all())
        .await;
    assert!(listed.unwrap().items.is_empty());
    Everything {
        registry,
        _kept: vec![
            Box::new(queue),
            Box::new(controller),
            Box::new(Arc::<dyn informer_sharedinformer::Metrics>::from(informer)),
            Box::new(reflector),
            Box::new(events),
        ],
    }
}

#[tokio::test(start_paused = true)]
async fn names_types_and_labels_are_those_of_the_table() {
    let everything = touch_everything().await;
    let scrape = Scrape::of(&everything.registry);
    let mut expected = BTreeMap::new();
    for line in TABLE.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<_> = line.split_whitespace().collect();
        let labels: BTreeSet<_> = words[2]
            .split(',')
            .filter(|label| *label != "-")
            .map(str::to_owned)
            .collect();
        expected.insert(words[0].to_owned(), (words[1].to_owned(), labels));
    }
    let mut found: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for (family, kind) in &scrape.types {
        found.insert(family.clone(), (kind.clone(), BTreeSet::new()));
        assert!(scrape.helps[family].ends_with('.'), "{family} has no sentence");
    }
    for sample in &scrape.samples {
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .filter_map(|suffix| sample.name.strip_suffix(suffix))
            .find(|family| scrape.types.contains_key(*family))
            .unwrap_or(&sample.name);
        let labels = sample.labels.keys().filter(|label| *label != "le").cloned();
        found.get_mut(family).unwrap().1.extend(labels);
    }
    assert_eq!(found, expected);
}

#[tokio::test(start_paused = true)]
async fn buckets_are_upstreams() {
    let everything = touch_everything().await;
    let scrape = Scrape::of(&everything.registry);
    for (family, bounds) in [
        ("workqueue_queue_duration_seconds", QUEUE),
        ("workqueue_work_duration_seconds", QUEUE),
        ("controller_runtime_reconcile_time_seconds", RECONCILE),
        (
            "controller_runtime_client_consistency_wait_duration_seconds",
            CONSISTENCY,
        ),
        ("informer_processing_latency_seconds", PROCESSING),
        ("rest_client_request_duration_seconds", REQUEST),
        ("rest_client_rate_limiter_duration_seconds", REQUEST),
        ("rest_client_request_size_bytes", SIZE),
        ("rest_client_response_size_bytes", SIZE),
        ("rest_client_exec_plugin_certificate_rotation_age", ROTATION),
    ] {
        let numbers = |text: &str| {
            text.split_whitespace()
                .map(|bound| bound.parse::<f64>().unwrap())
                .collect::<Vec<_>>()
        };
        let buckets = scrape.buckets(family, "");
        let found: Vec<f64> = buckets.iter().map(|(bound, _)| bound.parse().unwrap()).collect();
        let wanted = numbers(bounds);
        assert_eq!(found.len(), wanted.len(), "{family}: {found:?}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!(
                (found / wanted - 1.0).abs() < 1e-9,
                "{family}: {found} is not {wanted}"
            );
        }
    }
}

/// What is there from the start, so that an alert on a rate sees the first error.
#[test]
fn controllers_and_queues_begin_at_zero() {
    let registry = Registry::new();
    let _controller = registry.controller("c");
    let _queue = registry.queue("q");
    registry.leading("lease", false);
    let scrape = Scrape::of(&registry);
    for result in ["success", "error", "requeue", "requeue_after"] {
        let labels = format!("controller=c result={result}");
        assert_eq!(
            scrape.value("controller_runtime_reconcile_total", &labels),
            Some(0.0)
        );
    }
    for name in [
        "reconcile_errors_total",
        "reconcile_panics_total",
        "active_workers",
        "max_concurrent_reconciles",
    ] {
        assert_eq!(
            scrape.value(&format!("controller_runtime_{name}"), "controller=c"),
            Some(0.0),
            "{name}"
        );
    }
    assert_eq!(
        scrape.value("workqueue_depth", "name=q controller=q priority=0"),
        Some(0.0)
    );
    assert_eq!(scrape.value("workqueue_adds_total", "name=q"), Some(0.0));
    assert_eq!(
        scrape.value("leader_election_master_status", "name=lease"),
        Some(0.0)
    );
    assert_eq!(
        scrape.value("leader_election_slowpath_total", "name=lease"),
        Some(0.0)
    );
    // Of what is not there, nothing is said.
    assert!(scrape.find("informer_queued_items", "").is_empty());
}
