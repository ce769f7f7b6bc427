//! What the tests share: servers, certificates, and short ways to ask.

mod certificates;
mod relay;
mod server;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use informer_hyper::{Error, HyperTransport, ResponseBody};
use informer_transport::Transport;

pub(crate) use self::{
    certificates::Authority,
    relay::Relay,
    server::{Answer, Feed, Server, Wire, answer, streaming},
};

pub(crate) fn get(path: &str) -> Request<Bytes> {
    Request::get(path).body(Bytes::new()).expect("a request")
}

pub(crate) fn plain(server: &Server) -> HyperTransport {
    HyperTransport::builder(server.url())
        .build()
        .expect("a transport")
}

/// Sends a GET and reads the whole response.
pub(crate) async fn fetch(transport: &HyperTransport, path: &str) -> Result<Response<Bytes>, Error> {
    let response = transport.send(get(path)).await?;
    let (head, body) = response.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}

/// The text of a whole response.
pub(crate) async fn text(transport: &HyperTransport, path: &str) -> String {
    let response = fetch(transport, path).await.expect("a response");
    String::from_utf8(response.into_body().to_vec()).expect("text")
}

/// The next chunk of a body.
pub(crate) async fn chunk(body: &mut ResponseBody) -> Option<Result<Bytes, Error>> {
    let frame = body.frame().await?;
    Some(frame.map(|frame| frame.into_data().expect("no trailers")))
}

/// The same, which must be there.
pub(crate) async fn good_chunk(body: &mut ResponseBody) -> Bytes {
    assert!(!body.is_end_stream());
    chunk(body).await.expect("not the end").expect("no error")
}

/// An error and its causes, as a program prints them.
pub(crate) fn sentence(error: &dyn std::error::Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        sentence += &format!(": {error}");
        cause = error.source();
    }
    sentence
}
