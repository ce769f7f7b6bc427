//! The run of one informer: source, pump, resync timer and the start of handlers, all in one future.

use std::{
    future::pending,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use informer_core::{Batch, Clock, Closed, Key};
use tokio::{select, task::yield_now};

use crate::{
    Ended, Trouble,
    retry::LastWord,
    shared::Shared,
    source::{Connected, Sink},
};

/// Deltas that are committed in one step.
const BATCH: usize = 1000;

/// How long a stop waits for calls that run, before it names them instead.
const GRACE: Duration = Duration::from_millis(100);

/// Ends the run also when its future is dropped, polled or not.
struct Guard<Q: Key, K: Send + Sync + 'static>(Arc<Shared<Q, K>>);

impl<Q: Key, K: Send + Sync + 'static> Drop for Guard<Q, K> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Runs until the informer is stopped. `tell` is called after each step of the store: a pump's handler, which has no task of its own.
pub(crate) fn run<Q: Key, K: Send + Sync + 'static>(
    shared: Arc<Shared<Q, K>>,
    source: Connected,
    tell: impl FnMut() + Send,
) -> impl Future<Output = Ended> + Send {
    let guard = Guard(shared.clone());
    async move {
        let mut life = shared.life.subscribe();
        select! {
            biased;
            _ = life.wait_for(|life| life.stopped) => {}
            () = serve(&shared) => {}
            () = feed(&shared, source) => {}
            () = pump(&shared, tell) => {}
            () = resync(&shared) => {}
        }
        drop(guard);
        leave(&shared).await
    }
}

/// Starts handlers as they come.
async fn serve<Q: Key, K: Send + Sync + 'static>(shared: &Shared<Q, K>) {
    loop {
        for (_, job) in shared.take_jobs() {
            if let Err(error) = job.start() {
                // Its mailbox closed with it, so nobody waits for it.
                tracing::error!(informer = &*shared.name, %error, "No thread for a handler");
            }
        }
        shared.jobs.notified().await;
    }
}

/// Runs the source. When it ends by itself the informer goes on with what it has.
async fn feed<Q: Key, K: Send + Sync + 'static>(shared: &Shared<Q, K>, source: Connected) {
    source.run.await;
    if !shared.queue.is_closed() {
        (shared.report)(Trouble::SourceEnded);
    }
    pending().await
}

/// From the queue to the store and the handlers.
async fn pump<Q: Key, K: Send + Sync + 'static>(shared: &Shared<Q, K>, mut tell: impl FnMut() + Send) {
    let mut batch = Batch::default();
    loop {
        while !shared.has_room() {
            shared.room.notified().await;
        }
        let (retry_at, blocked) = shared.next_retry();
        select! {
            biased;
            () = until(shared, retry_at) => shared.retry(&mut batch),
            popped = shared.queue.pop(&mut batch, BATCH), if !blocked => match popped {
                Ok(()) => shared.process(&mut batch),
                Err(Closed) => return,
            },
        }
        tell();
        yield_now().await;
    }
}

async fn until<Q: Key, K: Send + Sync + 'static>(shared: &Shared<Q, K>, at: Option<Instant>) {
    match at {
        Some(at) => shared.clock.sleep_until(at).await,
        None => pending().await,
    }
}

/// Repeats the cached state when handlers are due.
async fn resync<Q: Key, K: Send + Sync + 'static>(shared: &Shared<Q, K>) {
    let mut life = shared.life.subscribe();
    if life.wait_for(|life| life.synced).await.is_err() {
        return pending().await;
    }
    let mut sink = Sink::new(
        shared.queue.clone(),
        shared.store.clone(),
        LastWord::default(),
        None,
    );
    while let Some(at) = shared.next_resync() {
        shared.clock.sleep_until(at).await;
        shared.resync(&mut sink);
    }
    pending().await
}

/// Waits a moment for calls that run, then says which still do.
async fn leave<Q: Key, K: Send + Sync + 'static>(shared: &Shared<Q, K>) -> Ended {
    let members = shared.members();
    let all = async {
        for member in &members {
            // The sender lives in the mailbox, so this cannot fail.
            let _ = member.marks().wait_for(|marks| marks.ended).await;
        }
    };
    let mut all = pin!(all);
    let until = shared.clock.now() + GRACE;
    select! {
        biased;
        () = &mut all => {}
        () = shared.clock.sleep_until(until) => {}
    }
    let running = members.iter().filter(|member| !member.has_ended());
    Ended {
        still_running: running.map(|member| member.name.clone()).collect(),
    }
}
