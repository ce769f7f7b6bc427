//! Streams of events.

use std::time::Duration;

use http::Request;
use informer_apiserver::{Options, Server};
use informer_testkit::{FakeApi, Fault, On};

use crate::client::{Events, configmaps, eventually, get, http2, named, pods, send};

const WATCH: &str = "/api/v1/configmaps?watch=true&resourceVersion=1";

#[tokio::test]
async fn each_event_leaves_at_once() {
    let server = Server::start(Default::default()).await.unwrap();
    let mut watch = Events::from(send(server.address(), get(WATCH)).await.unwrap());
    for name in ["a", "b", "c"] {
        server.with(|api| api.create(&configmaps(), named(name))).unwrap();
        let event = watch.next().await.unwrap().unwrap();
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["name"]),
            (&"ADDED".into(), &name.into())
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn many_watches_share_one_http2_connection() {
    let server = Server::start(Default::default()).await.unwrap();
    let mut sender = http2(server.address()).await;
    let mut watches = Vec::new();
    for _ in 0..50 {
        let request = Request::get(format!("{}{WATCH}", server.url()))
            .body(Default::default())
            .unwrap();
        watches.push(Events::from(sender.send_request(request).await.unwrap()));
    }
    assert_eq!(server.with(|api| api.n_watches()), 50);
    server.with(|api| api.create(&configmaps(), named("a"))).unwrap();
    for watch in &mut watches {
        assert_eq!(watch.next().await.unwrap().unwrap()["type"], "ADDED");
    }
    drop(watches);
    eventually("the server forgets watches that nobody reads", || {
        server.with(|api| api.n_watches()) == 0
    })
    .await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_that_goes_is_forgotten() {
    let server = Server::start(Default::default()).await.unwrap();
    let watch = send(server.address(), get(WATCH)).await.unwrap();
    assert_eq!(server.with(|api| api.n_watches()), 1);
    drop(watch);
    eventually("the server forgets the watch", || {
        server.with(|api| api.n_exchanges()) == 0
    })
    .await;
    server.shutdown().await;
}

#[tokio::test]
async fn bookmarks_and_the_end_come_by_the_real_clock() {
    let mut options = informer_testkit::Options::default();
    options.bookmark_every = Duration::from_millis(20);
    let server = Server::start(FakeApi::with_builtins_and(options).into())
        .await
        .unwrap();
    let uri = format!("{WATCH}&allowWatchBookmarks=true&timeoutSeconds=3");
    let mut watch = Events::from(send(server.address(), get(&uri)).await.unwrap());
    for _ in 0..3 {
        assert_eq!(watch.next().await.unwrap().unwrap()["type"], "BOOKMARK");
    }
    let mut short = Events::from(
        send(server.address(), get(&format!("{WATCH}&timeoutSeconds=1")))
            .await
            .unwrap(),
    );
    assert!(short.next().await.is_none(), "a clean end");
    server.shutdown().await;
}

#[tokio::test]
async fn a_streaming_list_ends_its_state_with_the_mark() {
    let server = Server::start(Default::default()).await.unwrap();
    server.with(|api| api.create(&configmaps(), named("a"))).unwrap();
    let uri = "/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watch = Events::from(send(server.address(), get(uri)).await.unwrap());
    assert_eq!(watch.next().await.unwrap().unwrap()["type"], "ADDED");
    let mark = watch.next().await.unwrap().unwrap();
    assert_eq!(
        mark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
        "true"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_cut_watch_fails_and_an_ended_one_does_not() {
    let server = Server::start(Default::default()).await.unwrap();
    let open = || send(server.address(), get(WATCH));
    let mut cut = Events::from(open().await.unwrap());
    server.with(FakeApi::cut_connections);
    cut.next().await.unwrap().unwrap_err();
    let mut ended = Events::from(open().await.unwrap());
    server.with(FakeApi::end_watches);
    assert!(ended.next().await.is_none());
    server.with(|api| {
        api.faults().once(On::watch(), Fault::cut_after(1));
        api.create(&configmaps(), named("a")).unwrap();
    });
    let mut faulty = Events::from(open().await.unwrap());
    faulty.next().await.unwrap().unwrap();
    faulty.next().await.unwrap().unwrap_err();
    server.shutdown().await;
}

#[tokio::test]
async fn the_sample_workload_lives() {
    let server = Server::start(Options::default().workload(1)).await.unwrap();
    let (n_pods, version) = server.with(|api| (api.count(&pods()), api.revision()));
    assert!(n_pods > 200);
    let uri = format!("/api/v1/namespaces/default/pods?watch=1&resourceVersion={version}");
    let mut watch = Events::from(send(server.address(), get(&uri)).await.unwrap());
    for _ in 0..3 {
        let event = watch.next().await.unwrap().unwrap();
        assert_eq!(event["object"]["kind"], "Pod");
    }
    server.shutdown().await;
}
