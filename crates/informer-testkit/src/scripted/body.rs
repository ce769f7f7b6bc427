//! A response body that a test writes to while the client reads.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

#[derive(Debug, Default)]
struct State {
    chunks: VecDeque<Bytes>,
    end: Option<Result<(), io::ErrorKind>>,
    dropped: bool,
    waker: Option<Waker>,
}

/// The reading side: chunks as they were written, then the end, an error, or nothing at all.
#[derive(Debug)]
pub struct ScriptedBody {
    state: Arc<Mutex<State>>,
}

/// The writing side. Clones write to the same body.
#[derive(Debug, Clone)]
pub struct BodyHandle {
    state: Arc<Mutex<State>>,
}

/// An open body and the handle that writes to it.
pub(crate) fn pair() -> (BodyHandle, ScriptedBody) {
    let state = Arc::new(Mutex::new(State::default()));
    (BodyHandle { state: state.clone() }, ScriptedBody { state })
}

impl BodyHandle {
    /// Sends a chunk.
    pub fn push(&self, chunk: impl Into<Bytes>) {
        self.change(|state| state.chunks.push_back(chunk.into()));
    }

    /// Sends a line: the text and a newline.
    pub fn push_line(&self, text: impl AsRef<str>) {
        self.push(format!("{}\n", text.as_ref()));
    }

    /// Ends the body cleanly, after what was sent.
    pub fn close(&self) {
        self.change(|state| state.end = Some(Ok(())));
    }

    /// Ends the body with an error, after what was sent.
    pub fn fail(&self, kind: io::ErrorKind) {
        self.change(|state| state.end = Some(Err(kind)));
    }

    /// Whether the client has dropped the body.
    #[must_use]
    pub fn is_dropped(&self) -> bool {
        lock(&self.state).dropped
    }

    /// Whether the client has read everything that was sent.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        lock(&self.state).chunks.is_empty()
    }

    /// How many chunks were sent that the client has not taken yet.
    #[must_use]
    pub fn n_waiting(&self) -> usize {
        lock(&self.state).chunks.len()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waker = {
            let mut state = lock(&self.state);
            change(&mut state);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Body for ScriptedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut state = lock(&self.state);
        if let Some(chunk) = state.chunks.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        match state.end {
            Some(Ok(())) => Poll::Ready(None),
            Some(Err(kind)) => {
                state.end = Some(Ok(()));
                Poll::Ready(Some(Err(kind.into())))
            }
            None => {
                let old = state.waker.replace(cx.waker().clone());
                // A waker may hold the task that reads this body: it is dropped outside of the lock.
                drop(state);
                drop(old);
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let state = lock(&self.state);
        state.chunks.is_empty() && state.end == Some(Ok(()))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl Drop for ScriptedBody {
    fn drop(&mut self) {
        lock(&self.state).dropped = true;
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
