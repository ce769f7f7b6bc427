//! 1 100 ConfigMaps, listed in pages and by streaming list, in both HTTP versions, signed in by token and by client certificate.

use std::sync::{Arc, Mutex};

use apiserver_tests::Login;
use informer_client::{Patch, Query, Selectors, WriteOptions};
use informer_core::{Feed as _, ListerWatcher};
use informer_hyper::HttpVersion;
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, SharedInformer};
use serde_json::json;

use crate::ledger::{Ledger, Told};
use crate::support::{
    ConfigMap, Contents, LIMIT, TestClient, admin, config_maps, connect, contents, converged, fill,
    namespace, reflector, server_contents, shared, written,
};

const N: usize = 1_100;
/// More than can wait for a handler before changes merge.
const PAGES: [&str; 3] = ["limit", "limit continue", "limit continue"];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Start {
    Pages,
    Stream,
}

#[tokio::test(flavor = "multi_thread")]
async fn in_pages_and_by_streaming_list_in_both_http_versions_by_token_and_certificate() {
    let plane = shared().await;
    let namespace = namespace(plane, "lists");
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    fill(&admin(plane), &namespace, N, 100).await;
    let mut expected = server_contents(plane, &path);
    assert_eq!(expected.len(), N);

    let mut n_done = 0;
    for login in [Login::Token, Login::Certificate] {
        for version in [HttpVersion::Http1, HttpVersion::Http2] {
            let client = connect(plane, login, version, None);
            assert_eq!(spoken(&client).await, protocol(version), "{login:?}");
            for start in [Start::Pages, Start::Stream] {
                let context = format!("{login:?} {version:?} {start:?}");
                follow(&client, start, &namespace, &mut expected, &context).await;
                n_done += 1;
            }
        }
    }
    assert_eq!(n_done, 8);
    assert_eq!(server_contents(plane, &path), expected);
}

/// Lists all, then sees one change.
async fn follow(client: &TestClient, start: Start, namespace: &str, expected: &mut Contents, context: &str) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let source = {
        let asked = asked.clone();
        let api = client.objects::<ConfigMap>(config_maps()).in_namespace(namespace);
        api.source(Selectors::all())
            .tweak(move |query| asked.lock().unwrap().push(kind_of(query)))
    };
    let mut options = ReflectorOptions::default();
    options.start = match start {
        Start::Pages => informer_reflector::Start::List,
        Start::Stream => informer_reflector::Start::StreamingList,
    };
    let ledger = Ledger::default();
    let informer = SharedInformer::builder(source)
        .reflector_options(options)
        .build()
        .unwrap();
    let handler = informer
        .add_handler(ledger.clone(), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.wait_synced(LIMIT).await.expect(context);
    handler.synced().await.expect(context);

    assert_eq!(contents(&informer), *expected, "{context}");
    assert_eq!(ledger.held(), *expected, "{context}");
    let initial = |told: &Told| matches!(told, Told::Added { initial: true, .. });
    assert_eq!(
        ledger.told().iter().filter(|told| initial(told)).count(),
        N,
        "{context}"
    );
    assert_eq!(handler.n_merged(), 0, "{context}");
    let status = reflector(&informer);
    match start {
        Start::Pages => {
            assert_eq!(asked.lock().unwrap()[..3], PAGES, "{context}");
            assert_eq!(status.lists, 3, "{context}");
        }
        Start::Stream => {
            assert_eq!(*asked.lock().unwrap(), ["streaming list"], "{context}");
            assert_eq!((status.lists, status.watches), (0, 1), "{context}");
        }
    }

    let api = client.metadata(config_maps()).in_namespace(namespace);
    let patch = Patch::Merge(json!({"data": {"seen-by": context}}));
    let changed = api
        .patch("object-00500", &patch, &WriteOptions::default())
        .await
        .unwrap();
    expected.insert(format!("{namespace}/object-00500"), written(&changed));
    converged(&informer, &[&ledger], expected).await;
    let object = informer
        .lister()
        .get(&format!("{namespace}/object-00500").parse().unwrap());
    assert_eq!(object.unwrap().data["seen-by"], context);

    let status = reflector(&informer);
    assert_eq!(
        (status.watches, status.relists, status.events),
        (1, 0, 1),
        "{context}"
    );
    assert_eq!(status.skipped, 0, "{context}: {:?}", status.last_skipped);
    ledger.assert_sound();
    running.stop().await;
}

