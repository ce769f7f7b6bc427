//! The model shared between those who change it and those who wait for it: `SharedApi`, and the transport over it.

use std::{
    collections::BTreeMap,
    fmt,
    future::poll_fn,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Instant,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use informer_core::{BoxFuture, Clock};
use informer_transport::Transport;

use crate::{BodyPoll, ExchangeId, Failure, FakeApi, HeadPoll};

struct State {
    api: FakeApi,
    wakers: BTreeMap<ExchangeId, Waker>,
    /// The model's epoch when everybody was last woken.
    woken_at: u64,
}

struct Inner<C> {
    clock: C,
    state: Mutex<State>,
}

/// A [`FakeApi`] behind a lock, with a clock, and with wakers for those who wait. Clones share it. Needs no runtime.
pub struct SharedApi<C> {
    inner: Arc<Inner<C>>,
}

impl<C: Clock> SharedApi<C> {
    /// Shares a model; its time is this clock's.
    #[must_use]
    pub fn new(api: FakeApi, clock: C) -> Self {
        Self {
            inner: Arc::new(Inner {
                clock,
                state: Mutex::new(State {
                    woken_at: api.epoch(),
                    api,
                    wakers: BTreeMap::new(),
                }),
            }),
        }
    }

    /// Looks at the model or changes it. Watches and waiting requests hear of a change when this returns.
    pub fn with<R>(&self, body: impl FnOnce(&mut FakeApi) -> R) -> R {
        let now = self.inner.clock.now();
        self.locked(|state| {
            state.api.tick(now);
            body(&mut state.api)
        })
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &C {
        &self.inner.clock
    }

    /// Answers a request. Dropping the response's body, or this future, closes the exchange.
    ///
    /// # Errors
    /// When the model refuses or cuts the connection.
    pub async fn answer(&self, request: Request<Bytes>) -> io::Result<Response<ApiBody<C>>> {
        let now = self.inner.clock.now();
        let id = self.locked(|state| state.api.open(now, request));
        let mut body = ApiBody {
            shared: self.clone(),
            id,
            timer: None,
            is_cut: false,
            is_over: false,
        };
        let head = poll_fn(|cx| body.poll_head(cx)).await?;
        Ok(head.map(|()| body))
    }

    /// Runs under the lock, then wakes whoever waits if the model has changed.
    fn locked<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        let (result, woken) = {
            let mut state = self.lock();
            let result = body(&mut state);
            let epoch = state.api.epoch();
            let woken = if epoch == state.woken_at {
                BTreeMap::new()
            } else {
                state.woken_at = epoch;
                std::mem::take(&mut state.wakers)
            };
            (result, woken)
        };
        woken.into_values().for_each(Waker::wake);
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Clone for SharedApi<C> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
        }
    }
}

impl<C> fmt::Debug for SharedApi<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedApi").finish_non_exhaustive()
    }
}

/// The body of an answer: whole, or a watch that goes on.
pub struct ApiBody<C: Clock> {
    shared: SharedApi<C>,
    id: ExchangeId,
    timer: Option<(Instant, BoxFuture<'static, ()>)>,
    is_cut: bool,
    is_over: bool,
}

impl<C: Clock> ApiBody<C> {
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Response<()>>> {
        loop {
            let now = self.shared.inner.clock.now();
            let id = self.id;
            // An old waker is dropped outside of the lock: it may hold a task that holds a body.
            let (poll, _old) = self.shared.locked(|state| {
                let poll = state.api.poll_head(now, id);
                let waits = matches!(poll, HeadPoll::Pending(_));
                let old = waits.then(|| state.wakers.insert(id, cx.waker().clone()));
                (poll, old)
            });
            match poll {
                HeadPoll::Ready(head) => return Poll::Ready(Ok(head)),
                HeadPoll::Failed(failure) => return Poll::Ready(Err(error(failure))),
                HeadPoll::Pending(until) => match self.poll_timer(until, cx) {
                    Poll::Ready(()) => {}
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }

    /// Ready when the time has come; pending, with the waker in place, when it has not or there is none.
    fn poll_timer(&mut self, until: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(until) = until else {
            self.timer = None;
            return Poll::Pending;
        };
        if self.timer.as_ref().is_none_or(|(at, _)| *at != until) {
            let clock = self.shared.inner.clock.clone();
            let sleep = Box::pin(async move { clock.sleep_until(until).await });
            self.timer = Some((until, sleep));
        }
        let poll = match &mut self.timer {
            Some((_, sleep)) => sleep.as_mut().poll(cx),
            None => Poll::Pending,
        };
        if poll.is_ready() {
            self.timer = None;
        }
        poll
    }
}

impl<C: Clock> Body for ApiBody<C> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let body = self.get_mut();
        if body.is_over {
            return Poll::Ready(None);
        }
        loop {
            let now = body.shared.inner.clock.now();
            let id = body.id;
            // An old waker is dropped outside of the lock: it may hold a task that holds a body.
            let (poll, _old) = body.shared.locked(|state| {
                let poll = state.api.poll_body(now, id);
                let waits = matches!(poll, BodyPoll::Pending(_));
                let old = waits.then(|| state.wakers.insert(id, cx.waker().clone()));
                (poll, old)
            });
            match poll {
                BodyPoll::Chunk(chunk) => return Poll::Ready(Some(Ok(Frame::data(chunk)))),
                BodyPoll::End => {
                    body.is_over = true;
                    return Poll::Ready(None);
                }
                BodyPoll::Cut if !body.is_cut => {
                    // What was sent before the cut has left: a server that writes behind gets the occasion to.
                    body.is_cut = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                BodyPoll::Cut => {
                    body.is_over = true;
                    return Poll::Ready(Some(Err(error(Failure::Cut))));
                }
                BodyPoll::Pending(until) => match body.poll_timer(until, cx) {
                    Poll::Ready(()) => {}
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.shared.lock().api.body_size(self.id) == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        match self.shared.lock().api.body_size(self.id) {
            Some(size) => SizeHint::with_exact(size),
            None => SizeHint::default(),
        }
    }
}

impl<C: Clock> Drop for ApiBody<C> {
    fn drop(&mut self) {
        let id = self.id;
        let _old = self.shared.locked(|state| {
            state.api.close(id);
            state.wakers.remove(&id)
        });
    }
}

impl<C: Clock> fmt::Debug for ApiBody<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiBody")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

fn error(failure: Failure) -> io::Error {
    match failure {
        Failure::Refused => io::ErrorKind::ConnectionRefused.into(),
        Failure::Cut => io::ErrorKind::ConnectionReset.into(),
    }
}

/// A [`Transport`] to a [`FakeApi`] in the same process: no socket, no runtime, time from any [`Clock`].
pub struct FakeTransport<C> {
    shared: SharedApi<C>,
}

impl<C: Clock> FakeTransport<C> {
    /// A transport to this model.
    #[must_use]
    pub fn new(shared: SharedApi<C>) -> Self {
        Self { shared }
    }

    /// The model.
    #[must_use]
    pub fn api(&self) -> &SharedApi<C> {
        &self.shared
    }
}

impl<C> Clone for FakeTransport<C> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<C> fmt::Debug for FakeTransport<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeTransport").finish_non_exhaustive()
    }
}

impl<C: Clock> Transport for FakeTransport<C> {
    type Body = ApiBody<C>;
    type Error = io::Error;

    async fn send(&self, request: Request<Bytes>) -> io::Result<Response<ApiBody<C>>> {
        self.shared.answer(request).await
    }

    fn is_refused(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::ConnectionRefused
    }
}
