//! A transport over a Unix socket, and an informer on it.
//!
//! `cargo run -p informer-transport --example unix_socket`

#![expect(clippy::print_stdout, reason = "an example tells what it does")]

mod transport;

use std::{error::Error, io, path::PathBuf, time::Duration};

use http::Request;
use http_body_util::BodyExt as _;
use hyper::{body::Incoming, server, service::service_fn};
use hyper_util::rt::TokioIo;
use informer_client::{Client, Selectors};
use informer_core::{Resource, TokioClock};
use informer_sharedinformer::SharedInformer;
use informer_testkit::{FakeApi, SharedApi};
use serde_json::{Value, json};
use tokio::net::UnixListener;

use crate::transport::{UnixSocket, spawn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("api.sock");
    let listener = UnixListener::bind(&path)?;
    let api = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    tokio::select! {
        served = serve(listener, api.clone()) => Ok(served?),
        watched = watch(path, api) => watched,
    }
}

async fn watch(path: PathBuf, api: SharedApi<TokioClock>) -> Result<(), Box<dyn Error>> {
    let maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    api.with(|api| api.create(&maps, json!({"metadata": {"name": "one"}})))?;
    let client = Client::new(UnixSocket(path));
    let source = client.objects::<Value>(maps.clone()).source(Selectors::all());
    let informer = SharedInformer::builder(source).build()?;
    let mut changes = informer.subscribe(Default::default())?;
    let running = informer.spawn()?;
    informer.wait_synced(Duration::from_secs(30)).await?;
    api.with(|api| api.create(&maps, json!({"metadata": {"name": "two"}})))?;
    for _ in 0..2 {
        println!("{:?}", changes.next().await.ok_or("the informer ended")?);
    }
    running.stop().await;
    Ok(())
}

async fn serve(listener: UnixListener, api: SharedApi<TokioClock>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let api = api.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let api = api.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
                api.answer(Request::from_parts(head, body)).await
            }
        });
        spawn(server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
