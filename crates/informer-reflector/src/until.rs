//! Waiting for a condition on objects.

use std::{
    collections::BTreeMap,
    error::Error,
    fmt,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use informer_core::{Clock, Closed, Delta, DeltaSink, Entry, Key, KeyFunc, ListerWatcher};

use crate::{
    LastError, Options, Reflector, Status,
    race::{Alarm, First, race},
};

/// Follows `source`, over every failure, until `condition` gives an answer, for so long at most (client-go `UntilWithSync`).
///
/// The condition is asked once the whole state is there, and after each change.
///
/// # Errors
/// When it took longer. The error tells what was seen, and what failed last.
///
/// # Cancel safety
/// Dropping the future ends it; nothing runs on.
#[track_caller]
pub fn until<L, F, C, T>(
    source: L,
    key: F,
    clock: C,
    options: Options,
    within: Duration,
    condition: impl FnMut(&Seen<F::Key, L::Object>) -> Option<T> + Send,
) -> impl Future<Output = Result<T, NotReached>> + Send
where
    L: ListerWatcher,
    F: KeyFunc<L::Object>,
    C: Clock,
    T: Send,
{
    let shared = Arc::new(Mutex::new(Sought {
        seen: Seen::new(),
        answer: None,
    }));
    let seeker = Seeker {
        shared: shared.clone(),
        condition,
        asks: false,
    };
    let mut alarm = Alarm::new(clock.clone());
    alarm.set(clock.now() + within);
    let reflector = Reflector::new(source, key, seeker, clock, options);
    let status = reflector.status();
    async move {
        let mut running = pin!(reflector.run());
        // It ends when the answer is there, or time is up.
        let _: First<()> = race(running.as_mut(), &mut alarm, |_| Poll::Pending).await;
        let mut sought = lock(&shared);
        sought.answer.take().ok_or_else(|| NotReached {
            waited: within,
            objects: sought.seen.len(),
            status: Box::new(status.get()),
        })
    }
}

/// The objects that are there, by key.
#[derive(Debug)]
pub struct Seen<Q, K>(BTreeMap<Q, Entry<Q, K>>);

impl<Q: Key, K> Seen<Q, K> {
    fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The object of this key.
    #[must_use]
    pub fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        self.0.get(key)
    }

    /// All of them, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = &Entry<Q, K>> {
        self.0.values()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn apply(&mut self, delta: Delta<Q, K>) {
        match delta {
            Delta::Upsert(entry, _) => {
                self.0.insert(entry.key.clone(), entry);
            }
            Delta::Delete { key, .. } => {
                self.0.remove(&key);
            }
            Delta::Unreadable { key, .. } => self.turn_stale(&key),
            Delta::Replace {
                items, unreadable, ..
            } => {
                let mut before = std::mem::take(&mut self.0);
                self.0 = items
                    .into_iter()
                    .map(|entry| (entry.key.clone(), entry))
                    .collect();
                for key in unreadable {
                    if let Some(entry) = before.remove(&key) {
                        self.0.insert(key.clone(), entry);
                    }
                    self.turn_stale(&key);
                }
            }
            Delta::Resync | Delta::Bookmark { .. } => {}
        }
    }

    fn turn_stale(&mut self, key: &Q) {
        if let Some(entry) = self.0.get_mut(key) {
            entry.stale = true;
        }
    }
}

struct Sought<Q, K, T> {
    seen: Seen<Q, K>,
    answer: Option<T>,
}

type Shared<Q, K, T> = Arc<Mutex<Sought<Q, K, T>>>;

fn lock<Q, K, T>(shared: &Mutex<Sought<Q, K, T>>) -> MutexGuard<'_, Sought<Q, K, T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A sink that asks the condition, and is closed once there is an answer.
struct Seeker<Q, K, T, A> {
    shared: Shared<Q, K, T>,
    condition: A,
    /// The whole state is there.
    asks: bool,
}

impl<Q, K, T, A> DeltaSink<Q, K> for Seeker<Q, K, T, A>
where
    Q: Key,
    K: Send + Sync,
    T: Send,
    A: FnMut(&Seen<Q, K>) -> Option<T> + Send,
{
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        Poll::Ready(if lock(&self.shared).answer.is_some() {
            Err(Closed)
        } else {
            Ok(())
        })
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        let mut sought = lock(&self.shared);
        let changes = !matches!(delta, Delta::Resync | Delta::Bookmark { .. });
        self.asks |= matches!(delta, Delta::Replace { .. });
        if sought.answer.is_none() && changes {
            sought.seen.apply(delta);
            if self.asks {
                sought.answer = (self.condition)(&sought.seen);
            }
        }
    }
}

/// A condition did not hold in time.
#[derive(Debug, Clone)]
pub struct NotReached {
    waited: Duration,
    objects: usize,
    status: Box<Status>,
}

impl NotReached {
    /// How the reflector was then.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What failed last, if that was not made good.
    #[must_use]
    pub fn trouble(&self) -> Option<&LastError> {
        self.status.trouble()
    }

    /// How many objects were there.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.objects
    }
}

impl fmt::Display for NotReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            waited,
            objects,
            status,
        } = self;
        let Status {
            name, kind, phase, ..
        } = &**status;
        write!(
            f,
            "{name} ({kind}) does not meet the condition after {waited:?}: {phase}"
        )?;
        if status.synced {
            write!(f, ", {objects} objects")?;
        } else {
            f.write_str(", not in sync")?;
        }
        match self.trouble() {
            Some(trouble) => write!(f, ", after {trouble}"),
            None => Ok(()),
        }
    }
}

impl Error for NotReached {}
