//! The shared handle: a lock around the machine, a clock, and who waits.

mod alarm;
mod take;
mod waiters;

use std::{
    fmt,
    future::{Future, poll_fn},
    sync::{Arc, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use informer_core::Clock;

pub use self::take::Take;
use self::{
    alarm::Alarm,
    take::Seat,
    waiters::{Waiters, Wakes},
};
use crate::{
    AddOptions, Config, Holder, Item, Lease, Machine, Outcome, Probe, Shutdown, Stats, Ticket, WorkQueue,
    sync::{self, Mutex, MutexGuard},
    work_queue::unpark_current,
};

/// A work queue, async and blocking. Clones share it.
///
/// Workers wait in [`take`](Self::take) or, on threads, in [`take_blocking`](Self::take_blocking); both kinds may wait on one queue. One
/// worker is woken for each item that becomes ready, the one that has waited longest first. At most one timer of the clock is armed at a
/// time, however many workers wait and items are delayed.
///
/// Limiter, order and metrics, and `Hash`, `Eq` and `Clone` of the items, are called under the lock of the queue.
pub struct Queue<T, C> {
    pub(crate) inner: Arc<Inner<T, C>>,
}

pub(crate) struct Inner<T, C> {
    clock: C,
    state: Mutex<State<T>>,
    /// Never taken while `state` is held.
    alarm: Mutex<Option<Alarm>>,
}

struct State<T> {
    machine: Machine<T>,
    waiters: Waiters,
}

impl<T: Item, C: Clock> Queue<T, C> {
    /// A queue with the default parts.
    #[must_use]
    pub fn new(clock: C) -> Self {
        Self::with(Config::default(), clock)
    }

    /// A queue of these parts.
    #[must_use]
    pub fn with(config: Config<T>, clock: C) -> Self {
        let state = State {
            machine: Machine::new(config),
            waiters: Waiters::default(),
        };
        let inner = Arc::new(Inner {
            clock,
            state: Mutex::new(state),
            alarm: Mutex::new(None),
        });
        let weak = Arc::downgrade(&inner);
        if let Some(metrics) = inner.lock().machine.metrics() {
            metrics.opened(Probe::new(move || weak.upgrade().map(|inner| inner.stats())));
        }
        Self { inner }
    }

    /// Waits for the next item; `None` once the queue is shut down and nothing more will come.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing; a wake-up that it had received is passed on.
    pub fn take(&self) -> Take<'_, T, C> {
        Take::new(self)
    }

    /// Waits until the queue was shut down and nothing is left to wait for: with [`Shutdown::Now`] at once, with [`Shutdown::Drain`]
    /// until all work in hand, and what was still handed out, has ended.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait.
    pub fn drained(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|cx| self.poll_drained(cx.waker()))
    }

    /// As [`drained`](Self::drained), by blocking the thread.
    pub fn drained_blocking(&self) {
        self.park_until_drained(|| Some(None));
    }

    /// Blocks until it is drained, or `more` says that the time is over; else it says how long to sleep at most.
    pub(crate) fn park_until_drained(&self, more: impl Fn() -> Option<Option<Duration>>) {
        let waker = unpark_current();
        while self.poll_drained(&waker).is_pending() {
            match more() {
                None => return,
                Some(None) => sync::park(),
                Some(Some(limit)) => sync::park_timeout(limit),
            }
        }
    }

    /// The item succeeded or is given up: the limiter forgets it.
    pub fn forget(&self, item: &T) {
        self.inner.lock().machine.forget(item);
    }

    /// How often the item failed in a row, as far as the limiter counts.
    #[must_use]
    pub fn failures(&self, item: &T) -> u32 {
        self.inner.lock().machine.failures(item)
    }

    /// What is in the queue.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }

    /// Takes back the delay of an item: it comes no more by itself. Whether it waited for a time. What is ready or in work stays as it is,
    /// and so does what the limiter knows ([`forget`](Self::forget)).
    pub fn cancel(&self, item: &T) -> bool {
        self.inner.lock().machine.cancel(item)
    }

    /// Gives an item that waits for a time another one, be it earlier or later; an add can only make it earlier. Whether it waited for
    /// one; if not, nothing has changed.
    pub fn reschedule(&self, item: &T, delay: Duration) -> bool {
        let now = self.inner.clock.now();
        let mut state = self.inner.lock();
        let Some(wake) = state.machine.reschedule(now, item, delay) else {
            return false;
        };
        if wake {
            let wakes = state.call(now);
            drop(state);
            wakes.wake();
        }
        true
    }

    /// Whether it was shut down, in whichever way.
    #[must_use]
    pub fn is_shutting_down(&self) -> bool {
        self.inner.lock().machine.is_shutting_down()
    }

    pub(crate) fn poll_drained(&self, waker: &Waker) -> Poll<()> {
        let mut state = self.inner.lock();
        if state.machine.is_drained() {
            return Poll::Ready(());
        }
        state.waiters.wait_drained(waker);
        Poll::Pending
    }

    /// Looks for an item until there is one or `seat` is registered and a timer guards the next delayed one.
    fn poll_next(&self, waker: &Waker, seat: &mut Seat) -> Poll<Option<Lease<T>>> {
        loop {
            let due = match self.look(seat, waker) {
                Look::Ended(lease) => return Poll::Ready(lease),
                Look::Wait(due) => due,
            };
            let Some(due) = due else {
                return Poll::Pending;
            };
            if Alarm::guard(&self.inner, due).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Takes an item, or registers `seat` under `waker` in the same moment, so that nothing falls between.
    fn look(&self, seat: &mut Seat, waker: &Waker) -> Look<T> {
        let now = self.inner.clock.now();
        let mut state = self.inner.lock();
        if let Some(taken) = state.machine.take(now) {
            seat.leave(&mut state.waiters);
            let wakes = state.call(now);
            drop(state);
            wakes.wake();
            let holder: Arc<dyn Holder<T>> = self.inner.clone();
            return Look::Ended(Some(Lease::new(
                taken.item,
                taken.ticket,
                taken.priority,
                taken.failures,
                holder,
            )));
        }
        if state.machine.is_closed() {
            seat.leave(&mut state.waiters);
            return Look::Ended(None);
        }
        seat.wait(&mut state.waiters, waker);
        Look::Wait(state.machine.poll_timeout())
    }
}

enum Look<T> {
    Ended(Option<Lease<T>>),
    /// Nothing is ready; this is when the next item is due.
    Wait(Option<Instant>),
}

impl<T: Item, C: Clock> WorkQueue<T> for Queue<T, C> {
    fn add(&self, item: T, how: AddOptions) {
        let now = self.inner.clock.now();
        let mut state = self.inner.lock();
        if state.machine.add(now, item, how) {
            let wakes = state.call(now);
            drop(state);
            wakes.wake();
        }
    }

    fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<Lease<T>>> {
        self.poll_next(cx.waker(), &mut Seat::Standing)
    }

    fn shut_down(&self, how: Shutdown) -> Vec<T> {
        let now = self.inner.clock.now();
        let mut state = self.inner.lock();
        let left = state.machine.shut_down(now, how);
        let wakes = state.waiters.all();
        drop(state);
        wakes.wake();
        left
    }

    fn len(&self) -> usize {
        let now = self.inner.clock.now();
        let mut state = self.inner.lock();
        // Who waits for what is due has a timer for it.
        state.machine.handle_timeout(now);
        state.machine.len()
    }

    fn take_blocking(&self) -> Option<Lease<T>> {
        let waker = unpark_current();
        let mut seat = Seat::default();
        loop {
            match self.look(&mut seat, &waker) {
                Look::Ended(lease) => return lease,
                Look::Wait(None) => sync::park(),
                // This thread is the timer. What it guards is taken over by another waiter when it goes (`State::call`).
                Look::Wait(Some(due)) => {
                    sync::park_timeout(due.saturating_duration_since(self.inner.clock.now()));
                }
            }
        }
    }
}

impl<T, C> Inner<T, C> {
    /// A panic of user code under the lock (a limiter, a `Hash`) leaves the machine as far as it was; the poison says nothing more.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Item, C: Clock> Inner<T, C> {
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) async fn sleep_until(&self, at: Instant) {
        self.clock.sleep_until(at).await;
    }

    /// What is in work, the longest in work first.
    pub(crate) fn running(&self) -> Vec<T> {
        self.lock().machine.running().cloned().collect()
    }

    fn stats(&self) -> Stats {
        let now = self.clock.now();
        self.lock().machine.stats(now)
    }
}

impl<T: Item, C: Clock> Holder<T> for Inner<T, C> {
    fn release(&self, ticket: Ticket, priority: i32, outcome: Outcome) {
        let now = self.clock.now();
        let mut state = self.lock();
        state.machine.done(now, ticket, priority, outcome);
        let wakes = state.call(now);
        drop(state);
        wakes.wake();
    }
}

impl<T: Item> State<T> {
    /// Whom to wake after anything but a shutdown: a worker for each item that is ready, and one to guard the next timer if nobody does;
    /// everybody if nothing more will come, or if a drain has ended.
    fn call(&mut self, now: Instant) -> Wakes {
        if self.machine.is_closed() || self.machine.is_drained() {
            return self.waiters.all();
        }
        let due = self.machine.poll_timeout();
        let unguarded = due.is_some_and(|due| !self.waiters.guards(now, due));
        self.waiters.call(self.machine.len().max(unguarded.into()))
    }
}

impl<T, C> Clone for Queue<T, C> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
        }
    }
}

impl<T, C> fmt::Debug for Queue<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Queue").field(&self.inner.lock().machine).finish()
    }
}
