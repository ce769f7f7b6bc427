//! The server: `tests/reference/oracle/server.go`, rule by rule.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use informer_core::{Clock as _, TokioClock};
use informer_transport::Transport;
use tokio::sync::Notify;

use super::{
    answer::{Body, failure},
    state::{Happened, State, query},
};
use crate::sequence::Op;

/// A shared handle of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    state: Arc<Mutex<State>>,
    opened: Arc<Notify>,
}

/// How it is, from the words behind `start`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    pub(super) refuses_streams: bool,
    pub(super) has_cache: bool,
    pub(super) precise: bool,
    pub(super) spread: bool,
}

impl Server {
    pub(super) fn set(&self, manner: Manner) {
        self.lock().manner = manner;
    }

    /// Reads what the requests that follow are answered.
    pub(super) fn prepare(&self, op: Op<'_>) {
        let mut state = self.lock();
        state.answers = op
            .args()
            .filter_map(|arg| arg.split_once('='))
            .map(|(kind, answers)| (kind.to_owned(), answers.split(',').map(str::to_owned).collect()))
            .collect();
        state.must_list = matches!(op.verb, "start" | "error");
        state.since = Some(TokioClock.now());
    }

    /// Something changes, and the watch tells. Once a change is lost, that watch tells nothing any more.
    pub(super) fn change(&self, op: Op<'_>) {
        let (op, lost) = match op.verb {
            "lose" => (Op::read(op.rest), true),
            _ => (op, false),
        };
        let kind = match op.verb {
            "create" => "ADDED",
            "modify" | "garble" => "MODIFIED",
            "delete" => "DELETED",
            "bookmark" => "BOOKMARK",
            other => panic!("no operation {other:?}"),
        };
        let mut state = self.lock();
        state.version += 1;
        let happened = Happened {
            kind,
            key: op.arg().to_owned(),
            version: state.version,
            garbled: op.verb == "garble",
        };
        match op.verb {
            "create" | "modify" | "garble" => {
                state.objects.insert(happened.key.clone(), happened.clone());
            }
            "delete" => drop(state.objects.remove(&happened.key)),
            _ => {}
        }
        state.stalled |= lost;
        if let (Some(open), false) = (&state.open, state.stalled) {
            // One that nobody reads any more is found closed when it is looked at.
            let _ = open.send(Ok(happened.frame().into()));
        }
        state.history.push(happened);
    }

    /// Ends the watch that is open.
    pub(super) fn end(&self, verb: &str) {
        let open = self.lock().open.take();
        if let (Some(open), "cut") = (open, verb) {
            let _ = open.send(Err(io::ErrorKind::UnexpectedEof.into()));
        }
    }

    /// Ends the watch that is open with an error.
    pub(super) fn fail(&self, answer: &str) {
        if let Some(open) = self.lock().open.take() {
            let _ = open.send(Ok(failure(answer).into()));
        }
    }

    /// Lets time pass until a watch is open and all is quiet, or for long.
    pub(super) async fn settle(&self) {
        const LONG: Duration = Duration::from_secs(300);
        pass(Duration::from_millis(1)).await;
        let deadline = TokioClock.now() + LONG;
        while !self.is_open() && TokioClock.now() < deadline {
            let opened = self.opened.notified();
            if self.is_open() {
                break;
            }
            // The time is looked at above.
            let _ = tokio::time::timeout_at(deadline.into(), opened).await;
        }
        pass(Duration::from_millis(1)).await;
    }

    pub(super) fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().said)
    }

    fn is_open(&self) -> bool {
        self.lock().open.as_ref().is_some_and(|open| !open.is_closed())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets virtual time pass; it moves on only when nothing else does.
pub(super) async fn pass(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}

impl Transport for Server {
    type Body = Body;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<Body>> {
        let query = query(request.uri().query().unwrap_or_default());
        let answer = self.lock().answer(&query);
        if self.is_open() {
            self.opened.notify_one();
        }
        answer
    }
}

impl Manner {
    /// Says a wait as the sequence wants it.
    pub(super) fn waited(&self, time: Duration) -> String {
        if self.precise {
            return format!("waited {}", (time.as_millis() + 5) / 10 * 10);
        }
        if !self.spread {
            return "waited".to_owned();
        }
        if time >= Duration::from_millis(25_600) {
            return "waited long".to_owned();
        }
        format!("waited 2^{}", (time.as_secs_f64() / 0.8).log2().floor())
    }
}
