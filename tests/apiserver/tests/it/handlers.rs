//! Every create, update and delete is seen by two handlers in order.

use std::collections::BTreeMap;

use informer_client::{DeleteOptions, Patch, Selectors, WriteOptions};
use informer_core::{Change, ObjectKey};
use informer_sharedinformer::{HandlerOptions, SharedInformer};
use serde_json::json;

use crate::ledger::{Ledger, Told};
use crate::support::{
    ConfigMap, LIMIT, Random, TestClient, admin, config_map, config_maps, converged, fill, namespace,
    reflector, server_contents, shared, written,
};

const N_WRITES: usize = 400;

/// What the writer did, as a handler must be told. The version of a deletion is not known to who asks for it.
#[derive(Debug, PartialEq)]
enum Done {
    Created(String, String),
    Updated(String, String, String),
    Deleted(String),
}

impl From<Told> for Done {
    fn from(told: Told) -> Self {
        match told {
            Told::Added {
                key,
                state,
                initial: false,
            } => Self::Created(key, state),
            Told::Updated { key, old, new } => Self::Updated(key, old, new),
            Told::Removed {
                key, observed: true, ..
            } => Self::Deleted(key),
            odd => panic!("{odd:?} among changes that were all watched"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_write_is_seen_by_an_async_and_a_blocking_handler_in_order() {
    let plane = shared().await;
    let namespace = namespace(plane, "handlers");
    let client = admin(plane);
    fill(&client, &namespace, 10, 10).await;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let before = server_contents(plane, &path);

    let source = client
        .objects::<ConfigMap>(config_maps())
        .in_namespace(&namespace)
        .source(Selectors::all());
    let informer = SharedInformer::builder(source).build().unwrap();
    let (waiting, blocking) = (Ledger::default(), Ledger::default());
    let handler = {
        let waiting = waiting.clone();
        move |change: Change<ObjectKey, ConfigMap>| {
            let waiting = waiting.clone();
            async move {
                tokio::task::yield_now().await;
                waiting.tell(&change);
            }
        }
    };
    let first = informer
        .add_async_handler(handler, HandlerOptions::named("waiting"))
        .unwrap();
    let second = informer
        .add_blocking_handler(blocking.clone(), HandlerOptions::named("blocking"))
        .unwrap();
    let running = informer.spawn().unwrap();
    first.synced().await.unwrap();
    second.synced().await.unwrap();
    converged(&informer, &[&waiting, &blocking], &before).await;

    let done = write_at_random(&client, &namespace, before.clone()).await;
    converged(&informer, &[&waiting, &blocking], &server_contents(plane, &path)).await;
    for ledger in [&waiting, &blocking] {
        ledger.assert_sound();
        let told = ledger.told();
        let (initial, changes) = told.split_at(before.len());
        assert!(
            initial
                .iter()
                .all(|told| matches!(told, Told::Added { initial: true, .. }))
        );
        let changes: Vec<Done> = changes.iter().cloned().map(Done::from).collect();
        assert_eq!(changes, done);
    }
    assert_eq!(reflector(&informer).relists, 0);
    assert_eq!((first.n_merged(), second.n_merged()), (0, 0));

    // One that comes late is told of everything that is there, and of nothing that is not.
    let late = Ledger::default();
    let registration = informer
        .add_handler(late.clone(), HandlerOptions::named("late"))
        .unwrap();
    tokio::time::timeout(LIMIT, registration.synced())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(late.held(), waiting.held());
    assert!(
        late.told()
            .iter()
            .all(|told| matches!(told, Told::Added { initial: true, .. }))
    );
    running.stop().await;
}

/// Creates, updates and deletes at random, one after the other, and returns what it did.
async fn write_at_random(
    client: &TestClient,
    namespace: &str,
    states: BTreeMap<String, String>,
) -> Vec<Done> {
    let api = client.metadata(config_maps()).in_namespace(namespace);
    let (mut random, mut states, mut done) = (Random(2), states, Vec::new());
    while done.len() < N_WRITES {
        let name = format!("object-{:05}", random.below(30));
        let key = format!("{namespace}/{name}");
        let Some(old) = states.get(&key).cloned() else {
            let object = config_map(&name, "new");
            let created = written(&api.create(&object, &WriteOptions::default()).await.unwrap());
            states.insert(key.clone(), created.clone());
            done.push(Done::Created(key, created));
            continue;
        };
        if random.below(4) == 0 {
            api.delete(&name, &DeleteOptions::default()).await.unwrap();
            states.remove(&key);
            done.push(Done::Deleted(key));
        } else {
            let patch = Patch::Merge(json!({"data": {"value": format!("{}", done.len())}}));
            let new = written(&api.patch(&name, &patch, &WriteOptions::default()).await.unwrap());
            states.insert(key.clone(), new.clone());
            done.push(Done::Updated(key, old, new));
        }
    }
    done
}
