//! Events on a real server: what it keeps, what it takes and what it refuses.

use apiserver_tests::wait;
use informer_client::{DynamicObject, Selectors};
use informer_core::Resource;
use informer_events::{
    ApiSink, Broadcaster, COMBINED, Event, EventKind, EventSink as _, MicroTime, ObjectReference, Occurrence,
    Options, Recorder, Refusal,
};
use informer_hyper::HyperTransport;
use serde_json::Value;

use crate::support::{LIMIT, TestClient, admin, config_maps, namespace, shared};

fn about(namespace: &str, name: &str) -> ObjectReference {
    ObjectReference::new(&config_maps(), Some(namespace), name).uid("u1")
}

fn broadcaster(client: &TestClient) -> Broadcaster<ApiSink<HyperTransport>> {
    Broadcaster::new(ApiSink::new(client), Options::default())
}

/// Waits until that many writes have arrived.
async fn written(recorder: &Recorder, n_writes: u64) {
    wait::until(&format!("{n_writes} writes"), LIMIT, async || {
        (recorder.stats().written >= n_writes).then_some(())
    })
    .await;
}

async fn kept(client: &TestClient, namespace: &str, selector: &str) -> Vec<Event> {
    let events = client.objects::<Event>(Event::resource()).in_namespace(namespace);
    let listed = events.list(&Selectors::all().fields(selector)).await.unwrap();
    assert!(listed.unreadable.is_empty(), "{:?}", listed.unreadable);
    listed.items.into_iter().map(|item| item.object).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_series_is_created_patched_and_finished() {
    let plane = shared().await;
    let namespace = namespace(plane, "events");
    let client = admin(plane);
    let broadcaster = broadcaster(&client);
    let recorder = broadcaster.recorder_of("example.com/tester", "tester-1");
    let web = about(&namespace, "web");
    let record = || recorder.event(&web, None, EventKind::Warning, "Failed", "Testing", "it failed");
    let stop = async {
        for n_writes in [1, 2] {
            record();
            written(&recorder, n_writes).await;
        }
        for _ in 0..100 {
            record();
        }
    };
    let report = broadcaster.run(stop).await;
    assert_eq!((report.abandoned, report.stats.written), (0, 3));

    let events = kept(&client, &namespace, &web.event_selector()).await;
    assert_eq!(events.len(), 1, "{events:?}");
    let event = &events[0];
    assert_eq!((event.count(), event.kind), (102, EventKind::Warning));
    assert_eq!(
        (event.reason.as_str(), event.note.as_str()),
        ("Failed", "it failed")
    );
    assert_eq!(event.regarding, web);
    assert!(event.series.unwrap().last_observed_time > event.event_time);

    // As kubectl reads it.
    let core = Resource::namespaced("", "v1", "events", "Event");
    let listed = client
        .dynamic(core)
        .in_namespace(&namespace)
        .list(&Selectors::all())
        .await
        .unwrap();
    let object: &DynamicObject = &listed.items[0].object;
    assert_eq!(object.text("/involvedObject/name"), Some("web"));
    assert_eq!(object.text("/reportingComponent"), Some("example.com/tester"));
    assert_eq!(object.get("/series/count").and_then(Value::as_u64), Some(102));
}

/// What the recorder lets through at its limits, the server takes.
#[tokio::test(flavor = "multi_thread")]
async fn the_limits_are_the_servers() {
    let plane = shared().await;
    let namespace = namespace(plane, "events");
    let client = admin(plane);
    let broadcaster = broadcaster(&client);
    let word = "x".repeat(128);
    let recorder = broadcaster.recorder_of("example.com/tester", &word);
    let odd = about(&namespace, "Not.A:Name");
    let node =
        ObjectReference::new(&Resource::cluster("", "v1", "nodes", "Node"), None, "n1").uid(&*namespace);
    let long = Occurrence::new(&odd, EventKind::Normal, &*word, &*word, "ü".repeat(2000))
        .related(&node)
        .annotation("example.com/why", "test");
    recorder.record(long);
    recorder.event(&node, None, EventKind::Normal, "Seen", "Testing", "");
    for index in 0..12 {
        let other = about(&namespace, &format!("other-{index}"));
        recorder.event(&odd, Some(other), EventKind::Normal, "Met", "Testing", "met");
    }
    let report = broadcaster.run(async {}).await;
    assert_eq!((report.abandoned, report.stats.rejected), (0, 0));

    let events = kept(&client, &namespace, &odd.event_selector()).await;
    assert_eq!(events.len(), 11);
    let long = events.iter().find(|event| event.reason == word).unwrap();
    assert_eq!((long.note.len(), long.related.as_ref()), (1024, Some(&node)));
    assert_eq!(long.metadata.annotations["example.com/why"], "test");
    let combined = events
        .iter()
        .find(|event| event.note.starts_with(COMBINED))
        .unwrap();
    assert_eq!(combined.count(), 3);
    assert_eq!(kept(&client, "default", &node.event_selector()).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_gone_is_created_anew() {
    let plane = shared().await;
    let namespace = namespace(plane, "events");
    let client = admin(plane);
    let broadcaster = broadcaster(&client);
    let recorder = broadcaster.recorder("tester");
    let web = about(&namespace, "web");
    let record = || recorder.event(&web, None, EventKind::Normal, "Seen", "Testing", "seen");
    let stop = async {
        record();
        written(&recorder, 1).await;
        let events = client.metadata(Event::resource()).in_namespace(&namespace);
        events
            .delete_collection(&Selectors::all(), &Default::default())
            .await
            .unwrap();
        record();
        written(&recorder, 2).await;
    };
    let report = broadcaster.run(stop).await;
    assert_eq!((report.stats.retried, report.stats.rejected), (1, 0));
    let counts: Vec<_> = kept(&client, &namespace, "")
        .await
        .iter()
        .map(Event::count)
        .collect();
    assert_eq!(counts, [2]);
}

/// What the server will never take is given up at once, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_refuses_is_given_up() {
    let plane = shared().await;
    let client = admin(plane);
    let broadcaster = broadcaster(&client);
    let recorder = broadcaster.recorder("tester");
    let nowhere = about("no-such-namespace", "web");
    recorder.event(&nowhere, None, EventKind::Normal, "Seen", "Testing", "");
    let report = broadcaster.run(async {}).await;
    assert_eq!(
        (report.stats.rejected, report.stats.retried, report.abandoned),
        (1, 0, 0)
    );

    let sink = ApiSink::new(&client);
    let mut event = Event::default();
    event.metadata.name = "made-by-hand".to_owned();
    event.metadata.namespace = "default".to_owned();
    event.event_time = MicroTime::since_epoch(std::time::Duration::from_secs(1_700_000_000));
    assert_eq!(
        sink.create(&event).await.unwrap_err().refusal(),
        Refusal::Rejected
    );
    assert_eq!(sink.patch(&event).await.unwrap_err().refusal(), Refusal::Gone);
    event.reporting_controller = "tester".to_owned();
    event.reporting_instance = "tester-1".to_owned();
    event.reason = "Seen".to_owned();
    event.action = "Testing".to_owned();
    event.regarding = ObjectReference::new(&config_maps(), Some("default"), "web");
    sink.create(&event).await.unwrap();
    assert_eq!(sink.create(&event).await.unwrap_err().refusal(), Refusal::Exists);
}
