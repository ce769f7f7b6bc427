//! WP-05: a bookmark that is hardly an object, for an informer of a type with required fields.

use case_tests::{Mode, World};
use informer_client::Client;
use informer_core::BoxListerWatcher;
use informer_sharedinformer::QueueKind;
use informer_testkit::{Answer, Expect, ScriptedTransport};
use informer_transport::Selectors;
use k8s_openapi::api::batch::v1::Job;
use serde_json::{Value, json};

const PATH: &str = "/apis/batch/v1/jobs";

fn bookmark(object: &Value) -> String {
    json!({"type": "BOOKMARK", "object": object}).to_string()
}

#[tokio::test(start_paused = true)]
async fn wp_05_bookmark_need_not_be_a_whole_object() {
    let bookmarks = [
        json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"resourceVersion": "6"}}),
        json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"resourceVersion": "7", "creationTimestamp": null},
            "spec": {"template": {"metadata": {}, "spec": {"containers": null}}}, "status": {}}),
        json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"resourceVersion": "8", "annotations": null}}),
    ];
    let job = json!({"kind": "Job", "apiVersion": "batch/v1",
        "metadata": {"name": "j", "namespace": "ns", "resourceVersion": "9", "uid": "u"},
        "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}});
    let mut lines: Vec<String> = bookmarks.iter().map(bookmark).collect();
    lines.push(json!({"type": "ADDED", "object": job}).to_string());

    let transport = ScriptedTransport::new();
    let list = json!({"kind": "JobList", "apiVersion": "batch/v1", "metadata": {"resourceVersion": "5"}, "items": []});
    transport.on(Expect::list(PATH), Answer::json(&list));
    transport.on(
        Expect::watch(PATH).with("resourceVersion", "5"),
        Answer::lines(lines).then_hang(),
    );

    let source = Client::new(transport).typed::<Job>().source(Selectors::all());
    let world = World::over(BoxListerWatcher::new(source), Mode::List, QueueKind::InOrder);
    world.until_told(1).await;
    assert_eq!(world.log(), ["add ns/j@9"]);
    assert_eq!(world.stored(), ["ns/j@9"], "no key of a bookmark");
    assert_eq!(world.troubles(), [""; 0]);
    world.stop().await;
}
