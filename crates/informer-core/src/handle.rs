//! A shared handle around a passive delta queue: one lock, a waker each way, close.

use std::{
    fmt,
    future::poll_fn,
    marker::PhantomData,
    sync::{Arc, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::{
    Batch, Closed, Delta, DeltaQueue, DeltaSink, Stamp,
    sync::{Condvar, Mutex, MutexGuard},
};

/// Both ends of a delta queue: the reflector's sink and the consumer's pop, async and blocking.
///
/// Clones share the queue. One producer and one consumer at a time: each end keeps one waker, the latest.
///
/// After [`close`](Self::close) pushes are dropped and what waits is still handed out, then [`Closed`].
///
/// # Cancel safety
/// Dropping the future of [`pop`](Self::pop) loses nothing: a batch is moved out only when it returns.
pub struct Handle<D, Q, K> {
    shared: Arc<Shared<D>>,
    _deltas: PhantomData<fn(Q) -> K>,
}

struct Shared<D> {
    state: Mutex<State<D>>,
    /// For the blocking pop.
    pushed: Condvar,
}

struct State<D> {
    queue: D,
    closed: bool,
    producer: Option<Waker>,
    /// The producer's too, but woken by a close alone.
    closing: Option<Waker>,
    consumer: Option<Waker>,
}

impl<D, Q, K> Clone for Handle<D, Q, K> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            _deltas: PhantomData,
        }
    }
}

impl<D, Q, K> fmt::Debug for Handle<D, Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("closed", &self.lock().closed)
            .finish_non_exhaustive()
    }
}

impl<D, Q, K> Handle<D, Q, K> {
    /// A handle around `queue`.
    pub fn new(queue: D) -> Self {
        let state = State {
            queue,
            closed: false,
            producer: None,
            closing: None,
            consumer: None,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                pushed: Condvar::new(),
            }),
            _deltas: PhantomData,
        }
    }

    /// Ends both sides. What waits is still handed out.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let wakers = [state.producer.take(), state.closing.take(), state.consumer.take()];
        drop(state);
        self.shared.pushed.notify_all();
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Whether it was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Looks at the queue.
    pub fn inspect<R>(&self, look: impl FnOnce(&D) -> R) -> R {
        look(&self.lock().queue)
    }

    /// The queue's own code is all that runs under the lock; a panic there leaves it as it was, so the poison says nothing.
    fn lock(&self) -> MutexGuard<'_, State<D>> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q, K, D: DeltaQueue<Q, K>> Handle<D, Q, K> {
    /// Moves the next batch of at most `max` deltas into `batch`, as soon as there is one.
    ///
    /// # Errors
    /// [`Closed`] once it is closed and nothing waits.
    pub fn poll_pop(
        &self,
        cx: &mut Context<'_>,
        batch: &mut Batch<Q, K>,
        max: usize,
    ) -> Poll<Result<(), Closed>> {
        let mut state = self.lock();
        if state.queue.pop_into(batch, max) > 0 {
            let producer = state.producer.take();
            drop(state);
            producer.into_iter().for_each(Waker::wake);
            return Poll::Ready(Ok(()));
        }
        if state.closed {
            return Poll::Ready(Err(Closed));
        }
        match &mut state.consumer {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Waits for the next batch.
    ///
    /// # Errors
    /// As [`poll_pop`](Self::poll_pop).
    pub async fn pop(&self, batch: &mut Batch<Q, K>, max: usize) -> Result<(), Closed> {
        poll_fn(|cx| self.poll_pop(cx, batch, max)).await
    }

    /// Waits for the next batch by blocking the thread: for a consumer on a thread of its own.
    ///
    /// # Errors
    /// As [`poll_pop`](Self::poll_pop).
    pub fn pop_blocking(&self, batch: &mut Batch<Q, K>, max: usize) -> Result<(), Closed> {
        let mut state = self.lock();
        loop {
            if state.queue.pop_into(batch, max) > 0 {
                let producer = state.producer.take();
                drop(state);
                producer.into_iter().for_each(Waker::wake);
                return Ok(());
            }
            if state.closed {
                return Err(Closed);
            }
            state = self
                .shared
                .pushed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Tells the queue that the popped batch was processed, but for `failed`.
    pub fn settle(&self, failed: Vec<Delta<Q, K>>) {
        let again = !failed.is_empty();
        let mut state = self.lock();
        state.queue.settle(failed);
        let consumer = again.then(|| state.consumer.take()).flatten();
        drop(state);
        if again {
            self.shared.pushed.notify_one();
        }
        consumer.into_iter().for_each(Waker::wake);
    }

    /// Whether the whole of the first replace was processed.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.lock().queue.has_synced()
    }

    /// Deltas that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().queue.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<Q, K, D: DeltaQueue<Q, K>> DeltaSink<Q, K> for Handle<D, Q, K> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(Err(Closed));
        }
        let ready = state.queue.poll_ready(cx);
        if ready.is_pending() {
            match &mut state.producer {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
        }
        ready
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(());
        }
        match &mut state.closing {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        state.queue.push(delta);
        let consumer = state.consumer.take();
        drop(state);
        self.shared.pushed.notify_one();
        consumer.into_iter().for_each(Waker::wake);
    }

    fn known(&self, key: &Q, stamp: &Stamp) -> Option<Arc<K>> {
        self.lock().queue.known(key, stamp)
    }
}
