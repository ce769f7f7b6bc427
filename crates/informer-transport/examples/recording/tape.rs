//! A transport that writes down what comes through it, and one that plays it back.

use std::{
    convert::Infallible,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody, combinators::MapFrame};
use informer_transport::Transport;

/// What was asked, the status of the answer, and the chunks of its body, for each exchange.
#[derive(Clone, Default)]
pub(crate) struct Tape(Arc<Mutex<Vec<Exchange>>>);

type Exchange = (String, u16, Vec<Vec<u8>>);

impl Tape {
    /// The exchanges on it.
    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut Vec<Exchange>) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What tells requests apart. Not the whole query: the time after which a watch is to end is drawn by chance.
fn asked(request: &Request<Bytes>) -> String {
    let is_watch = request.uri().query().is_some_and(|it| it.contains("watch="));
    let verb = if is_watch {
        "WATCH"
    } else {
        request.method().as_str()
    };
    format!("{verb} {}", request.uri().path())
}

/// Lets everything through, and writes it down.
pub(crate) struct Recorder<T>(pub(crate) T, pub(crate) Tape);

impl<T: Transport> Transport for Recorder<T> {
    type Body = MapFrame<T::Body, Box<dyn FnMut(Frame<Bytes>) -> Frame<Bytes> + Send>>;
    type Error = T::Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Self::Body>, T::Error> {
        let (asked, tape) = (asked(&request), self.1.clone());
        let response = self.0.send(request).await?;
        let at = tape.with(|tape| {
            tape.push((asked, response.status().as_u16(), Vec::new()));
            tape.len() - 1
        });
        let note = move |frame: Frame<Bytes>| {
            tape.with(|tape| tape[at].2.extend(frame.data_ref().map(|data| data.to_vec())));
            frame
        };
        Ok(response.map(|body| body.map_frame(Box::new(note) as _)))
    }
}

/// Answers each request with the first exchange of its kind that is left.
pub(crate) struct Player(pub(crate) Tape);

impl Transport for Player {
    type Body = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<Self::Body>> {
        let asked = asked(&request);
        let found = self
            .0
            .with(|left| Some(left.remove(left.iter().position(|it| it.0 == asked)?)));
        let (_, status, chunks) =
            found.ok_or_else(|| io::Error::other(format!("{asked} is not on the tape")))?;
        let chunks = stream::iter(chunks).map(|chunk| Ok(Frame::data(chunk.into())));
        // A watch stays open where the recording stopped.
        let body = if asked.starts_with("WATCH") {
            chunks.chain(stream::pending()).boxed()
        } else {
            chunks.boxed()
        };
        Response::builder()
            .status(status)
            .body(StreamBody::new(body))
            .map_err(io::Error::other)
    }
}
