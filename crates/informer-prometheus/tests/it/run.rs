//! The numbers after a scripted run of a queue, an informer with its client, and a controller, in virtual time.

use std::{convert::Infallible, time::Duration};

use informer_client::{Client, Selectors};
use informer_controller::{Action, Attempt, Controller, ForObject};
use informer_core::{Change, ObjectKey, Resource, TokioClock};
use informer_prometheus::Registry;
use informer_sharedinformer::{HandlerOptions, InformerId, SharedInformer};
use informer_testkit::{ApiError, FakeApi, FakeTransport, Fault, On, SharedApi};
use informer_workqueue::{AddOptions, Config, Outcome, Queue, WorkQueue as _};
use serde_json::json;

use crate::scrape::Scrape;

#[expect(clippy::disallowed_methods, reason = "the time is paused: nobody waits")]
async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[tokio::test(start_paused = true)]
async fn a_queue_is_measured() {
    let registry = Registry::new();
    let config = Config::default().metrics(registry.queue("keys"));
    let queue: Queue<&str, TokioClock> = Queue::with(config, TokioClock);
    for key in ["a", "b", "a"] {
        queue.add(key, AddOptions::default());
    }
    queue.add("c", AddOptions::after(secs(60)));
    pass(secs(2)).await;
    let lease = queue.take().await.unwrap();
    pass(secs(5)).await;

    let scrape = Scrape::of(&registry);
    let value = |name: &str| {
        scrape
            .value(&format!("workqueue_{name}"), "name=keys controller=keys")
            .unwrap()
    };
    assert_eq!(value("adds_total"), 2.0);
    assert_eq!(value("depth"), 1.0);
    assert_eq!(value("delayed_items"), 1.0);
    assert_eq!(value("retries_total"), 1.0);
    assert_eq!(value("queue_duration_seconds_count"), 1.0);
    assert_eq!(value("queue_duration_seconds_sum"), 2.0);
    assert_eq!(value("work_duration_seconds_count"), 0.0);
    assert_eq!(value("unfinished_work_seconds"), 5.0);
    assert_eq!(value("longest_running_processor_seconds"), 5.0);

    queue.done(lease, Outcome::Forget);
    let scrape = Scrape::of(&registry);
    assert_eq!(scrape.value("workqueue_work_duration_seconds_sum", ""), Some(5.0));
    assert_eq!(scrape.value("workqueue_unfinished_work_seconds", ""), Some(0.0));

    // Of a queue that is gone, nothing is left.
    drop(queue);
    let scrape = Scrape::of(&registry);
    assert!(
        scrape
            .samples
            .iter()
            .all(|sample| !sample.name.starts_with("workqueue")),
        "{:?}",
        scrape.samples
    );
}

fn named(name: &str) -> serde_json::Value {
    json!({"metadata": {"name": name, "namespace": "default"}})
}

#[tokio::test(start_paused = true)]
async fn an_informer_its_client_and_a_controller_are_measured() {
    let registry = Registry::new();
    let kind = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let mut model = FakeApi::with_builtins();
    for name in ["a", "b", "c"] {
        model.create(&kind, named(name)).unwrap();
    }
    model
        .faults()
        .once(On::any(), Fault::Status(ApiError::internal("by design")));
    let api = SharedApi::new(model, TokioClock);
    let transport = registry.transport(FakeTransport::new(api.clone()), "fake:443");
    let maps = Client::new(transport).dynamic(kind.clone());
    let id = InformerId::new("test", kind.clone());
    let informer = SharedInformer::builder(maps.source(Selectors::all()))
        .metrics(&registry.informers(), id.clone())
        .build()
        .unwrap();
    let slow = HandlerOptions::named("watcher");
    informer.add_handler(|_: &Change<ObjectKey, _>| {}, slow).unwrap();
    let lister = informer.lister();
    registry.store_bytes(&id, move || {
        lister
            .list()
            .iter()
            .map(|map| serde_json::to_vec(&**map).unwrap().len() as u64)
            .sum()
    });
    let controller = Controller::builder("maps")
        .watches(&informer, ForObject)
        .metrics_from(registry.clone())
        .reconcile(|key: ObjectKey, attempt: Attempt| async move {
            pass(Duration::from_millis(20)).await;
            assert!(key.name() != "c" || attempt.number > 1, "by design");
            Ok::<_, Infallible>(Action::Done)
        })
        .build()
        .unwrap();
    let running = informer.spawn().unwrap();
    let reconciling = controller.spawn().unwrap();
    pass(secs(60)).await;
    api.with(|api| api.create(&kind, named("d"))).unwrap();
    pass(secs(60)).await;

    let scrape = Scrape::of(&registry);
    let value = |name: &str, labels: &str| {
        scrape
            .value(name, labels)
            .unwrap_or_else(|| panic!("{name}: {scrape:?}"))
    };
    let of = "name=test group= version=v1 resource=configmaps";
    assert_eq!(value("informer_store_objects", of), 4.0);
    assert_eq!(value("informer_queued_items", of), 0.0);
    assert_eq!(value("informer_lag_seconds", of), 0.0);
    assert!(value("informer_store_bytes", of) > 400.0);
    assert!(value("informer_processing_latency_seconds_count", of) >= 2.0);
    assert_eq!(
        value("informer_store_resource_version", of),
        value("reflector_last_resource_version", of)
    );
    assert_eq!(value("informer_handler_backlog", "handler=watcher"), 0.0);
    assert_eq!(
        value("informer_handler_duration_seconds_count", "handler=watcher"),
        4.0
    );
    // The first was refused.
    assert_eq!(value("reflector_lists_total", of), 2.0);
    assert_eq!(value("reflector_watches_total", of), 1.0);
    assert_eq!(value("reflector_items_per_list_sum", of), 3.0);
    assert!(scrape.find("reflector_relists_total", "").is_empty());
    assert_eq!(value("reflector_failures_total", "reason=internal"), 1.0);
    assert_eq!(
        value("rest_client_requests_total", "code=500 method=GET host=fake:443"),
        1.0
    );
    assert!(value("rest_client_requests_total", "code=200 method=GET") >= 1.0);

    assert_eq!(
        value(
            "controller_runtime_reconcile_total",
            "controller=maps result=success"
        ),
        4.0
    );
    assert_eq!(
        value(
            "controller_runtime_reconcile_total",
            "controller=maps result=error"
        ),
        1.0
    );
    assert_eq!(
        value("controller_runtime_reconcile_panics_total", "controller=maps"),
        1.0
    );
    assert_eq!(
        value(
            "controller_runtime_reconcile_time_seconds_count",
            "controller=maps"
        ),
        5.0
    );
    assert_eq!(value("controller_runtime_active_workers", "controller=maps"), 0.0);
    assert_eq!(
        value("controller_runtime_max_concurrent_reconciles", "controller=maps"),
        1.0
    );
    assert_eq!(value("workqueue_adds_total", "controller=maps name=maps"), 5.0);
    assert_eq!(value("workqueue_retries_total", "name=maps"), 1.0);

    reconciling.stop().await.unwrap();
    drop(controller);
    running.stop().await;
    drop(informer);
    let left: Vec<_> = Scrape::of(&registry)
        .samples
        .into_iter()
        .filter(|sample| {
            !sample.name.starts_with("rest_client")
                && !sample.name.starts_with("informer_transport")
                && sample.name != "informer_metrics_refused_total"
        })
        .collect();
    assert_eq!(left, []);
}
