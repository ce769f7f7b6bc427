//! One object, followed.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use informer_core::{
    BoxFuture, Clock, Closed, Delta, DeltaSink, Entry, ListerWatcher, NamespaceName, ObjectKey,
};

use crate::{Options, Reflector, StatusReader};

/// Follows a single object, over every failure: each state in turn, and its absence.
///
/// States are skipped only where the server skipped them. An object that was replaced by another of its name is absent in between. It runs
/// while [`next`](Self::next) is awaited, and needs no task of its own. The source should bring no other objects (`fieldSelector`
/// `metadata.name`), for they are fetched and dropped.
pub struct ObjectWatch<K> {
    running: BoxFuture<'static, ()>,
    slot: Slot<K>,
    status: StatusReader,
}

impl<K: Send + Sync + 'static> ObjectWatch<K> {
    /// Follows the object of this key.
    #[track_caller]
    pub fn new<L, C>(source: L, key: ObjectKey, clock: C, options: Options) -> Self
    where
        L: ListerWatcher<Object = K> + 'static,
        C: Clock,
    {
        let slot = Slot {
            key,
            states: Arc::default(),
        };
        let reflector = Reflector::new(source, NamespaceName, slot.clone(), clock, options);
        let status = reflector.status();
        Self {
            running: Box::pin(reflector.run()),
            slot,
            status,
        }
    }

    /// The next state; `None` while the object is not there. The first call returns what there is, the others what changed.
    ///
    /// # Cancel safety
    /// Dropping the future loses no state.
    pub async fn next(&mut self) -> Option<Entry<ObjectKey, K>> {
        poll_fn(|cx| {
            loop {
                if let Some(state) = self.slot.lock().waiting.pop_front() {
                    return Poll::Ready(state);
                }
                // It takes up reading where a state was waiting.
                let over = Pin::new(&mut self.running).poll(cx);
                if self.slot.lock().waiting.is_empty() {
                    debug_assert!(over.is_pending(), "nobody closes the sink");
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Reads how it does: phase, last error, lag.
    #[must_use]
    pub fn status(&self) -> StatusReader {
        self.status.clone()
    }
}

impl<K> fmt::Debug for ObjectWatch<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectWatch")
            .field("key", &self.slot.key)
            .finish_non_exhaustive()
    }
}

type State<K> = Option<Entry<ObjectKey, K>>;

/// What is known of the object, and what of it was not told yet.
struct States<K> {
    /// `None`: nothing yet.
    last: Option<State<K>>,
    waiting: VecDeque<State<K>>,
}

impl<K> Default for States<K> {
    fn default() -> Self {
        Self {
            last: None,
            waiting: VecDeque::new(),
        }
    }
}

impl<K> States<K> {
    fn is(&mut self, state: State<K>) {
        match (&self.last, &state) {
            (Some(None), None) => return,
            (Some(Some(last)), Some(new)) if last.stamp == new.stamp => return,
            (Some(Some(last)), Some(new)) if last.stamp.uid != new.stamp.uid => self.waiting.push_back(None),
            _ => {}
        }
        self.last = Some(state.clone());
        self.waiting.push_back(state);
    }
}

struct Slot<K> {
    key: ObjectKey,
    states: Arc<Mutex<States<K>>>,
}

impl<K> Slot<K> {
    /// Nothing of others runs under the lock, so its poison says nothing.
    fn lock(&self) -> MutexGuard<'_, States<K>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Clone for Slot<K> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            states: self.states.clone(),
        }
    }
}

impl<K: Send + Sync> DeltaSink<ObjectKey, K> for Slot<K> {
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        // Without a waker: whoever takes the state polls the reflector.
        if self.lock().waiting.is_empty() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    fn push(&mut self, delta: Delta<ObjectKey, K>) {
        match delta {
            Delta::Upsert(entry, _) if entry.key == self.key => self.lock().is(Some(entry)),
            Delta::Delete { key, .. } if key == self.key => self.lock().is(None),
            Delta::Replace {
                items, unreadable, ..
            } => {
                // One that cannot be read is there all the same.
                let found = items.into_iter().rfind(|entry| entry.key == self.key);
                if found.is_some() || !unreadable.contains(&self.key) {
                    self.lock().is(found);
                }
            }
            _ => {}
        }
    }
}
