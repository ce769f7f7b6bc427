//! The server's tables: what `kubectl get` shows of pods, deployments and a custom resource, in lists and in informers of rows.

use std::{collections::BTreeMap, ops::ControlFlow};

use apiserver_tests::{ControlPlane, wait};
use informer_client::{
    DeleteOptions, PartialMetadata, Patch, Selectors, TableColumn, TableRow, WriteOptions,
};
use informer_core::{ObjectKey, Resource};
use informer_reflector::{Options, Start};
use informer_sharedinformer::SharedInformer;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::support::{LIMIT, TestClient, admin, namespace, reflector, shared};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

fn deployments() -> Resource {
    Resource::namespaced("apps", "v1", "deployments", "Deployment")
}

fn gadgets() -> Resource {
    Resource::namespaced("tables.example.com", "v1", "gadgets", "Gadget")
}

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}})
}

fn deployment() -> Value {
    json!({"metadata": {"name": "d"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}},
    }})
}

/// Installs a kind with columns of its own, and waits until it is served.
async fn install(client: &TestClient) {
    let definition = json!({"metadata": {"name": "gadgets.tables.example.com"}, "spec": {
        "group": "tables.example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                {"name": "Ready", "type": "string", "jsonPath": r#".status.conditions[?(@.type=="Ready")].status"#},
                {"name": "Note", "type": "string", "priority": 1, "jsonPath": ".spec.note"},
                {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
            ],
        }],
    }});
    let definitions = Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    );
    let definitions = client.dynamic(definitions);
    definitions
        .create(&definition, &WriteOptions::default())
        .await
        .unwrap();
    wait::until("gadgets are served", LIMIT, async || {
        client
            .metadata(gadgets())
            .list(&Selectors::all())
            .await
            .ok()
            .map(drop)
    })
    .await;
}

async fn create(client: &TestClient, resource: Resource, namespace: &str, object: &Value) {
    let api = client.metadata(resource).in_namespace(namespace);
    api.create(object, &WriteOptions::default()).await.unwrap();
}

/// The table at a path, by the plainest client.
fn told(plane: &ControlPlane, path: &str) -> Value {
    let http = plane.http().clone().accepting(TABLE);
    block_in_place(|| http.get(path)).unwrap().json().unwrap()
}

fn column(column: &TableColumn) -> Value {
    json!({
        "name": column.name, "type": column.kind, "format": column.format,
        "description": column.description, "priority": column.priority,
    })
}

