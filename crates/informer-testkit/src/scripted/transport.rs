//! `ScriptedTransport`: a transport that answers from a script.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http::{Request, Response};
use informer_transport::Transport;

use super::{
    Answer, BodyHandle, Expect, Recorded, ScriptedBody,
    answer::{End, Kind},
    body::pair,
};
use crate::http::parse_query;

#[derive(Debug)]
struct Step {
    expect: Expect,
    answer: Answer,
    repeat: bool,
}

#[derive(Debug, Default)]
struct State {
    steps: Vec<Step>,
    recorded: Vec<Recorded>,
}

/// A transport without a network: the first unused step whose expectation fits answers a request. Clones share the script.
///
/// A request that no step fits fails, and stays in [`unexpected`](Self::unexpected) for the test to look at.
#[derive(Debug, Clone, Default)]
pub struct ScriptedTransport {
    state: Arc<Mutex<State>>,
}

impl ScriptedTransport {
    /// A transport with an empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step, used once.
    pub fn on(&self, expect: Expect, answer: Answer) -> &Self {
        self.add(expect, answer, false)
    }

    /// Adds a step that answers every time, after the steps before it are used up.
    pub fn always(&self, expect: Expect, answer: Answer) -> &Self {
        self.add(expect, answer, true)
    }

    /// What was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.lock().recorded.clone()
    }

    /// What was asked and no step answered.
    #[must_use]
    pub fn unexpected(&self) -> Vec<Recorded> {
        let state = self.lock();
        state.recorded.iter().filter(|it| !it.expected).cloned().collect()
    }

    /// How many steps are still to be used; those that answer every time do not count.
    #[must_use]
    pub fn n_left(&self) -> usize {
        self.lock().steps.iter().filter(|step| !step.repeat).count()
    }

    /// Writes to the body of the latest answer that is still read.
    #[must_use]
    pub fn open_body(&self) -> Option<BodyHandle> {
        let state = self.lock();
        let mut answers = state.recorded.iter().rev().filter_map(|it| it.answer.as_ref());
        answers.find(|body| !body.is_dropped()).cloned()
    }

    fn add(&self, expect: Expect, answer: Answer, repeat: bool) -> &Self {
        self.lock().steps.push(Step {
            expect,
            answer,
            repeat,
        });
        self
    }

    fn answer(&self, request: Request<Bytes>) -> Option<Result<Response<ScriptedBody>, io::Error>> {
        let (parts, body) = request.into_parts();
        let mut recorded = Recorded {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: parse_query(parts.uri.query().unwrap_or("")),
            headers: parts.headers,
            body,
            expected: true,
            answer: None,
        };
        let mut state = self.lock();
        let found = state.steps.iter().position(|step| step.expect.matches(&recorded));
        let Some(index) = found else {
            let message = format!("no step of the script fits {} {}", recorded.method, parts.uri);
            recorded.expected = false;
            state.recorded.push(recorded);
            return Some(Err(io::Error::other(message)));
        };
        let answer = if state.steps[index].repeat {
            state.steps[index].answer.clone()
        } else {
            state.steps.remove(index).answer
        };
        let reply = match answer.kind {
            Kind::Hang => None,
            Kind::Fail(kind) => Some(Err(kind.into())),
            Kind::Head {
                status,
                headers,
                chunks,
                end,
            } => {
                let (handle, body) = pair();
                chunks.into_iter().for_each(|chunk| handle.push(chunk));
                match end {
                    End::Close => handle.close(),
                    End::Fail(kind) => handle.fail(kind),
                    End::Hang => {}
                }
                recorded.answer = Some(handle);
                let mut response = Response::new(body);
                *response.status_mut() = status;
                *response.headers_mut() = headers;
                Some(Ok(response))
            }
        };
        state.recorded.push(recorded);
        reply
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for ScriptedTransport {
    type Body = ScriptedBody;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ScriptedBody>, io::Error> {
        match self.answer(request) {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    fn is_refused(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::ConnectionRefused
    }
}
