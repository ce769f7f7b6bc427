//! LP-03: degenerate list bodies.

use std::time::Duration;

use case_tests::{Mode, Options, PATH, World, failure};
use informer_testkit::{Answer, Expect, ScriptedTransport};
use serde_json::{Value, json};

async fn syncs(body: &Value, stored: &[&str]) {
    let transport = ScriptedTransport::new();
    transport.on(Expect::list(PATH), Answer::json(body));
    transport.on(
        Expect::watch(PATH).with("resourceVersion", "7"),
        Answer::status(200).then_hang(),
    );
    let world = World::start_with(&transport, Mode::List, Options::default());
    world.until("a watch", || transport.requests().len() == 2).await;
    world.until("synced", || world.informer.has_synced()).await;
    assert_eq!(world.stored(), stored, "{body}");
    assert!(transport.unexpected().is_empty(), "{:?}", transport.unexpected());
    assert_eq!(world.troubles(), [""; 0], "{body}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn lp_03_list_without_items_is_empty() {
    let kind = "ConfigMapList";
    syncs(&json!({"metadata": {"resourceVersion": "7"}, "items": null}), &[]).await;
    syncs(
        &json!({"kind": kind, "metadata": {"resourceVersion": "7"}, "items": null}),
        &[],
    )
    .await;
    syncs(&json!({"kind": kind, "metadata": {"resourceVersion": "7"}}), &[]).await;
}

#[tokio::test(start_paused = true)]
async fn lp_03_nulls_inside_an_item_are_absent() {
    let metadata = json!({"name": "a", "namespace": "ns", "resourceVersion": "3", "managedFields": null, "labels": null});
    syncs(
        &json!({"metadata": {"resourceVersion": "7"}, "items": [{"metadata": metadata}]}),
        &["ns/a@3"],
    )
    .await;
}

async fn fails(body: &Value, says: &str) {
    let transport = ScriptedTransport::new();
    transport.always(Expect::list(PATH), Answer::json(body));
    transport.always(Expect::watch(PATH), failure(405, "MethodNotAllowed"));
    let world = World::start_with(&transport, Mode::List, Options::default());
    world.pass(Duration::from_secs(60)).await;

    assert!(!world.informer.has_synced(), "{body}");
    let n_requests = transport.requests().len();
    assert!(
        (2..=20).contains(&n_requests),
        "{n_requests} requests in a minute: backed off, and not given up"
    );
    let error = world.informer.status().source.error.expect("it says why");
    assert!(error.contains(says), "{error}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn lp_03_list_without_a_version_is_an_error_that_says_so() {
    fails(&json!({"metadata": null, "items": []}), "version").await;
    fails(&json!({"metadata": {}, "items": []}), "version").await;
}

/// What neither names items nor calls itself a list is none: taken for an empty one it would delete everything.
#[tokio::test(start_paused = true)]
async fn lp_03_answer_that_is_no_list_is_an_error_that_says_so() {
    fails(
        &json!({"metadata": {"resourceVersion": "7"}}),
        "no kind where a list was asked for",
    )
    .await;
}
