//! Knowing when nothing is left to do: the runtime says so when it is about to park its thread.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use tokio::runtime::{Builder, Runtime};

#[derive(Debug, Default)]
struct State {
    parked: bool,
    waker: Option<Waker>,
    /// Polls of the world's own tasks that are left before it counts as a livelock.
    fuel: u64,
    exhausted: bool,
}

/// Tells the world that nothing is ready to run. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Idle(Arc<Mutex<State>>);

/// Something runs on and on while time stands still.
#[derive(Debug)]
pub(crate) struct Livelock;

/// Work that is done between two moments of virtual time is far below this.
const FUEL: u64 = 100_000;

impl Idle {
    /// A runtime on this thread that polls one task at a time, in the order in which they were woken, and has no time of its own.
    pub(crate) fn runtime(&self) -> std::io::Result<Runtime> {
        let idle = self.clone();
        Builder::new_current_thread()
            // The root is asked after every single task, so that the world can look in between.
            .event_interval(1)
            .on_thread_park(move || idle.park())
            .build()
    }

    fn park(&self) {
        let waker = {
            let mut state = self.lock();
            state.parked = true;
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Counts a poll of a task.
    pub(crate) fn burn(&self) {
        let waker = {
            let mut state = self.lock();
            state.fuel = state.fuel.saturating_sub(1);
            if state.fuel > 0 {
                return;
            }
            state.exhausted = true;
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Lets everything run until nothing is ready.
    pub(crate) async fn settle(&self) -> Result<(), Livelock> {
        {
            let mut state = self.lock();
            state.parked = false;
            state.fuel = FUEL;
            state.exhausted = false;
        }
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.exhausted {
                return Poll::Ready(Err(Livelock));
            }
            if state.parked {
                return Poll::Ready(Ok(()));
            }
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Lets this many tasks be polled, as far as some are ready.
    pub(crate) async fn run(&self, polls: u16) {
        self.lock().fuel = FUEL;
        for _ in 0..polls {
            tokio::task::yield_now().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
