//! kube-runtime on the embedded server: its watcher, its reflector, its controller, streaming and in pages.

use std::{collections::BTreeSet, convert::Infallible, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _};
use informer_testkit::Verb;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    runtime::{
        Controller, WatchStreamExt as _,
        controller::Action,
        reflector,
        watcher::{self, Event, watcher},
    },
};
use tokio::sync::mpsc;

use crate::support::{Gadget, define_gadgets, kube_client, maps, put, serve, soon};

fn word(event: Event<ConfigMap>) -> String {
    match event {
        Event::Init => "init".to_owned(),
        Event::InitDone => "done".to_owned(),
        Event::InitApply(map) => format!("init {}", map.name_any()),
        Event::Apply(map) => format!("apply {}", map.name_any()),
        Event::Delete(map) => format!("delete {}", map.name_any()),
    }
}

async fn watches(config: watcher::Config, verb: Verb, n_requests: usize) {
    let server = serve().await;
    put(&server, &["a", "b", "c"]);
    let api: Api<ConfigMap> = Api::all(kube_client(&server));
    let mut events = std::pin::pin!(watcher(api, config));
    let mut next = async || word(soon("the event", events.try_next()).await.unwrap().unwrap());
    for wanted in ["init", "init a", "init b", "init c", "done"] {
        assert_eq!(next().await, wanted);
    }
    assert_eq!(
        server.with(|api| api.request_log().of(verb, "configmaps").count()),
        n_requests
    );
    put(&server, &["d"]);
    assert_eq!(next().await, "apply d");
    server
        .with(|api| api.delete(&maps(), Some("default"), "a"))
        .unwrap();
    assert_eq!(next().await, "delete a");
    server.shutdown().await;
}

#[tokio::test]
async fn its_watcher_lists_in_pages() {
    watches(watcher::Config::default().page_size(2), Verb::List, 2).await;
}

#[tokio::test]
async fn its_watcher_streams_the_list() {
    watches(
        watcher::Config::default().streaming_lists(),
        Verb::StreamingList,
        1,
    )
    .await;
}

#[tokio::test]
async fn its_reflector_fills_a_store() {
    for config in [
        watcher::Config::default().page_size(2),
        watcher::Config::default().streaming_lists(),
    ] {
        let server = serve().await;
        put(&server, &["a", "b", "c"]);
        let (store, writer) = reflector::store();
        let api: Api<ConfigMap> = Api::all(kube_client(&server));
        let mut applied = std::pin::pin!(
            watcher(api, config)
                .default_backoff()
                .reflect(writer)
                .applied_objects()
        );
        for _ in 0..3 {
            soon("the object", applied.try_next()).await.unwrap().unwrap();
        }
        put(&server, &["d"]);
        soon("the object", applied.try_next()).await.unwrap().unwrap();
        assert_eq!(store.len(), 4);
        server.shutdown().await;
    }
}

#[tokio::test]
async fn its_controller_reconciles() {
    for config in [
        watcher::Config::default().page_size(2),
        watcher::Config::default().streaming_lists(),
    ] {
        let server = serve().await;
        define_gadgets(&server, &[1, 2, 3]).await;
        let (told, mut heard) = mpsc::unbounded_channel();
        let client = kube_client(&server);
        let controller = Controller::new(Api::<Gadget>::all(client.clone()), config.clone())
            .owns(Api::<ConfigMap>::all(client), config)
            .run(
                move |gadget: Arc<Gadget>, _| {
                    let _ = told.send(gadget.name_any());
                    async { Ok::<_, Infallible>(Action::await_change()) }
                },
                |_, error, _| match *error {},
                Arc::new(()),
            );
        let running = controller.for_each(|_| std::future::ready(()));
        let test = async {
            let mut names = BTreeSet::new();
            while names.len() < 3 {
                names.extend(soon("the reconcile", heard.recv()).await);
            }
            assert!(
                names.iter().map(String::as_str).eq(["g1", "g2", "g3"]),
                "{names:?}"
            );
            // Something it owns changes.
            let gadget = server.with(|api| api.get(&crate::support::gadgets(), Some("default"), "g2"));
            let uid = gadget.unwrap()["metadata"]["uid"].clone();
            let owner = serde_json::json!({
                "apiVersion": "example.org/v1", "kind": "Gadget", "name": "g2", "uid": uid, "controller": true,
            });
            let owned = serde_json::json!({
                "metadata": {"namespace": "default", "name": "owned", "ownerReferences": [owner]},
            });
            server.with(|api| api.put(&maps(), owned)).unwrap();
            assert_eq!(soon("the reconcile", heard.recv()).await.as_deref(), Some("g2"));
        };
        tokio::select! {
            () = running => panic!("the controller ended"),
            () = test => {}
        }
        tokio::time::timeout(Duration::from_secs(60), server.shutdown())
            .await
            .unwrap();
    }
}
