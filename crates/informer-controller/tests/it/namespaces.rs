//! Several namespaces as one source, against the model of an API server.

use std::{convert::Infallible, time::Duration};

use informer_client::{Client, Selectors};
use informer_controller::{Action, Controller, Kind, Phase, provider_fn};
use informer_core::{ObjectKey, Resource, TokioClock};
use informer_sharedinformer::{Factory, Namespaces, Selection};
use informer_testkit::{ApiError, FakeApi, FakeTransport, Fault, On, ResourceDef, SharedApi};
use serde::Deserialize;
use serde_json::json;

use crate::support::{Log, secs, sleep};

#[derive(Debug, Deserialize)]
struct ConfigMap {}

fn maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

fn api(namespaces: &[&str]) -> SharedApi<TokioClock> {
    let mut api = FakeApi::with_builtins();
    let kind = Resource::cluster("", "v1", "namespaces", "Namespace");
    for name in namespaces {
        api.create(&kind, json!({"metadata": {"name": name}})).unwrap();
    }
    SharedApi::new(api, TokioClock)
}

fn put(api: &SharedApi<TokioClock>, namespace: &str, name: &str) {
    let object = json!({"metadata": {"namespace": namespace, "name": name}});
    api.with(|api| api.put(&maps(), object)).unwrap();
}

/// CM-03, CM-05: only the covered namespaces, which come and go while the controller runs; one that does not exist is empty, not an error.
#[tokio::test(start_paused = true)]
async fn cm_05_namespaces_come_and_go_under_a_controller() {
    let api = api(&["a", "b", "c"]);
    for (namespace, name) in [("a", "1"), ("b", "1"), ("c", "1")] {
        put(&api, namespace, name);
    }
    let client = Client::new(FakeTransport::new(api.clone()));
    let factory = Factory::new(move |selection: &Selection| {
        let all = client.objects::<ConfigMap>(maps());
        match &selection.namespace {
            Some(namespace) => all.in_namespace(namespace).source(Selectors::all()),
            None => all.source(Selectors::all()),
        }
    });
    let covered: Namespaces<ConfigMap> = factory
        .namespaces(&Selection::all(maps()), ["a", "ghost"])
        .unwrap();
    factory.start();
    let log = Log::new();
    let controller = Controller::builder("maps")
        .for_(&covered)
        .reads(&covered)
        .reconcile({
            let log = log.clone();
            move |key: ObjectKey, _| {
                log.push(key.to_string());
                async { Ok::<_, Infallible>(Action::Done) }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    assert_eq!(log.wait_for(1).await, ["a/1"]);
    assert_eq!(controller.status().phase, Phase::Running);
    assert!(covered.add("b").await.unwrap());
    assert_eq!(log.wait_for(2).await[1], "b/1");
    assert!(covered.remove("a"));
    assert_eq!(log.wait_for(3).await[2], "a/1", "its end is told");
    put(&api, "a", "2");
    put(&api, "b", "2");
    assert_eq!(log.wait_for(4).await[3], "b/2");
    sleep(secs(1)).await;
    assert_eq!(log.all().len(), 4);
    running.stop().await.unwrap();
    factory.shut_down().await;
}

/// CM-01 with a real list: 403 for a while, then granted. The start names kind and cause; an informer that is told later comes by itself.
#[tokio::test(start_paused = true)]
async fn cm_01_a_forbidden_list_is_named_and_works_once_it_is_granted() {
    let api = api(&[]);
    put(&api, "default", "1");
    api.with(|api| {
        let denied = Fault::Status(ApiError::forbidden(&maps(), "list", "nobody"));
        api.faults().chaos(1, 1.0, On::any(), vec![denied]);
    });
    let maps_api = Client::new(FakeTransport::new(api.clone())).objects::<ConfigMap>(maps());
    let informer = informer_sharedinformer::SharedInformer::builder(maps_api.source(Selectors::all()))
        .name("configmaps")
        .build()
        .unwrap();
    let informing = informer.spawn().unwrap();
    let build = |timeout: Duration| {
        let informer = informer.clone();
        let log = Log::new();
        let provider = provider_fn(&maps(), move || {
            let informer = informer.clone();
            async move { Ok::<_, Infallible>(informer) }
        });
        let controller = Controller::builder("maps")
            .for_(Kind::provided(provider))
            .sync_timeout(timeout)
            .reconcile({
                let log = log.clone();
                move |key: ObjectKey, _| {
                    log.push(key.to_string());
                    async { Ok::<_, Infallible>(Action::Done) }
                }
            })
            .build()
            .unwrap();
        (controller, log)
    };
    let (short, _) = build(secs(20));
    let error = short.run().await.unwrap_err().to_string();
    assert!(
        error.contains("not in sync") && error.contains("configmaps is forbidden"),
        "{error}"
    );

    let (long, log) = build(secs(600));
    let running = long.spawn().unwrap();
    sleep(secs(20)).await;
    assert!(log.all().is_empty());
    api.with(|api| api.faults().clear());
    assert_eq!(log.wait_for(1).await, ["default/1"]);
    running.stop().await.unwrap();
    informing.stop().await;
}

/// T50 with a plain informer: its list fails until the definition is installed, and the start gate waits for it.
#[tokio::test(start_paused = true)]
async fn t50_an_informer_whose_kind_is_installed_30_s_late_is_picked_up() {
    let kind = Resource::namespaced("example.com", "v1", "backups", "Backup");
    let api = api(&[]);
    let backups = Client::new(FakeTransport::new(api.clone())).objects::<ConfigMap>(kind.clone());
    let informer = informer_sharedinformer::SharedInformer::builder(backups.source(Selectors::all()))
        .name("backups")
        .build()
        .unwrap();
    let informing = informer.spawn().unwrap();
    let log = Log::new();
    let controller = Controller::builder("backups")
        .for_(&informer)
        .reconcile({
            let log = log.clone();
            move |key: ObjectKey, _| {
                log.push(key.to_string());
                async { Ok::<_, Infallible>(Action::Done) }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    sleep(secs(30)).await;
    assert_eq!(controller.status().phase, Phase::Syncing);
    let trouble = controller.status().sources[0].trouble.clone().unwrap();
    assert!(trouble.contains("404"), "{trouble}");
    let nightly = json!({"metadata": {"namespace": "default", "name": "nightly"}});
    api.with(|api| {
        api.register(ResourceDef::new(kind.clone()));
        api.create(&kind, nightly).unwrap();
    });
    assert_eq!(log.wait_for(1).await, ["default/nightly"]);
    running.stop().await.unwrap();
    informing.stop().await;
}
