//! The contract of a work queue.

use std::{
    future::{Future, poll_fn},
    hash::Hash,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use crate::{
    AddOptions, Lease, Outcome, Shutdown,
    sync::{Thread, current, park},
};

/// What an item must be. Implemented for every type that fits. Cheap to clone, best: a key, not an object.
pub trait Item: Clone + Eq + Hash + Send + 'static {}

impl<T: Clone + Eq + Hash + Send + 'static> Item for T {}

/// A queue of things to do that hands each out to one worker at a time. The crate's documentation has the contract.
///
/// Comfort is in [`WorkQueueExt`].
pub trait WorkQueue<T>: Send + Sync {
    /// Adds an item. Ignored once it is shut down.
    fn add(&self, item: T, how: AddOptions);

    /// The next item; `None` once it is shut down and nothing more will come.
    ///
    /// While pending, the waker is woken when it is worth asking again. Where several wakers wait all are woken, because this method
    /// cannot know whose future was dropped meanwhile.
    fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<Lease<T>>>;

    /// Ends it, and returns what waited and will not be handed out any more, in the order it would have been.
    fn shut_down(&self, how: Shutdown) -> Vec<T>;

    /// Items that are ready and wait for a worker.
    fn len(&self) -> usize;

    /// Whether none is.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The work on an item ended. A lease knows the queue that it came from.
    fn done(&self, lease: Lease<T>, outcome: Outcome) {
        lease.finish(outcome);
    }

    /// Waits for the next item by blocking the thread.
    ///
    /// Provided through [`poll_take`](Self::poll_take), for a queue whose timers need no runtime around.
    fn take_blocking(&self) -> Option<Lease<T>> {
        let waker = unpark_current();
        let mut cx = Context::from_waker(&waker);
        loop {
            match self.poll_take(&mut cx) {
                Poll::Ready(lease) => return lease,
                Poll::Pending => park(),
            }
        }
    }
}

impl<T, W: WorkQueue<T> + ?Sized> WorkQueue<T> for Arc<W> {
    fn add(&self, item: T, how: AddOptions) {
        (**self).add(item, how);
    }

    fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<Lease<T>>> {
        (**self).poll_take(cx)
    }

    fn shut_down(&self, how: Shutdown) -> Vec<T> {
        (**self).shut_down(how)
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn is_empty(&self) -> bool {
        (**self).is_empty()
    }

    fn done(&self, lease: Lease<T>, outcome: Outcome) {
        (**self).done(lease, outcome);
    }

    fn take_blocking(&self) -> Option<Lease<T>> {
        (**self).take_blocking()
    }
}

/// Comfort for every [`WorkQueue`].
pub trait WorkQueueExt<T>: WorkQueue<T> {
    /// Waits for the next item; `None` once it is shut down and nothing more will come.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    fn take(&self) -> impl Future<Output = Option<Lease<T>>> + Send {
        poll_fn(|cx| self.poll_take(cx))
    }

    /// Adds an item to be handed out as soon as possible.
    fn add_now(&self, item: T) {
        self.add(item, AddOptions::default());
    }

    /// Adds an item to be handed out after a delay.
    fn add_after(&self, item: T, delay: Duration) {
        self.add(item, AddOptions::after(delay));
    }

    /// Adds an item to be handed out when the limiter allows it.
    fn add_rate_limited(&self, item: T) {
        self.add(item, AddOptions::rate_limited());
    }
}

impl<T, W: WorkQueue<T> + ?Sized> WorkQueueExt<T> for W {}

/// A waker that ends a [`park`](std::thread::park) of this thread.
pub(crate) fn unpark_current() -> Waker {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    Arc::new(Unpark(current())).into()
}
