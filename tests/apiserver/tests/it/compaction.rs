//! etcd is compacted while a watch is down, so that its resume meets 410.

use std::sync::{Arc, Mutex};

use apiserver_tests::{Login, Relay, wait};
use informer_client::{DeleteOptions, Patch, Selectors, WriteOptions};
use informer_core::{Change, FailureClass, ObjectKey};
use informer_hyper::HttpVersion;
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, SharedInformer};
use serde_json::json;
use tokio::task::block_in_place;

use crate::overheard::Overheard;
use crate::support::{
    ConfigMap, LIMIT, Ledger, Told, admin, config_map, config_maps, connect, converged, fill, namespace, own,
    reflector, server_contents,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_meets_410_and_unseen_deletes_are_told_as_final_state_unknown() {
    // Without its cache in between, kube-apiserver has no more history than etcd.
    let plane = own(&["--watch-cache-sizes=configmaps#0"]).await;
    let namespace = namespace(&plane, "compaction");
    let writer = admin(&plane);
    fill(&writer, &namespace, 10, 10).await;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let before = server_contents(&plane, &path);

    let relay = Relay::start(plane.address()).await.unwrap();
    let client = connect(&plane, Login::Token, HttpVersion::Http2, Some(relay.address()));
    let source = client
        .objects::<ConfigMap>(config_maps())
        .in_namespace(&namespace)
        .source(Selectors::all());
    let (source, failures) = Overheard::new(source);
    let informer = SharedInformer::builder(source)
        .reflector_options(by_list())
        .build()
        .unwrap();
    let (ledger, last_values) = (Ledger::default(), Arc::new(Mutex::new(Vec::new())));
    {
        let (ledger, last_values) = (ledger.clone(), last_values.clone());
        let handler = move |change: &Change<ObjectKey, ConfigMap>| {
            ledger.tell(change);
            if let Change::Removed { last, .. } = change {
                last_values
                    .lock()
                    .unwrap()
                    .push(last.object.data["value"].clone());
            }
        };
        informer.add_handler(handler, HandlerOptions::default()).unwrap();
    }
    let running = informer.spawn().unwrap();
    informer.wait_synced(LIMIT).await.unwrap();
    let api = writer.metadata(config_maps()).in_namespace(&namespace);
    let options = WriteOptions::default();
    let value = |value: &str| Patch::Merge(json!({"data": {"value": value}}));

    // The watch works, and has seen these states.
    for name in ["object-00001", "object-00002", "object-00003"] {
        api.patch(name, &value(&format!("last of {name}")), &options)
            .await
            .unwrap();
    }
    converged(&informer, &[&ledger], &server_contents(&plane, &path)).await;
    let (held, n_told) = (ledger.held(), ledger.n_told());
    assert_eq!(reflector(&informer).relists, 0);

    relay.refuse().await;
    for name in ["object-00001", "object-00002", "object-00003"] {
        api.delete(name, &DeleteOptions::default()).await.unwrap();
    }
    // Gone and come back as another.
    api.delete("object-00004", &DeleteOptions::default())
        .await
        .unwrap();
    api.create(&config_map("object-00004", "again"), &options)
        .await
        .unwrap();
    api.patch("object-00005", &value("unseen"), &options)
        .await
        .unwrap();
    api.create(&config_map("later", "unseen"), &options)
        .await
        .unwrap();
    let revision = block_in_place(|| plane.etcd().compact()).unwrap();
    assert!(reflector(&informer).version.as_str().parse::<i64>().unwrap() < revision);
    relay.accept().await.unwrap();

    let expected = server_contents(&plane, &path);
    converged(&informer, &[&ledger], &expected).await;
    // The resume met 410, and that alone made it list again.
    let expired: Vec<_> = failures
        .lock()
        .unwrap()
        .iter()
        .filter(|(class, _)| *class == FailureClass::Expired)
        .copied()
        .collect();
    assert_eq!(expired, [(FailureClass::Expired, Some(410))]);
    let status = reflector(&informer);
    assert_eq!(status.relists, 1);
    ledger.assert_sound();

    let mut told = ledger.told().split_off(n_told);
    told.sort_by_key(|told| format!("{told:?}"));
    let key = |name: &str| format!("{namespace}/{name}");
    let vanished = |name: &str| Told::Removed {
        key: key(name),
        state: held[&key(name)].clone(),
        observed: false,
    };
    let added = |name: &str| Told::Added {
        key: key(name),
        state: expected[&key(name)].clone(),
        initial: false,
    };
    let updated = |name: &str| Told::Updated {
        key: key(name),
        old: held[&key(name)].clone(),
        new: expected[&key(name)].clone(),
    };
    assert_eq!(
        told,
        [
            added("later"),
            added("object-00004"),
            vanished("object-00001"),
            vanished("object-00002"),
            vanished("object-00003"),
            vanished("object-00004"),
            updated("object-00005"),
        ]
    );
    // With the last state that was known of each.
    let mut values = last_values.lock().unwrap().clone();
    values.retain(|value| value.starts_with("last of"));
    values.sort();
    assert_eq!(
        values,
        [
            "last of object-00001",
            "last of object-00002",
            "last of object-00003"
        ]
    );
    assert_eq!(before.len(), 10);

    // And the new watch works.
    api.delete("later", &DeleteOptions::default()).await.unwrap();
    wait::until("the deletion is seen", LIMIT, async || {
        matches!(ledger.told().last(), Some(Told::Removed { observed: true, .. })).then_some(())
    })
    .await;
    running.stop().await;
}

fn by_list() -> ReflectorOptions {
    let mut options = ReflectorOptions::default();
    options.start = informer_reflector::Start::List;
    options
}
