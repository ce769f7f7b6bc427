//! `FarEnd`: where a transport under test leads to.

use std::{
    collections::VecDeque,
    future::poll_fn,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use informer_transport::Transport;

use crate::scripted::{BodyHandle, ScriptedBody, pair};

/// The server behind a transport under test, as the suite plays it. Clones are the same server.
///
/// Whoever serves hands each request to [`answer`](Self::answer), sends the response, streams its body, and drops what the client has given
/// up. An error has to reach the client as a connection that breaks off.
#[derive(Debug, Clone, Default)]
pub struct FarEnd {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    arrived: VecDeque<Exchange>,
    /// Every request fails without an answer.
    is_broken: bool,
    waker: Option<Waker>,
}

#[derive(Debug, Default)]
struct Call {
    answer: Option<Response<ScriptedBody>>,
    /// Nobody waits for the answer any more.
    is_given_up: bool,
    waker: Option<Waker>,
}

/// A request that arrived.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    pub(super) request: Request<Bytes>,
    call: Arc<Mutex<Call>>,
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that nobody waits any more.
struct Waiting(Arc<Mutex<Call>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        lock(&self.0).is_given_up = true;
    }
}

impl FarEnd {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Answers a request.
    ///
    /// # Errors
    /// When the connection is to break off without a response.
    ///
    /// # Cancel safety
    /// Dropping the future says that the client has given the request up.
    pub async fn answer(&self, request: Request<Bytes>) -> io::Result<Response<ScriptedBody>> {
        let call = Arc::new(Mutex::new(Call::default()));
        let waiting = Waiting(call.clone());
        let waker = {
            let mut state = lock(&self.state);
            if state.is_broken {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            state.arrived.push_back(Exchange { request, call });
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
        poll_fn(|cx| {
            let mut call = lock(&waiting.0);
            match call.answer.take() {
                Some(answer) => Poll::Ready(Ok(answer)),
                None => {
                    call.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// The next request that arrives.
    pub(super) async fn accept(&self) -> Exchange {
        poll_fn(|cx| {
            let mut state = lock(&self.state);
            match state.arrived.pop_front() {
                Some(exchange) => Poll::Ready(exchange),
                None => {
                    state.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// From now on no request is answered: its connection breaks off.
    pub fn break_off(&self) {
        lock(&self.state).is_broken = true;
    }
}

/// Without a network in between.
impl Transport for FarEnd {
    type Body = ScriptedBody;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<ScriptedBody>> {
        self.answer(request).await
    }
}

impl Exchange {
    /// Answers, with a body that is still to come.
    pub(super) fn head(&self, status: u16) -> BodyHandle {
        let (handle, body) = pair();
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(status).expect("the suite answers with valid statuses");
        response
            .headers_mut()
            .insert("x-answered-by", http::HeaderValue::from_static("the far end"));
        let waker = {
            let mut call = lock(&self.call);
            call.answer = Some(response);
            call.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
        handle
    }

    /// Whether nobody waits for the answer any more.
    pub(super) fn is_given_up(&self) -> bool {
        lock(&self.call).is_given_up
    }
}
