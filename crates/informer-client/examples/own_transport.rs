//! The client over a transport of one's own: here a server of two dozen lines in memory, in place of a connection.
//!
//! `cargo run -p informer-client --example own_transport`

#![allow(clippy::print_stdout, reason = "an example tells what it does")]

use std::{
    collections::VecDeque,
    convert::Infallible,
    error::Error,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use informer_client::{Client, Selectors};
use informer_core::{Feed, ListRequest, Listed, ListerWatcher, Resource, WatchRequest, Watched};
use informer_transport::Transport;
use serde::Deserialize;

/// The transport: all that has to be written to put the client on something else.
struct InMemory;

impl Transport for InMemory {
    type Body = Chunks;
    type Error = Infallible;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Chunks>, Infallible> {
        let query = request.uri().query().unwrap_or_default();
        let chunks: &[&str] = match (request.uri().path(), query.contains("watch=true")) {
            // Where the chunks end does not matter.
            ("/apis/example.com/v1/lamps", false) => &[
                r#"{"kind":"LampList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"desk"},"on":tr"#,
                r#"ue},{"metadata":{"name":"door"},"on":false}]}"#,
            ],
            ("/apis/example.com/v1/lamps", true) => &[
                "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"door\"},\"on\":true}}\n{\"type\":\"DEL",
                "ETED\",\"object\":{\"metadata\":{\"name\":\"desk\"},\"on\":true}}\n",
            ],
            _ => {
                let mut response = Response::new(Chunks::of(&["no such page"]));
                *response.status_mut() = StatusCode::NOT_FOUND;
                return Ok(response);
            }
        };
        Ok(Response::new(Chunks::of(chunks)))
    }
}

/// A body in chunks.
struct Chunks(VecDeque<Bytes>);

impl Chunks {
    fn of(chunks: &[&str]) -> Self {
        Self(
            chunks
                .iter()
                .map(|&chunk| Bytes::from(chunk.to_owned()))
                .collect(),
        )
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|chunk| Ok(Frame::data(chunk))))
    }
}

/// The form of object: no more fields than are needed.
#[derive(Debug, Deserialize)]
struct Lamp {
    on: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::new(InMemory);
    let lamps = client.objects::<Lamp>(Resource::cluster("example.com", "v1", "lamps", "Lamp"));
    let source = lamps.source(Selectors::all());

    let mut from = None;
    let mut list = source.list(ListRequest::default()).await?;
    while let Some(listed) = list.next().await {
        match listed? {
            Listed::Item(lamp) => println!("listed {}", describe(&lamp?)),
            Listed::End { at, .. } => from = Some(at),
        }
    }

    let mut request = WatchRequest::default();
    request.version = from;
    let mut watch = source.watch(request).await?;
    while let Some(watched) = watch.next().await {
        match watched? {
            Watched::Upsert(cause, lamp) => println!("{cause:?} {}", describe(&lamp?)),
            Watched::Delete(lamp) => println!("deleted {}", lamp?.identity),
            other => println!("{other:?}"),
        }
    }

    let error = client
        .dynamic(Resource::cluster("example.com", "v1", "chairs", "Chair"))
        .get("red")
        .await
        .expect_err("there are no chairs");
    println!("and {error}");
    Ok(())
}

fn describe(lamp: &informer_core::Decoded<Lamp>) -> String {
    format!("{}, {}", lamp.identity, if lamp.object.on { "on" } else { "off" })
}
