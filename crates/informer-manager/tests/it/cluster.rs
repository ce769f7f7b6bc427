//! Clusters: a cache and a client each, several in a manager.

use std::convert::Infallible;

use informer_client::{Kinds, LiveClient, ReadClientExt, WriteClientExt, WriteOptions};
use informer_controller::{Action, Controller};
use informer_core::{ObjectKey, Resource, TokioClock};
use informer_manager::{Cluster, Group, Manager};
use informer_testkit::{FakeApi, FakeTransport, ResourceDef, SharedApi};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::json;

use crate::support::{Log, secs, settle, sleep};

type Api = SharedApi<TokioClock>;

fn config_maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

/// A cluster that holds one config map, and its server.
fn cluster(name: &'static str) -> (Api, Cluster) {
    let api = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    api.with(|api| {
        let object = json!({"metadata": {"namespace": "default", "name": format!("map{name}")}});
        api.create(&config_maps(), object).unwrap();
    });
    let live = LiveClient::new(FakeTransport::new(api.clone()), Kinds::kubernetes());
    (api, Cluster::new(name, live))
}

fn controller(name: &str, cluster: &Cluster, log: &Log) -> Controller<ObjectKey> {
    let log = log.clone();
    Controller::builder(name)
        .for_(cluster.kind::<ConfigMap>().unwrap())
        .reconcile(move |key: ObjectKey, _| {
            log.say(key.to_string());
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()
        .unwrap()
}

fn ready(running: &informer_manager::Running) -> (u16, String) {
    let reply = running.handle().readyz().answer("verbose");
    (reply.status, String::from_utf8(reply.body).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_cached_before_controllers_start() {
    let (_api, main) = cluster("");
    let log = Log::default();
    let running = Manager::builder()
        .cluster(&main)
        .controller(&controller("maps", &main, &log))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    assert!(main.cache().has_synced());
    sleep(secs(1)).await;
    assert_eq!(log.take(), ["default/map"]);

    // Reads from the cache, writes at the server.
    let mut map = ConfigMap::default();
    map.metadata.namespace = Some("default".into());
    map.metadata.name = Some("new".into());
    main.client()
        .create(&map, &WriteOptions::default())
        .await
        .unwrap();
    sleep(secs(1)).await;
    assert_eq!(log.take(), ["default/new"]);
    let key = "default/new".parse().unwrap();
    assert_eq!(
        main.client().get::<ConfigMap>(&key).await.unwrap().metadata.name,
        map.metadata.name
    );
    assert_eq!(
        ready(&running),
        (
            200,
            "[+]controller/maps ok\n[+]informer/configmaps ok\n[+]manager ok\nhealthz check passed\n".into()
        )
    );
    assert!(running.stop().await.unwrap().is_clean());
}

#[tokio::test(start_paused = true)]
async fn clusters_come_and_go_while_the_manager_runs() {
    let (_one, near) = cluster("near");
    let (_two, far) = cluster("far");
    let log = Log::default();
    let running = Manager::builder()
        .cluster(&near)
        .controller(&controller("near maps", &near, &log))
        .build()
        .unwrap()
        .spawn();
    let handle = running.handle().clone();
    handle.elected().await;
    handle.add_cluster(&far).unwrap();
    handle.add(controller("far maps", &far, &log)).unwrap();
    sleep(secs(1)).await;
    let mut told = log.take();
    told.sort();
    assert_eq!(told, ["default/mapfar", "default/mapnear"]);
    let text = "[+]controller/far maps ok\n[+]controller/near maps ok\n[+]informer/far/configmaps ok\n[+]informer/near/configmaps ok\n[+]manager ok\nhealthz check passed\n";
    assert_eq!(ready(&running), (200, text.into()));

    assert!(handle.remove("far maps").await);
    assert!(handle.remove_cluster("far").await);
    assert!(!handle.remove_cluster("far").await);
    let text =
        "[+]controller/near maps ok\n[+]informer/near/configmaps ok\n[+]manager ok\nhealthz check passed\n";
    assert_eq!(ready(&running), (200, text.into()));
    assert_eq!(
        handle.names(),
        [
            ("cluster/near".into(), Group::Caches),
            ("near maps".into(), Group::LeaderElection)
        ]
    );
    assert!(running.stop().await.unwrap().is_clean());
}

/// Default settings, and a kind whose definition is installed after four minutes: nobody ends, and it is picked up.
#[tokio::test(start_paused = true)]
async fn t50_a_controller_waits_for_a_kind_that_is_absent_and_stops_no_other() {
    let (api, main) = cluster("");
    let secrets = Resource::namespaced("", "v1", "secrets", "Secret");
    api.with(|api| api.unregister(&secrets));
    let (log, late) = (Log::default(), Log::default());
    let waiting = {
        let late = late.clone();
        Controller::builder("late")
            .for_(main.kind::<Secret>().unwrap())
            .reconcile(move |key: ObjectKey, _| {
                late.say(key.to_string());
                async { Ok::<_, Infallible>(Action::Done) }
            })
            .build()
            .unwrap()
    };
    let running = Manager::builder()
        .cluster(&main)
        .controller(&controller("maps", &main, &log))
        .controller(&waiting)
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    sleep(secs(240)).await;
    assert_eq!(log.take(), ["default/map"]);
    assert!(waiting.status().overdue && !running.is_finished());
    let reply = running.handle().readyz().answer_one("controller/late");
    let why = String::from_utf8(reply.body).unwrap();
    assert!(
        reply.status == 500
            && why.contains("not in sync: secrets (")
            && why.contains("could not find the requested resource"),
        "{why}"
    );

    api.with(|api| {
        api.register(ResourceDef::new(secrets.clone()));
        let object = json!({"metadata": {"namespace": "default", "name": "token"}});
        api.create(&secrets, object).unwrap();
    });
    sleep(secs(60)).await;
    assert_eq!(late.take(), ["default/token"]);
    assert!(!waiting.status().overdue);
    assert_eq!(ready(&running).0, 200);
    assert!(running.stop().await.unwrap().is_clean());
}

/// While the manager stops, what is being reconciled still reads from the cache; the cache ends after it, and the report is clean.
#[tokio::test(start_paused = true)]
async fn cm_04_a_reconcile_that_runs_reads_the_cache_while_the_manager_stops() {
    let (_api, main) = cluster("");
    let log = Log::default();
    let controller = {
        let (log, client) = (log.clone(), main.client().clone());
        Controller::builder("maps")
            .for_(main.kind::<ConfigMap>().unwrap())
            .reconcile(move |key: ObjectKey, _| {
                let (log, client) = (log.clone(), client.clone());
                async move {
                    for _ in 0..3 {
                        sleep(secs(2)).await;
                        let read = client.find::<ConfigMap>(&key).await.map(|map| map.is_some());
                        log.say(format!("{read:?}"));
                    }
                    Ok::<_, Infallible>(Action::Done)
                }
            })
            .build()
            .unwrap()
    };
    let running = Manager::builder()
        .cluster(&main)
        .controller(&controller)
        .build()
        .unwrap()
        .spawn();
    let handle = running.handle().clone();
    handle.elected().await;
    sleep(secs(1)).await;
    assert_eq!(controller.reconciling().len(), 1);
    let report = running.stop().await.unwrap();
    assert_eq!(log.take(), ["Ok(true)"; 3]);
    assert!(report.is_clean(), "{report}");
    // Then it is shut down.
    let key = "default/map".parse().unwrap();
    assert!(main.client().find::<ConfigMap>(&key).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn t06_a_kind_that_is_not_served_is_named_and_stops_no_other() {
    let (api, main) = cluster("");
    api.with(|api| api.unregister(&Resource::namespaced("", "v1", "secrets", "Secret")));
    let log = Log::default();
    main.cache().kind::<Secret>().unwrap();
    let running = Manager::builder()
        .cluster(&main)
        .controller(&controller("maps", &main, &log))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    sleep(secs(1)).await;
    assert_eq!(log.take(), ["default/map"]);
    let text = "[+]controller/maps ok\n[+]informer/configmaps ok\n[-]informer/secrets failed: reason withheld\n[+]manager ok\nhealthz check failed\n";
    assert_eq!(ready(&running), (500, text.into()));
    settle().await;
    assert!(running.stop().await.unwrap().is_clean());
}
