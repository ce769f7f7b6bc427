//! A custom resource: installed, found by its name, followed as dynamic objects and as metadata only, and taken away again.

use apiserver_tests::wait;
use informer_client::{ApiResource, DeleteOptions, Discovery, DynamicObject, Patch, Selectors, WriteOptions};
use informer_core::{Resource, Scope};
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, SharedInformer};
use serde_json::{Value, json};

use crate::ledger::{Ledger, Told};
use crate::support::{
    LIMIT, TestClient, admin, contents, converged, namespace, reflector, server_contents, shared,
};

pub(crate) fn definition() -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
                        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                    },
                }},
            }],
        },
    })
}

fn widget(name: &str, size: u64) -> Value {
    json!({"metadata": {"name": name, "labels": {"made-by": "test"}}, "spec": {"size": size}})
}

/// Installs the kind, and waits until discovery has it by each of its names.
async fn install(client: &TestClient) -> ApiResource {
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let unknown = Discovery::fetch(client)
        .await
        .unwrap()
        .resolve("widgets.example.com")
        .unwrap_err();
    assert_eq!(unknown.name(), "widgets.example.com");
    client
        .dynamic(definitions)
        .create(&definition(), &WriteOptions::default())
        .await
        .unwrap();
    let found = wait::until("discovery has the new kind", LIMIT, async || {
        client.resolve("widgets.example.com").await.ok()
    })
    .await;
    let discovery = Discovery::fetch(client).await.unwrap();
    for name in [
        "widgets",
        "widget",
        "wd",
        "Widget",
        "widgets.v1.example.com",
        "wd.example.com",
    ] {
        assert_eq!(*discovery.resolve(name).unwrap(), found, "{name}");
    }
    for (name, is) in [
        ("po", "pods"),
        ("pods", "pods"),
        ("deployments.apps", "deployments.apps"),
        ("deploy", "deployments.apps"),
    ] {
        assert_eq!(discovery.resolve(name).unwrap().resource.to_string(), is);
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_custom_resource_is_found_and_followed_dynamically_and_by_its_metadata() {
    let plane = shared().await;
    let client = admin(plane);
    let found = install(&client).await;
    let resource = found.resource.clone();
    assert_eq!(
        resource,
        Resource::namespaced("example.com", "v1", "widgets", "Widget")
    );
    assert_eq!(resource.scope, Scope::Namespaced);
    assert!(found.has_verb("list") && found.has_verb("watch"));

    let namespace = namespace(plane, "widgets");
    let path = format!("/apis/example.com/v1/namespaces/{namespace}/widgets");
    let api = client.dynamic(resource.clone()).in_namespace(&namespace);
    let options = WriteOptions::default();
    for i in 0..5 {
        api.create(&widget(&format!("w-{i}"), i), &options).await.unwrap();
    }

    // One starts by LIST, whose body sends a custom resource's items before the metadata; the other by stream.
    let mut by_list = ReflectorOptions::default();
    by_list.start = informer_reflector::Start::List;
    by_list.page_size = Some(2);
    let dynamic = SharedInformer::builder(api.source(Selectors::all()))
        .reflector_options(by_list)
        .build()
        .unwrap();
    let metadata_source = client
        .metadata(resource.clone())
        .in_namespace(&namespace)
        .source(Selectors::all());
    let mut by_stream = ReflectorOptions::default();
    by_stream.start = informer_reflector::Start::StreamingList;
    let metadata = SharedInformer::builder(metadata_source)
        .reflector_options(by_stream)
        .build()
        .unwrap();
    let (of_dynamic, of_metadata) = (Ledger::default(), Ledger::default());
    dynamic
        .add_handler(of_dynamic.clone(), HandlerOptions::default())
        .unwrap();
    metadata
        .add_handler(of_metadata.clone(), HandlerOptions::default())
        .unwrap();
    let running = (dynamic.spawn().unwrap(), metadata.spawn().unwrap());
    dynamic.wait_synced(LIMIT).await.unwrap();
    metadata.wait_synced(LIMIT).await.unwrap();
    assert_eq!(reflector(&dynamic).lists, 3);
    assert_eq!(reflector(&metadata).lists, 0);
    let initial = server_contents(plane, &path);
    assert_eq!(initial.len(), 5);
    assert_eq!(
        (contents(&dynamic), contents(&metadata)),
        (initial.clone(), initial)
    );

    api.create(&widget("late", 7), &options).await.unwrap();
    api.patch("w-1", &Patch::Merge(json!({"spec": {"size": 100}})), &options)
        .await
        .unwrap();
    api.patch_status(
        "w-2",
        &Patch::Merge(json!({"status": {"phase": "Done"}})),
        &options,
    )
    .await
    .unwrap();
    api.delete("w-3", &DeleteOptions::default()).await.unwrap();
    let expected = server_contents(plane, &path);
    converged(&dynamic, &[&of_dynamic], &expected).await;
    converged(&metadata, &[&of_metadata], &expected).await;
    let key = |name: &str| format!("{namespace}/{name}").parse().unwrap();
    let object = |name: &str| dynamic.lister().get(&key(name)).unwrap();
    assert_eq!(object("late").get("/spec/size"), Some(&json!(7)));
    assert_eq!(object("w-1").get("/spec/size"), Some(&json!(100)));
    assert_eq!(object("w-2").text("/status/phase"), Some("Done"));
    assert_eq!(
        (object("w-4").kind(), object("w-4").api_version()),
        ("Widget", "example.com/v1")
    );
    let partial = metadata.lister().get(&key("w-1")).unwrap();
    assert_eq!(partial.metadata.labels["made-by"], "test");
    assert_eq!(partial.metadata.generation, Some(2));

    take_away(&client, [&of_dynamic, &of_metadata]).await;
    of_dynamic.assert_sound();
    of_metadata.assert_sound();
    assert!(dynamic.store().is_empty() && metadata.store().is_empty());
    running.0.stop().await;
    running.1.stop().await;
}

/// The server deletes the objects of a kind before the kind itself: each is told as a deletion.
async fn take_away(client: &TestClient, ledgers: [&Ledger; 2]) {
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let definitions = client.dynamic(definitions);
    let before = ledgers.map(Ledger::n_told);
    let _: Option<informer_core::Decoded<DynamicObject>> = definitions
        .delete("widgets.example.com", &DeleteOptions::default())
        .await
        .unwrap();
    for (ledger, before) in ledgers.into_iter().zip(before) {
        wait::until("all widgets are gone", LIMIT, async || {
            ledger.held().is_empty().then_some(())
        })
        .await;
        let told = ledger.told();
        assert_eq!(told.len(), before + 5);
        assert!(
            told[before..]
                .iter()
                .all(|told| matches!(told, Told::Removed { .. })),
            "{told:?}"
        );
    }
}
