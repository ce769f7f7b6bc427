//! `Tasks`: a tiny executor on one thread, stepped by the test: no runtime, no timing, the same order every time.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use informer_core::{BoxFuture, Clock as _};

use crate::ManualClock;

/// Names a task of [`Tasks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u64);

/// Runs futures on the calling thread, one poll at a time, in the order of their ids.
#[derive(Default)]
pub struct Tasks {
    tasks: BTreeMap<TaskId, BoxFuture<'static, ()>>,
    ready: Arc<Mutex<BTreeSet<TaskId>>>,
    next: u64,
}

impl Tasks {
    /// No tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task. It runs when the executor is stepped.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) -> TaskId {
        self.next += 1;
        let id = TaskId(self.next);
        self.tasks.insert(id, Box::pin(task));
        lock(&self.ready).insert(id);
        id
    }

    /// Drops a task, as aborting it would. False when it had ended.
    pub fn abort(&mut self, id: TaskId) -> bool {
        self.tasks.remove(&id).is_some()
    }

    /// Whether a task has not ended.
    #[must_use]
    pub fn is_running(&self, id: TaskId) -> bool {
        self.tasks.contains_key(&id)
    }

    /// How many tasks have not ended.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether all tasks have ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Polls until no task is ready. Returns how many polls that took.
    pub fn run_until_stalled(&mut self) -> usize {
        let mut n_polls = 0;
        loop {
            let next = lock(&self.ready).pop_first();
            let Some(id) = next else { return n_polls };
            let Some(task) = self.tasks.get_mut(&id) else {
                continue;
            };
            let waker = Waker::from(Arc::new(Ready {
                id,
                ready: self.ready.clone(),
            }));
            n_polls += 1;
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                self.tasks.remove(&id);
            }
        }
    }

    /// Polls, and whenever nothing is ready moves the clock to the next sleeper, until `done` holds, nobody sleeps, or `limit` of the
    /// clock's time has passed. Returns whether `done` held.
    pub fn run_until(
        &mut self,
        clock: &ManualClock,
        limit: Duration,
        mut done: impl FnMut() -> bool,
    ) -> bool {
        let end: Instant = clock.now() + limit;
        loop {
            self.run_until_stalled();
            if done() {
                return true;
            }
            match clock.next_sleeper() {
                Some(next) if next <= end => clock.advance_to(next),
                _ => {
                    clock.advance_to(end);
                    self.run_until_stalled();
                    return done();
                }
            }
        }
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("running", &self.tasks.len())
            .finish_non_exhaustive()
    }
}

struct Ready {
    id: TaskId,
    ready: Arc<Mutex<BTreeSet<TaskId>>>,
}

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        lock(&self.ready).insert(self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a future on this thread until it is done, sleeping between wakes.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Signal {
        woken: Mutex<bool>,
        changed: Condvar,
    }
    impl Wake for Signal {
        fn wake(self: Arc<Self>) {
            *lock(&self.woken) = true;
            self.changed.notify_one();
        }
    }
    let signal = Arc::new(Signal {
        woken: Mutex::new(true),
        changed: Condvar::new(),
    });
    let waker = Waker::from(signal.clone());
    let mut future: Pin<&mut F> = pin!(future);
    loop {
        let mut woken = lock(&signal.woken);
        while !*woken {
            woken = signal.changed.wait(woken).unwrap_or_else(PoisonError::into_inner);
        }
        *woken = false;
        drop(woken);
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
    }
}

/// Polls a future once, with a waker that does nothing.
pub fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}