/// What a query asks for, in words.
fn kind_of(query: &Query) -> &'static str {
    let has = |name| query.get(name).is_some();
    match (
        has("watch"),
        has("sendInitialEvents"),
        has("limit"),
        has("continue"),
    ) {
        (true, true, ..) => "streaming list",
        (true, false, ..) => "watch",
        (false, _, true, true) => "limit continue",
        (false, _, true, false) => "limit",
        (false, _, false, _) => "all at once",
    }
}

/// The version of HTTP in which the server answers.
async fn spoken(client: &TestClient) -> http::Version {
    let request = http::Request::get("/version").body(bytes::Bytes::new()).unwrap();
    let response = client
        .send(request, informer_transport::Asked::Object)
        .await
        .unwrap();
    response.version()
}

fn protocol(version: HttpVersion) -> http::Version {
    match version {
        HttpVersion::Http1 => http::Version::HTTP_11,
        _ => http::Version::HTTP_2,
    }
}

/// Each form of object through the same layers: the same keys and states, each with what it holds.
#[tokio::test(flavor = "multi_thread")]
async fn typed_own_dynamic_and_metadata_only() {
    let plane = shared().await;
    let namespace = namespace(plane, "forms");
    let client = admin(plane);
    fill(&client, &namespace, 5, 100).await;
    let expected = server_contents(plane, &format!("/api/v1/namespaces/{namespace}/configmaps"));

    let typed = client.typed::<k8s_openapi::api::core::v1::ConfigMap>();
    cached(
        typed.in_namespace(&namespace).source(Selectors::all()),
        &expected,
        |object| {
            assert_eq!(object.data.as_ref().unwrap()["value"].len(), 100);
        },
    )
    .await;
    let own = client.objects::<ConfigMap>(config_maps());
    cached(
        own.in_namespace(&namespace).source(Selectors::all()),
        &expected,
        |object| {
            assert_eq!(object.data["value"].len(), 100);
        },
    )
    .await;
    let dynamic = client.dynamic(config_maps());
    cached(
        dynamic.in_namespace(&namespace).source(Selectors::all()),
        &expected,
        |object| {
            assert_eq!(object.text("/data/value").unwrap().len(), 100);
        },
    )
    .await;
    let metadata = client.metadata(config_maps());
    cached(
        metadata.in_namespace(&namespace).source(Selectors::all()),
        &expected,
        |object| {
            // Items of a list do not say what they are.
            let kind = object.kind.as_deref();
            assert!(
                kind.is_none_or(|kind| kind == "PartialObjectMetadata"),
                "{kind:?}"
            );
            assert!(object.metadata.name.starts_with("object-"));
        },
    )
    .await;
}

async fn cached<L>(source: L, expected: &Contents, look: impl Fn(&L::Object))
where
    L: ListerWatcher<List: 'static, Watch: 'static> + 'static,
{
    let informer = SharedInformer::builder(source).build().unwrap();
    let running = informer.spawn().unwrap();
    informer.wait_synced(LIMIT).await.unwrap();
    assert_eq!(contents(&informer), *expected);
    informer.lister().list().iter().for_each(|object| look(object));
    running.stop().await;
}

/// A page of a list whose connection is closed in its middle is an error, never a short list.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_cut_is_no_list() {
    let plane = shared().await;
    let namespace = namespace(plane, "cut");
    fill(&admin(plane), &namespace, 100, 1_000).await;
    let relay = apiserver_tests::Relay::start(plane.address()).await.unwrap();
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let client = connect(plane, Login::Token, version, Some(relay.address()));
        spoken(&client).await;
        let source = client
            .metadata(config_maps())
            .in_namespace(&namespace)
            .source(Selectors::all());
        relay.hold_after(10_000);
        let mut list = source.list(Default::default()).await.unwrap();
        apiserver_tests::wait::until("the answer is held", LIMIT, async || {
            (relay.n_held() == 1).then_some(())
        })
        .await;
        relay.cut().await;
        relay.release();
        let mut n_items = 0;
        let failed = loop {
            match list.next().await.expect("it does not end well") {
                Ok(informer_core::Listed::Item(_)) => n_items += 1,
                Ok(end) => panic!("{end:?} after {n_items} items"),
                Err(error) => break error,
            }
        };
        assert!(n_items < 100, "{version:?}");
        let class = informer_core::Classify::class(&failed);
        assert_eq!(
            class,
            informer_core::FailureClass::Transient,
            "{version:?}: {failed}"
        );
    }
}
