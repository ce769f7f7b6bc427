//! Events on the embedded API server, over HTTP.

use std::time::Duration;

use informer_apiserver::Server;
use informer_client::{Client, Selectors};
use informer_events::{
    ApiSink, Broadcaster, Event, EventKind, EventSink as _, ObjectReference, Options, Recorder, Refusal,
};
use informer_hyper::HyperTransport;
use informer_testkit::{ApiError, Fault, On};
use serde_json::{Value, json};

use crate::support::{Running, event, pods, secs};

fn client(server: &Server) -> Client<HyperTransport> {
    Client::new(HyperTransport::builder(server.url()).build().unwrap())
}

fn sink(server: &Server) -> ApiSink<HyperTransport> {
    ApiSink::new(&client(server))
}

/// Waits until that many writes have arrived.
async fn written(recorder: &Recorder, n_writes: u64) {
    tokio::time::timeout(secs(60), async {
        while recorder.stats().written < n_writes {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn events_are_kept_and_their_series_patched() {
    let server = Server::start(Default::default()).await.unwrap();
    server
        .with(|api| {
            api.create(
                &pods(),
                json!({"metadata": {"name": "web", "namespace": "default"}}),
            )
        })
        .unwrap();
    let web = client(&server)
        .dynamic(pods())
        .in_namespace("default")
        .get("web")
        .await
        .unwrap();
    let about = ObjectReference::decoded(&pods(), &web);
    let broadcaster = Broadcaster::new(sink(&server), Options::default());
    let recorder = broadcaster.recorder("example.com/web-controller");
    let record = || {
        recorder.event(
            &about,
            None,
            EventKind::Warning,
            "FailedMount",
            "Mounting",
            "no volume",
        )
    };
    let stop = async {
        record();
        written(&recorder, 1).await;
        record();
        written(&recorder, 2).await;
        for _ in 0..10 {
            record();
        }
    };
    let report = broadcaster.run(stop).await;
    assert_eq!(
        (report.abandoned, report.stats.written, report.stats.retried),
        (0, 3, 0)
    );

    let events = client(&server).objects::<Event>(Event::resource());
    let kept = events
        .in_namespace("default")
        .list(&Selectors::all().fields(about.event_selector()))
        .await
        .unwrap();
    assert_eq!(kept.items.len(), 1);
    let kept = &kept.items[0].object;
    assert_eq!((kept.count(), kept.kind), (12, EventKind::Warning));
    assert_eq!(kept.regarding, about);
    assert!(kept.series.unwrap().last_observed_time >= kept.event_time);

    // The same in the core group, as kubectl reads it.
    let core = informer_core::Resource::namespaced("", "v1", "events", "Event");
    let listed = client(&server)
        .dynamic(core)
        .list(&Selectors::all())
        .await
        .unwrap();
    let object = &listed.items[0].object;
    assert_eq!(object.text("/involvedObject/name"), Some("web"));
    assert_eq!(object.text("/message"), Some("no volume"));
    assert_eq!(object.get("/series/count").and_then(Value::as_u64), Some(12));
    server.shutdown().await;
}

#[tokio::test]
async fn a_deleted_event_is_created_anew_with_its_count() {
    let server = Server::start(Default::default()).await.unwrap();
    let running = Running::start(sink(&server), Options::default());
    let record = || {
        running
            .recorder
            .event(pod_in_default(), None, EventKind::Normal, "Seen", "Looking", "")
    };
    record();
    written(&running.recorder, 1).await;
    let events = client(&server)
        .objects::<Event>(Event::resource())
        .in_namespace("default");
    let first = events.list(&Selectors::all()).await.unwrap().items.remove(0);
    events
        .delete(&first.identity.name, &Default::default())
        .await
        .unwrap();
    record();
    written(&running.recorder, 2).await;
    running.stop().await;
    let kept = events.get(&first.identity.name).await.unwrap();
    assert_eq!(kept.object.count(), 2);
    server.shutdown().await;
}

fn pod_in_default() -> ObjectReference {
    ObjectReference::new(&pods(), Some("default"), "web")
}

#[tokio::test]
async fn answers_say_whether_to_try_again() {
    let server = Server::start(Default::default()).await.unwrap();
    let sink = sink(&server);
    let mut event = event("web", "Seen", "a note");
    event.metadata.namespace = "default".to_owned();
    event.regarding.namespace = "default".to_owned();
    assert_eq!(sink.patch(&event).await.unwrap_err().refusal(), Refusal::Gone);
    sink.create(&event).await.unwrap();
    assert_eq!(sink.create(&event).await.unwrap_err().refusal(), Refusal::Exists);

    let later = |retry_after| Refusal::Unavailable { retry_after };
    for (code, refusal) in [
        (400, Refusal::Rejected),
        (401, later(None)),
        (403, Refusal::Rejected),
        (404, Refusal::Gone),
        (422, Refusal::Rejected),
        (429, later(None)),
        (500, later(None)),
        (503, later(None)),
    ] {
        server.with(|api| {
            let fault = Fault::Status(ApiError::new(code, "Scripted", "as the test says"));
            api.faults().once(On::write().of("events"), fault);
        });
        let error = sink.create(&event).await.unwrap_err();
        assert_eq!(error.refusal(), refusal, "{code}: {error}");
    }
    server.shutdown().await;
    assert_eq!(sink.create(&event).await.unwrap_err().refusal(), later(None));
}

#[tokio::test]
async fn a_server_that_fails_for_a_while_gets_all() {
    let server = Server::start(Default::default()).await.unwrap();
    server.with(|api| {
        let fault = Fault::Status(ApiError::new(503, "ServiceUnavailable", "not yet"));
        api.faults().times(5, On::write().of("events"), fault);
    });
    let mut options = Options::default();
    options.retry_delay = Duration::from_millis(1);
    let running = Running::start(sink(&server), options);
    for index in 0..10 {
        let about = ObjectReference::new(&pods(), Some("default"), &format!("pod-{index}"));
        running
            .recorder
            .event(about, None, EventKind::Normal, "Seen", "Looking", "");
    }
    written(&running.recorder, 10).await;
    let report = running.stop().await;
    assert_eq!((report.stats.written, report.stats.retried), (10, 5));
    assert_eq!(server.with(|api| api.count(&Event::resource())), 10);
    server.shutdown().await;
}
