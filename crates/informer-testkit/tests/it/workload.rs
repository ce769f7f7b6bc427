//! The sample workload lives.

use std::{collections::BTreeSet, time::Duration};

use informer_core::{Clock as _, Resource};
use informer_testkit::{
    FakeApi, ManualClock, WatchOptions,
    workload::{Workload, WorkloadOptions},
};
use serde_json::Value;

use crate::support::{name, pods};

/// Lets a workload live for a while, and brings all events of pods.
fn live(seed: u64, n_pods: usize, time: Duration) -> (FakeApi, Vec<Value>) {
    let clock = ManualClock::new();
    let mut api = FakeApi::with_builtins();
    api.tick(clock.now());
    let mut workload = Workload::new(
        WorkloadOptions::seeded(seed)
            .pods(n_pods)
            .pace(Duration::from_secs(30)),
    );
    workload.step(&mut api);
    let watch = api
        .watch(&pods(), &WatchOptions::from_version(api.revision()))
        .unwrap();
    let mut events = Vec::new();
    while clock.elapsed() < time {
        let wait = workload.step(&mut api);
        events.extend(api.drain_watch(watch));
        clock.advance(wait.max(Duration::from_millis(1)));
        api.tick(clock.now());
    }
    (api, events)
}

fn of(group: &str, plural: &str, kind: &str) -> Resource {
    Resource::namespaced(group, "v1", plural, kind)
}

#[test]
fn the_first_step_builds_a_cluster() {
    let mut api = FakeApi::with_builtins();
    Workload::new(WorkloadOptions::default()).step(&mut api);
    let all = api.all(&pods());
    assert!((270..=310).contains(&all.len()), "{}", all.len());
    for pod in &all {
        assert_eq!(pod["metadata"]["namespace"], "default");
        assert_eq!(pod["status"]["phase"], "Running");
        assert!(pod["spec"]["nodeName"].is_string() && pod["status"]["podIP"].is_string());
        assert!(
            pod["metadata"]["ownerReferences"][0]["uid"]
                .as_str()
                .is_some_and(|uid| uid.len() == 36)
        );
    }
    let ages: BTreeSet<&str> = all
        .iter()
        .filter_map(|pod| pod["metadata"]["creationTimestamp"].as_str())
        .collect();
    assert!(ages.len() > 100, "they did not all begin at once");
    assert_eq!(api.count(&Resource::cluster("", "v1", "nodes", "Node")), 12);
    assert_eq!(api.count(&of("example.com", "widgets", "Widget")), 12);
    assert!(api.count(&of("apps", "deployments", "Deployment")) >= 4);
    assert!(api.count(&of("", "configmaps", "ConfigMap")) >= 3);
}

#[test]
fn pods_start_run_restart_move_finish_and_are_replaced() {
    let (api, events) = live(7, 60, Duration::from_secs(300));
    let kinds = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    let (added, deleted) = (kinds("ADDED"), kinds("DELETED"));
    assert!(added > 20 && deleted > 20, "{added} added, {deleted} deleted");
    assert_eq!(added, deleted, "each that goes is replaced");

    let objects = || events.iter().map(|event| &event["object"]);
    let has =
        |what: &str, test: &dyn Fn(&Value) -> bool| assert!(objects().any(test), "no pod was ever {what}");
    let waiting = |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].clone();
    let ready = |pod: &Value| {
        let conditions = pod["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        conditions
            .iter()
            .any(|it| it["type"] == "Ready" && it["status"] == "True")
    };
    has("pending without a node", &|pod| {
        pod["spec"]["nodeName"].is_null() && pod["status"]["phase"] == "Pending"
    });
    has("being created", &|pod| waiting(pod) == "ContainerCreating");
    has("running and not ready", &|pod| {
        pod["status"]["phase"] == "Running" && !ready(pod)
    });
    has("ready", &ready);
    has("crashing", &|pod| waiting(pod) == "CrashLoopBackOff");
    has("restarted", &|pod| {
        pod["status"]["containerStatuses"][0]["restartCount"].as_u64() > Some(0)
    });
    has("completed", &|pod| pod["status"]["phase"] == "Succeeded");
    has("terminating", &|pod| {
        pod["metadata"]["deletionTimestamp"].is_string()
    });
    let same_name = events
        .iter()
        .filter(|event| event["type"] == "ADDED" && name(&event["object"]).starts_with("session-cache-"));
    assert!(
        same_name.count() > 0,
        "a pod of a stateful set comes back under its name"
    );
    assert!(api.count(&of("", "events", "Event")) > 20);
    assert!(api.count(&of("", "events", "Event")) <= 200);
}

#[test]
fn owners_count_their_ready_pods() {
    let (api, _) = live(3, 40, Duration::from_secs(120));
    for deployment in api.all(&of("apps", "deployments", "Deployment")) {
        let mine = |pod: &&Value| {
            pod["metadata"]["labels"]["app"] == deployment["metadata"]["name"]
                && pod["status"]["conditions"].as_array().is_some_and(|all| {
                    all.iter()
                        .any(|it| it["type"] == "Ready" && it["status"] == "True")
                })
        };
        let all = api.all(&pods());
        let n_ready = all.iter().filter(mine).count();
        assert_eq!(
            deployment["status"]["readyReplicas"],
            n_ready,
            "{}",
            name(&deployment)
        );
    }
}

#[test]
fn a_seed_is_a_history() {
    let minute = Duration::from_secs(60);
    let (_, first) = live(5, 20, minute);
    assert_eq!(first, live(5, 20, minute).1);
    assert_ne!(first, live(6, 20, minute).1);
}