/// Cells but those that are another by the next second.
fn lasting<'a>(columns: &[Value], cells: impl IntoIterator<Item = &'a Value>) -> Vec<Value> {
    let cells = columns.iter().zip(cells);
    let lasting = cells.filter(|(column, _)| column["name"] != "Age");
    lasting.map(|(_, cell)| cell.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_and_columns_are_those_that_the_server_has_for_people() {
    let plane = shared().await;
    let namespace = namespace(plane, "tables");
    let client = admin(plane);
    install(&client).await;
    let gadget = json!({
        "metadata": {"name": "g"}, "spec": {"size": 3, "note": "x"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    });
    create(&client, pods(), &namespace, &pod("p")).await;
    create(&client, deployments(), &namespace, &deployment()).await;
    create(&client, gadgets(), &namespace, &gadget).await;

    let mut shown = BTreeMap::new();
    for (resource, base) in [
        (pods(), "/api/v1"),
        (deployments(), "/apis/apps/v1"),
        (gadgets(), "/apis/tables.example.com/v1"),
    ] {
        let told = told(
            plane,
            &format!("{base}/namespaces/{namespace}/{}", resource.plural),
        );
        let columns = told["columnDefinitions"].as_array().unwrap();

        let tables = client
            .metadata(resource.clone())
            .in_namespace(&namespace)
            .tables();
        let list = tables.list(&Selectors::all()).await.unwrap();
        let name = &list.rows[0].object.object.metadata.name;
        let whole = client.dynamic(resource.clone()).in_namespace(&namespace).tables();
        let one = whole.get(name).await.unwrap();
        assert!(
            one.rows[0].object.object.get("/spec").is_some(),
            "whole objects come where they are asked for"
        );
        let cells = whole.cells(&Selectors::all()).await.unwrap();

        for found in [&list.columns, &one.columns, &cells.columns] {
            assert_eq!(&found.iter().map(column).collect::<Vec<_>>(), columns);
        }
        let wanted = told["rows"][0]["cells"].as_array().unwrap();
        let wanted = lasting(columns, wanted);
        for found in [
            &list.rows[0].object.cells,
            &one.rows[0].object.cells,
            &cells.rows[0].object.cells,
        ] {
            assert_eq!(lasting(columns, found.iter()), wanted);
        }
        let always = list.columns.iter().filter(|column| !column.is_wide());
        let titles: Vec<String> = always.map(|column| column.name.to_uppercase()).collect();
        shown.insert(resource.kind.to_string(), titles.join(" "));
    }
    // As a person knows them.
    assert_eq!(shown["Pod"], "NAME READY STATUS RESTARTS AGE");
    assert_eq!(shown["Deployment"], "NAME READY UP-TO-DATE AVAILABLE AGE");
    assert_eq!(shown["Gadget"], "NAME SIZE READY AGE");
}

type Rows = SharedInformer<ObjectKey, TableRow<PartialMetadata>>;

/// Name and the cells of some columns.
fn shown(informer: &Rows, columns: &[&str]) -> Vec<String> {
    let mut rows = Vec::new();
    informer.store().snapshot().scan(None, &mut |entry| {
        let row = &entry.object;
        let cells = columns.iter().map(|column| {
            let cell = row.cell(column).expect("there is such a column");
            TableRow::<()>::cell_text(cell).into_owned()
        });
        let cells: Vec<String> = cells.collect();
        rows.push(format!("{} {}", entry.key.name(), cells.join(" ")));
        ControlFlow::Continue(())
    });
    rows
}

async fn becomes(informer: &Rows, columns: &[&str], wanted: &[&str]) {
    wait::until(&format!("the rows are {wanted:?}"), LIMIT, async || {
        (shown(informer, columns) == wanted).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_informer_of_rows_follows_what_people_would_see() {
    let plane = shared().await;
    let client = admin(plane);
    for start in [Start::List, Start::StreamingList] {
        let namespace = namespace(plane, "rows");
        create(&client, pods(), &namespace, &pod("a")).await;
        let source = client.metadata(pods()).in_namespace(&namespace).tables();
        let source = source.source(Selectors::all());
        let mut options = Options::default();
        options.start = start;
        let informer = SharedInformer::builder(source.clone())
            .reflector_options(options)
            .build()
            .unwrap();
        let running = informer.spawn().unwrap();
        let columns = ["Ready", "Status", "Node"];
        becomes(&informer, &columns, &["a 0/1 Pending n1"]).await;

        create(&client, pods(), &namespace, &pod("b")).await;
        let is_running = json!({"status": {"phase": "Running", "containerStatuses": [{
            "name": "c", "image": "i", "imageID": "", "ready": true, "restartCount": 0, "state": {"running": {}},
        }]}});
        let api = client.metadata(pods()).in_namespace(&namespace);
        api.patch_status("a", &Patch::Merge(is_running), &WriteOptions::default())
            .await
            .unwrap();
        becomes(&informer, &columns, &["a 1/1 Running n1", "b 0/1 Pending n1"]).await;

        let mut now = DeleteOptions::default();
        now.grace_period_seconds = Some(0);
        api.delete("b", &now).await.unwrap();
        becomes(&informer, &columns, &["a 1/1 Running n1"]).await;
        assert_eq!(&*source.columns()[0].name, "Name");
        let status = reflector(&informer);
        assert_eq!((status.relists, status.skipped), (0, 0), "{status:?}");
        running.stop().await;
    }
}
