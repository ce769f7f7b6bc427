//! The transport without sockets: wakes, timers, drops.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::Request;
use http_body::Body as _;
use informer_core::Clock as _;
use informer_testkit::{ApiBody, FakeApi, FakeTransport, Fault, ManualClock, On, SharedApi, Tasks, block_on};
use informer_transport::Transport as _;
use serde_json::Value;

use crate::support::{configmaps, named, told};

type Seen = Arc<Mutex<Vec<Result<Value, io::ErrorKind>>>>;

fn get(uri: &str) -> Request<Bytes> {
    Request::get(uri).body(Bytes::new()).unwrap()
}

fn transport() -> (FakeTransport<ManualClock>, ManualClock) {
    let clock = ManualClock::new();
    (
        FakeTransport::new(SharedApi::new(FakeApi::with_builtins(), clock.clone())),
        clock,
    )
}

async fn chunk(body: &mut ApiBody<ManualClock>) -> Option<io::Result<Bytes>> {
    let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

/// A task that reads a watch to its end.
fn read(tasks: &mut Tasks, transport: &FakeTransport<ManualClock>, uri: &'static str) -> Seen {
    let seen = Seen::default();
    let (transport, log) = (transport.clone(), seen.clone());
    tasks.spawn(async move {
        let mut body = transport.send(get(uri)).await.unwrap().into_body();
        while let Some(chunk) = chunk(&mut body).await {
            let entry = match chunk {
                Ok(line) => Ok(serde_json::from_slice(&line).unwrap()),
                Err(error) => Err(error.kind()),
            };
            log.lock().unwrap().push(entry);
        }
    });
    seen
}

fn events(seen: &Seen) -> Vec<Value> {
    seen.lock()
        .unwrap()
        .iter()
        .filter_map(|it| it.clone().ok())
        .collect()
}

#[test]
fn a_write_wakes_whoever_watches() {
    let (transport, _clock) = transport();
    let mut tasks = Tasks::new();
    let readers: Vec<Seen> = (0..3)
        .map(|_| {
            read(
                &mut tasks,
                &transport,
                "/api/v1/configmaps?watch=1&resourceVersion=1",
            )
        })
        .collect();
    tasks.run_until_stalled();
    assert!(readers.iter().all(|seen| seen.lock().unwrap().is_empty()));
    transport
        .api()
        .with(|api| api.create(&configmaps(), named("a")))
        .unwrap();
    assert!(tasks.run_until_stalled() > 0);
    for seen in &readers {
        assert_eq!(told(&events(seen)).len(), 1);
    }
    assert_eq!(tasks.run_until_stalled(), 0, "nobody spins");
}

#[test]
fn bookmarks_and_the_end_come_by_the_clock() {
    let (transport, clock) = transport();
    let mut tasks = Tasks::new();
    let seen = read(
        &mut tasks,
        &transport,
        "/api/v1/configmaps?watch=1&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=100",
    );
    assert!(!tasks.run_until(&clock, Duration::from_secs(99), || false));
    assert_eq!((events(&seen).len(), tasks.len()), (2, 1));
    assert!(!tasks.run_until(&clock, Duration::from_secs(1), || false));
    assert!(tasks.is_empty(), "the watch has ended at 100 s");
    assert!(seen.lock().unwrap().iter().all(Result::is_ok));
    assert_eq!(
        transport.api().with(|api| (api.n_watches(), api.n_exchanges())),
        (0, 0)
    );
}

#[test]
fn whole_bodies_have_a_size() {
    let (transport, _clock) = transport();
    block_on(async {
        let response = transport.send(get("/api/v1/namespaces/default")).await.unwrap();
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        let size = body.size_hint().exact().unwrap();
        let bytes = chunk(&mut body).await.unwrap().unwrap();
        assert_eq!(bytes.len() as u64, size);
        assert!(chunk(&mut body).await.is_none());
    });
}

#[test]
fn failures_are_errors_of_input_and_output() {
    let (transport, clock) = transport();
    transport.api().with(|api| {
        api.faults()
            .once(On::any(), Fault::Refused)
            .once(On::any(), Fault::HangUp)
            .once(On::any(), Fault::Delay(Duration::from_secs(5)));
    });
    let refused = block_on(transport.send(get("/version"))).map(|_| ()).unwrap_err();
    assert!(FakeTransport::<ManualClock>::is_refused(&refused));
    let cut = block_on(transport.send(get("/version"))).map(|_| ()).unwrap_err();
    assert_eq!(cut.kind(), io::ErrorKind::ConnectionReset);
    let mut tasks = Tasks::new();
    tasks.spawn(async move {
        assert_eq!(transport.send(get("/version")).await.unwrap().status(), 200);
    });
    let start = clock.now();
    assert!(tasks.run_until(&clock, Duration::from_secs(60), || clock.now() > start));
    assert_eq!(clock.elapsed(), Duration::from_secs(5));
    tasks.run_until_stalled();
    assert!(tasks.is_empty());
}

#[test]
fn a_cut_reaches_an_idle_watch() {
    let (transport, _clock) = transport();
    let mut tasks = Tasks::new();
    let seen = read(
        &mut tasks,
        &transport,
        "/api/v1/configmaps?watch=1&resourceVersion=1",
    );
    tasks.run_until_stalled();
    transport.api().with(FakeApi::restart);
    tasks.run_until_stalled();
    assert!(tasks.is_empty());
    assert_eq!(
        seen.lock().unwrap().as_slice(),
        [Err(io::ErrorKind::ConnectionReset)]
    );
}

#[test]
fn dropping_a_request_or_a_body_closes_the_exchange() {
    let (transport, _clock) = transport();
    transport.api().with(|api| {
        api.faults().once(On::any(), Fault::Silence);
    });
    let mut tasks = Tasks::new();
    let silent = transport.clone();
    let waiting = tasks.spawn(async move {
        let _never = silent.send(get("/version")).await;
    });
    read(
        &mut tasks,
        &transport,
        "/api/v1/configmaps?watch=1&resourceVersion=1",
    );
    tasks.run_until_stalled();
    assert_eq!(transport.api().with(|api| api.n_exchanges()), 2);
    assert!(tasks.abort(waiting));
    assert_eq!(transport.api().with(|api| api.n_exchanges()), 1);
    drop(tasks);
    assert_eq!(
        transport.api().with(|api| (api.n_exchanges(), api.n_watches())),
        (0, 0)
    );
}
