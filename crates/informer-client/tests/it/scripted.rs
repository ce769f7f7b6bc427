//! A transport that records requests and answers by script, and what runs futures over it.

use std::{
    collections::VecDeque,
    error::Error,
    fmt, io,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use informer_client::Client;
use informer_transport::Transport;

/// One step of a body.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Data(Bytes),
    /// Nothing for one poll.
    Pending,
    /// The connection breaks.
    Cut,
}

#[derive(Debug)]
pub(crate) struct ScriptedBody(VecDeque<Step>);

impl Body for ScriptedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.0.pop_front() {
            None => Poll::Ready(None),
            Some(Step::Pending) => Poll::Pending,
            Some(Step::Data(data)) => Poll::Ready(Some(Ok(Frame::data(data)))),
            Some(Step::Cut) => Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into()))),
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) enum Answer {
    Response(Response<Vec<Step>>),
    Fails(io::ErrorKind),
}

/// 200 with a body in one chunk.
pub(crate) fn ok(body: &str) -> Answer {
    status(200, body)
}

pub(crate) fn status(code: u16, body: &str) -> Answer {
    let steps = vec![Step::Data(Bytes::copy_from_slice(body.as_bytes()))];
    Answer::Response(Response::builder().status(code).body(steps).unwrap())
}

/// 200 with a body in steps.
pub(crate) fn steps(steps: impl IntoIterator<Item = Step>) -> Answer {
    Answer::Response(Response::new(steps.into_iter().collect()))
}

pub(crate) fn data(text: &str) -> Step {
    Step::Data(Bytes::copy_from_slice(text.as_bytes()))
}

/// Why no answer came.
#[derive(Debug)]
pub(crate) struct NoAnswer(io::Error);

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot reach the server")
    }
}

impl Error for NoAnswer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Request<Bytes>>,
    answers: VecDeque<Answer>,
}

/// The transport. Clones share the script and the record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scripted(Arc<Mutex<State>>);

impl Scripted {
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> (Self, Client<Self>) {
        let state = State {
            requests: Vec::new(),
            answers: answers.into_iter().collect(),
        };
        let transport = Self(Arc::new(Mutex::new(state)));
        (transport.clone(), Client::new(transport))
    }

    /// Method, URI and body of each request, a line each.
    pub(crate) fn requests(&self) -> Vec<String> {
        let state = self.0.lock().unwrap();
        let lines = state.requests.iter().map(|request| {
            let body = String::from_utf8(request.body().to_vec()).unwrap();
            format!("{} {} {body}", request.method(), request.uri())
                .trim_end()
                .to_owned()
        });
        lines.collect()
    }

    /// A header of the latest request.
    pub(crate) fn header(&self, name: &str) -> String {
        let state = self.0.lock().unwrap();
        state.requests.last().unwrap().headers()[name]
            .to_str()
            .unwrap()
            .to_owned()
    }
}

impl Transport for Scripted {
    type Body = ScriptedBody;
    type Error = NoAnswer;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ScriptedBody>, NoAnswer> {
        let mut state = self.0.lock().unwrap();
        state.requests.push(request);
        match state.answers.pop_front().expect("an answer for each request") {
            Answer::Response(response) => Ok(response.map(|steps| ScriptedBody(steps.into()))),
            Answer::Fails(kind) => Err(NoAnswer(kind.into())),
        }
    }
}

/// Polls a future until it is ready. A scripted body is pending for one poll at a time, so nothing needs to wake anything.
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..100_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
    panic!("the future is stuck");
}

/// Polls a future once and drops it.
pub(crate) fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let mut cx = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut cx) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
