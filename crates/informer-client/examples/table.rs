//! A kind in the server's own columns, as `kubectl get` prints it: once, and as a watch of rows. The server is in memory.
//!
//! `cargo run -p informer-client --example table`

#![allow(clippy::print_stdout, reason = "an example tells what it does")]

use std::error::Error;

use informer_client::{Client, PartialMetadata, Selectors, TableRow};
use informer_core::{Feed, ListerWatcher, Resource, TokioClock, WatchRequest, Watched};
use informer_testkit::{FakeApi, FakeTransport, SharedApi};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let api = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    for name in ["web-1", "web-2"] {
        let pod = json!({"metadata": {"name": name, "namespace": "shop"}, "spec": {"containers": [{"name": "web"}]}});
        api.with(|api| api.create(&pods, pod))?;
    }

    // With metadata alone beside the cells: the least that makes a row an object with a key and a version.
    let client = Client::new(FakeTransport::new(api.clone()));
    let tables = client.metadata(pods.clone()).in_namespace("shop").tables();
    let table = tables.list(&Selectors::all()).await?;
    let names: Vec<&str> = table
        .columns
        .iter()
        .filter(|column| !column.is_wide())
        .map(|column| &*column.name)
        .collect();
    println!("{}", names.join("  "));
    for row in &table.rows {
        println!("{}", line(&row.object));
    }

    // A source of rows is a source like any other: of a watch by hand, as here, or of a reflector or shared informer.
    let mut request = WatchRequest::default();
    request.version = Some(table.version);
    let mut watch = tables.source(Selectors::all()).watch(request).await?;
    let running = json!({"metadata": {"name": "web-1", "namespace": "shop"}, "status": {"phase": "Running"}});
    api.with(|api| api.update_status(&pods, running))?;
    api.with(|api| api.delete(&pods, Some("shop"), "web-2"))?;
    for _ in 0..2 {
        match watch.next().await.ok_or("the watch has ended")?? {
            Watched::Upsert(cause, row) => println!("{cause:?}: {}", line(&row?.object)),
            Watched::Delete(row) => println!("Deleted: {}", row?.identity),
            other => println!("{other:?}"),
        }
    }
    Ok(())
}

/// The cells that are not only for wide tables.
fn line(row: &TableRow<PartialMetadata>) -> String {
    let cells = row.columns.iter().zip(row.texts());
    let cells: Vec<_> = cells
        .filter(|(column, _)| !column.is_wide())
        .map(|(_, cell)| cell)
        .collect();
    cells.join("  ")
}
