//! A kube client as transport, and our transport below a kube client.

use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use http::Request;
use informer_client::{Client, Selectors};
use informer_core::{Classify as _, FailureClass, TokioClock};
use informer_kube::{KubeClientExt as _, KubeTransport};
use informer_reflector::Start;
use informer_sharedinformer::{ReflectorOptions, SharedInformer};
use informer_testkit::{ApiError, FakeApi, FakeTransport, Fault, On, SharedApi, Verb};
use informer_transport::{Asked, Transport, TransportService};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::json;

use crate::support::{client, kube_client, maps, put, serve, soon, until};

/// How an informer starts, and the requests that it is known by.
async fn follows(options: ReflectorOptions, first: Verb) {
    let server = serve().await;
    put(&server, &["a", "b", "c"]);
    let source = client(&server).kube::<ConfigMap>().source(Selectors::all());
    let informer = SharedInformer::builder(source)
        .reflector_options(options)
        .index("app", |map: &ConfigMap, emit: &mut dyn FnMut(&str)| {
            map.labels().get("app").into_iter().for_each(|app| emit(app));
        })
        .build()
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.wait_synced(Duration::from_secs(60)).await.unwrap();
    assert_eq!(informer.store().len(), 3);
    put(&server, &["d"]);
    server
        .with(|api| api.delete(&maps(), Some("default"), "a"))
        .unwrap();
    let lister = informer.lister();
    let apps = |app| lister.by_index("app", app).unwrap().len();
    until("the new state", || apps("d") == 1 && apps("a") == 0).await;
    assert!(server.with(|api| api.request_log().of(first, "configmaps").count()) >= 1);
    // kube's middleware has seen them all.
    let agents = server.with(|api| {
        let log = api.request_log().iter();
        log.map(|it| it.headers.contains_key("host")).collect::<Vec<_>>()
    });
    assert!(!agents.is_empty() && agents.into_iter().all(|it| it));
    running.stop().await;
    server.shutdown().await;
}

#[tokio::test]
async fn an_informer_streams_its_list_through_a_kube_client() {
    let mut options = ReflectorOptions::default();
    options.start = Start::StreamingList;
    follows(options, Verb::StreamingList).await;
}

#[tokio::test]
async fn an_informer_lists_in_pages_through_a_kube_client() {
    let mut options = ReflectorOptions::default();
    options.start = Start::List;
    options.page_size = Some(2);
    follows(options, Verb::List).await;
}

#[tokio::test]
async fn watches_are_asked_for_without_compression() {
    let server = serve().await;
    let transport = KubeTransport::new(kube_client(&server));
    for path in [
        "/api/v1/configmaps",
        "/api/v1/configmaps?watch=true&timeoutSeconds=1",
    ] {
        let request = Request::get(path).body(Bytes::new()).unwrap();
        transport.send(request).await.unwrap();
    }
    let asked = server.with(|api| {
        let log = api.request_log().iter();
        log.map(|it| it.headers.get("accept-encoding").cloned())
            .collect::<Vec<_>>()
    });
    assert_eq!(asked.len(), 2);
    assert!(asked[0].is_none(), "{asked:?}");
    assert_eq!(asked[1].as_ref().unwrap(), "identity");
    server.shutdown().await;
}

#[tokio::test]
async fn failures_keep_their_class() {
    let server = serve().await;
    let client = client(&server);
    let missing = client
        .kube::<ConfigMap>()
        .in_namespace("default")
        .get("none")
        .await;
    assert_eq!(missing.unwrap_err().class(), FailureClass::NotFound);
    server.shutdown().await;
    let request = Request::get("/version").body(Bytes::new()).unwrap();
    let refused = client.send(request, Asked::Object).await.unwrap_err();
    assert_eq!(refused.class(), FailureClass::Refused, "{refused}");
}

/// The other way round: a kube client in memory, without a socket.
#[tokio::test]
async fn our_transport_serves_a_kube_client() {
    let shared = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    let service = TransportService::new(FakeTransport::new(shared.clone()));
    let client = kube::Client::new(service, "default");
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    let mut map = ConfigMap::default();
    map.metadata.name = Some("one".to_owned());
    api.create(&PostParams::default(), &map).await.unwrap();
    let listed = api.list(&ListParams::default()).await.unwrap();
    assert_eq!(
        listed.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(),
        ["one"]
    );
    let version = listed.metadata.resource_version.unwrap();
    let watch = api.watch(&WatchParams::default(), &version).await.unwrap();
    let mut watch = std::pin::pin!(watch);
    shared
        .with(|api| {
            api.put(
                &maps(),
                json!({"metadata": {"namespace": "default", "name": "two"}}),
            )
        })
        .unwrap();
    match soon("the event", watch.try_next()).await.unwrap() {
        Some(WatchEvent::Added(map)) => assert_eq!(map.name_any(), "two"),
        other => panic!("{other:?}"),
    }
    // The same transport is shared by our client.
    let ours = Client::new(FakeTransport::new(shared));
    let both = ours.kube::<ConfigMap>().list(&Selectors::all()).await.unwrap();
    assert_eq!(both.items.len(), 2);
}

/// What the server is too busy for is heard of at once, where a client of kube would try fifteen times first.
#[tokio::test]
async fn a_transport_of_a_configuration_retries_nothing() {
    let server = serve().await;
    let busy = ApiError::new(503, "ServiceUnavailable", "too busy");
    server.with(|api| {
        api.faults().once(On::any(), Fault::Status(busy));
    });
    let config = kube::Config::new(server.url().parse().unwrap());
    let transport = KubeTransport::from_config(config).unwrap();
    assert_eq!(transport.client().default_namespace(), "default");
    let request = Request::get("/version").body(Bytes::new()).unwrap();
    let answer = transport.send(request).await.unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(server.with(|api| api.request_log().len()), 1);
    server.shutdown().await;
}
