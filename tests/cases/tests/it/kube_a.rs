//! kube-rs cases A7 and A12: what a watch is refused with, and one bad object among good ones. The others of part A: the reflector's own cases.

use std::time::Duration;

use case_tests::{Mode, PATH, World, config_map, event, list};
use informer_client::Client;
use informer_core::{
    BoxListerWatcher, Classify as _, FailureClass, ListerWatcher as _, Resource, ResourceVersion,
    WatchRequest,
};
use informer_sharedinformer::QueueKind;
use informer_testkit::{Answer, Expect, ScriptedTransport};
use informer_transport::Selectors;
use k8s_openapi::api::batch::v1::Job;
use serde_json::{Value, json};

/// A Status as a person would read it: over many lines.
fn pretty(code: u16, reason: &str) -> Answer {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code, "reason": reason,
        "message": format!("no: {reason}"), "details": {"retryAfterSeconds": 7},
    });
    let text = serde_json::to_string_pretty(&status).unwrap();
    assert!(text.lines().count() > 5);
    text.split_inclusive('\n')
        .map(str::to_owned)
        .fold(Answer::status(code), Answer::chunk)
}

fn refusals() -> [(Answer, FailureClass, &'static str); 3] {
    let plain = Answer::status(404).chunk("404 page not found\n");
    [
        (pretty(403, "Forbidden"), FailureClass::Forbidden, "403"),
        (pretty(429, "TooManyRequests"), FailureClass::Throttled, "429"),
        (plain, FailureClass::NotFound, "404"),
    ]
}

#[tokio::test]
async fn a7_a_refused_watch_is_one_error_of_its_class() {
    for (answer, class, _) in refusals() {
        let transport = ScriptedTransport::new();
        transport.on(Expect::watch(PATH), answer);
        let resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        let source = Client::new(transport)
            .dynamic(resource)
            .in_namespace("ns")
            .source(Selectors::all());
        let mut request = WatchRequest::default();
        request.version = Some(ResourceVersion::new("5"));
        let Err(error) = source.watch(request).await else {
            panic!("{class:?}: it was not refused");
        };
        assert_eq!(error.class(), class);
        if class == FailureClass::Throttled {
            assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a7_the_body_of_a_refusal_is_not_read_as_events() {
    for (answer, class, code) in refusals() {
        let transport = ScriptedTransport::new();
        let whole = list(&[config_map("a", "1")], "5");
        transport.always(Expect::list(PATH), Answer::json(&whole));
        transport.on(Expect::watch(PATH), answer);
        transport.always(
            Expect::watch(PATH),
            Answer::lines([event("ADDED", &config_map("b", "6"))]).then_hang(),
        );
        let world = World::start_with(&transport, Mode::List, case_tests::Options::default());
        world.until_told(2).await;
        world.pass(Duration::from_secs(60)).await;
        let troubles = world.troubles();
        assert_eq!(troubles.len(), 1, "{class:?}: {troubles:?}");
        assert!(
            troubles[0].contains(code) || troubles[0].contains("no: "),
            "{class:?}: {troubles:?}"
        );
        assert_eq!(world.log(), ["add ns/a@1 initial", "add ns/b@6"]);
        world.stop().await;
    }
}

const JOBS: &str = "/apis/batch/v1/jobs";

fn job(name: &str, version: &str, containers: &Value) -> Value {
    json!({"kind": "Job", "apiVersion": "batch/v1",
        "metadata": {"name": name, "namespace": "ns", "resourceVersion": version, "uid": format!("uid-of-{name}")},
        "spec": {"template": {"spec": {"containers": containers}}}})
}

#[tokio::test(start_paused = true)]
async fn a12_one_bad_object_is_named_and_the_rest_flows() {
    let (good, bad) = (json!([{"name": "c"}]), json!("none"));
    let transport = ScriptedTransport::new();
    let items = [job("a", "1", &good), job("b", "2", &bad), job("c", "3", &good)];
    let whole = json!({"kind": "JobList", "apiVersion": "batch/v1", "metadata": {"resourceVersion": "5"}, "items": items});
    transport.on(Expect::list(JOBS), Answer::json(&whole));
    let lines = [
        event("MODIFIED", &job("c", "6", &bad)),
        event("ADDED", &job("d", "7", &good)),
    ];
    transport.on(Expect::watch(JOBS), Answer::lines(lines).then_hang());
    let source = Client::new(transport).typed::<Job>().source(Selectors::all());
    let world = World::over(BoxListerWatcher::new(source), Mode::List, QueueKind::InOrder);
    world.until_told(3).await;
    assert!(world.informer.has_synced());
    assert_eq!(world.stored(), ["ns/a@1", "ns/c@3", "ns/d@7"]);
    let stale: Vec<String> = world
        .informer
        .store()
        .list()
        .iter()
        .filter(|entry| entry.stale)
        .map(|entry| entry.key.to_string())
        .collect();
    assert_eq!(stale, ["ns/c"], "the last good state is kept, and marked");
    let troubles = world.troubles();
    assert_eq!(troubles.len(), 2, "{troubles:?}");
    assert!(
        troubles[0].contains("ns/b") || troubles[0].contains('b'),
        "{troubles:?}"
    );
    world.stop().await;
}
