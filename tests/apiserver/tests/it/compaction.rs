//! etcd is compacted while a watch is down, so that its resume meets 410.

use std::sync::{Arc, Mutex};

use apiserver_tests::{ControlPlane, Login, Relay, wait};
use informer_client::{DeleteOptions, Patch, Selectors, WriteOptions};
use informer_core::{Change, FailureClass, ObjectKey};
use informer_hyper::HttpVersion;
use informer_reflector::Start;
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, SharedInformer};
use serde_json::json;
use tokio::task::block_in_place;

use crate::ledger::{Ledger, Told};
use crate::overheard::Overheard;
use crate::support::{
    ConfigMap, Contents, LIMIT, TestClient, admin, config_map, config_maps, connect, converged, fill,
    namespace, own, reflector, server_contents,
};

/// Deleted while nobody watches.
const GONE: [&str; 3] = ["object-00001", "object-00002", "object-00003"];

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_meets_410_and_unseen_deletes_are_told_as_final_state_unknown() {
    // Without its cache in between, kube-apiserver has no more history than etcd.
    let plane = own(&["--watch-cache-sizes=configmaps#0"]).await;
    for start in [Start::List, Start::StreamingList] {
        resume_after_compaction(&plane, start).await;
    }
}

async fn resume_after_compaction(plane: &ControlPlane, start: Start) {
    let namespace = namespace(plane, "compaction");
    let writer = admin(plane);
    fill(&writer, &namespace, 10, 10).await;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");

    let relay = Relay::start(plane.address()).await.unwrap();
    let client = connect(plane, Login::Token, HttpVersion::Http2, Some(relay.address()));
    let api = client
        .objects::<ConfigMap>(config_maps())
        .in_namespace(&namespace);
    let (source, failures) = Overheard::new(api.source(Selectors::all()));
    let mut options = ReflectorOptions::default();
    options.start = start;
    let informer = SharedInformer::builder(source)
        .reflector_options(options)
        .build()
        .unwrap();
    let (ledger, last) = (Ledger::default(), LastValues::default());
    informer
        .add_handler(keep(&ledger, &last), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.wait_synced(LIMIT).await.unwrap();

    // The watch works, and has seen these states.
    for name in GONE {
        set(&writer, &namespace, name, &format!("last of {name}")).await;
    }
    converged(&informer, &[&ledger], &server_contents(plane, &path)).await;
    let (held, n_told) = (ledger.held(), ledger.n_told());
    assert_eq!(reflector(&informer).relists, 0);

    relay.refuse().await;
    change_unseen(&writer, &namespace).await;
    let revision = block_in_place(|| plane.etcd().compact()).unwrap();
    assert!(reflector(&informer).version.as_str().parse::<i64>().unwrap() < revision);
    relay.accept().await.unwrap();

    let expected = server_contents(plane, &path);
    converged(&informer, &[&ledger], &expected).await;
    // The resume met 410, and that alone made it list again.
    let expired = |failure: &&(FailureClass, _)| failure.0 == FailureClass::Expired;
    let expired: Vec<_> = failures.lock().unwrap().iter().filter(expired).copied().collect();
    assert_eq!(expired, [(FailureClass::Expired, Some(410))], "{start:?}");
    let status = reflector(&informer);
    assert_eq!(
        (status.relists, status.lists),
        (1, if start == Start::List { 2 } else { 0 }),
        "{start:?}"
    );
    ledger.assert_sound();
    let mut told = ledger.told().split_off(n_told);
    told.sort_by_key(|told| format!("{told:?}"));
    assert_eq!(told, by_relist(&namespace, &held, &expected), "{start:?}");
    // With the last state that was known of each.
    let mut values = last.lock().unwrap().clone();
    values.retain(|value| value.starts_with("last"));
    values.sort();
    assert_eq!(values, GONE.map(|name| format!("last of {name}")));

    // And the new watch works.
    let api = writer.metadata(config_maps()).in_namespace(&namespace);
    api.delete("later", &DeleteOptions::default()).await.unwrap();
    wait::until("the deletion is seen", LIMIT, async || {
        matches!(ledger.told().last(), Some(Told::Removed { observed: true, .. })).then_some(())
    })
    .await;
    running.stop().await;
}

/// The last values of what was removed.
type LastValues = Arc<Mutex<Vec<String>>>;

fn keep(ledger: &Ledger, last: &LastValues) -> impl FnMut(&Change<ObjectKey, ConfigMap>) + Send + 'static {
    let (ledger, values) = (ledger.clone(), last.clone());
    move |change| {
        ledger.tell(change);
        if let Change::Removed { last, .. } = change {
            values.lock().unwrap().push(last.object.data["value"].clone());
        }
    }
}

async fn set(client: &TestClient, namespace: &str, name: &str, value: &str) {
    let api = client.metadata(config_maps()).in_namespace(namespace);
    let patch = Patch::Merge(json!({"data": {"value": value}}));
    api.patch(name, &patch, &WriteOptions::default()).await.unwrap();
}

async fn change_unseen(client: &TestClient, namespace: &str) {
    let api = client.metadata(config_maps()).in_namespace(namespace);
    // The last one comes back as another object of the same name.
    for name in GONE.into_iter().chain(["object-00004"]) {
        api.delete(name, &DeleteOptions::default()).await.unwrap();
    }
    for name in ["object-00004", "later"] {
        api.create(&config_map(name, "unseen"), &WriteOptions::default())
            .await
            .unwrap();
    }
    set(client, namespace, "object-00005", "unseen").await;
}

/// What a relist tells of [`change_unseen`], sorted.
fn by_relist(namespace: &str, held: &Contents, now: &Contents) -> Vec<Told> {
    let key = |name: &str| format!("{namespace}/{name}");
    let added = |name: &str| Told::Added {
        key: key(name),
        state: now[&key(name)].clone(),
        initial: false,
    };
    let vanished = |name: &str| Told::Removed {
        key: key(name),
        state: held[&key(name)].clone(),
        observed: false,
    };
    let mut told = vec![added("later"), added("object-00004")];
    told.extend(GONE.into_iter().chain(["object-00004"]).map(vanished));
    let (old, new) = (
        held[&key("object-00005")].clone(),
        now[&key("object-00005")].clone(),
    );
    told.push(Told::Updated {
        key: key("object-00005"),
        old,
        new,
    });
    told
}
