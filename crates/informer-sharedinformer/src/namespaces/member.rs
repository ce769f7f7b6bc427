//! One handler of several informers: a registration with each, and the handler itself behind one lock.

use std::{
    any::Any,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use informer_core::{BoxFuture, Change, EventHandler, ObjectKey};
use tokio::sync::watch;

use crate::{AsyncHandler, Registration, SharedInformer, Stopped, listener::Progress, registration::Member};

/// Whether a handler was removed: looked at when its turn comes, since the parts wait for one another.
pub(super) type Removed = Arc<AtomicBool>;

type Join<K> = Box<dyn Fn(&SharedInformer<ObjectKey, K>) -> Result<Registration, Stopped> + Send + Sync>;

pub(super) struct Joined<K> {
    pub(super) name: Arc<str>,
    join: Join<K>,
    parts: Mutex<Parts>,
    removed: Removed,
    /// Says that it was removed.
    gone: watch::Sender<bool>,
    synced: AtomicBool,
}

#[derive(Default)]
struct Parts {
    current: Vec<(Arc<str>, Registration)>,
    /// Of namespaces that were removed and of whose end the handler is being told.
    leaving: Vec<(Arc<str>, Registration)>,
}

impl<K: Send + Sync + 'static> Joined<K> {
    pub(super) fn new(
        name: Arc<str>,
        removed: Removed,
        join: impl Fn(&SharedInformer<ObjectKey, K>) -> Result<Registration, Stopped> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            join: Box::new(join),
            parts: Mutex::default(),
            removed,
            gone: watch::Sender::default(),
            synced: AtomicBool::new(false),
        }
    }

    /// Adds the handler to the informer of a namespace.
    pub(super) fn enter(
        &self,
        namespace: &Arc<str>,
        informer: &SharedInformer<ObjectKey, K>,
    ) -> Result<(), Stopped> {
        let mut parts = self.lock();
        if !self.is_removed() {
            let registration = (self.join)(informer)?;
            parts.current.push((namespace.clone(), registration));
        }
        Ok(())
    }

    /// Tells the handler that the namespace's objects are gone; `keep` lives until it has heard of all.
    pub(super) fn leave(&self, namespace: &str, keep: impl Any + Send) {
        let mut parts = self.lock();
        parts
            .leaving
            .retain(|(_, registration)| !registration.member().has_ended());
        let at = parts.current.iter().position(|(name, _)| **name == *namespace);
        if let Some(at) = at {
            let (namespace, registration) = parts.current.remove(at);
            parts.leaving.push((namespace, registration.clone()));
            drop(parts);
            registration.member().dismiss(Box::new(keep));
        }
    }

    /// The handler is still being told of the end of a namespace that was removed.
    pub(super) fn leaving(&self, namespace: &str) -> Option<Registration> {
        let parts = self.lock();
        let mut of_it = parts.leaving.iter().filter(|(name, _)| **name == *namespace);
        let found = of_it.find(|(_, registration)| !registration.member().has_ended());
        found.map(|(_, registration)| registration.clone())
    }

    pub(super) fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Acquire)
    }

    fn all(&self) -> Vec<Registration> {
        let parts = self.lock();
        let all = parts.current.iter().chain(&parts.leaving);
        all.map(|(_, registration)| registration.clone()).collect()
    }

    fn has_synced(&self) -> bool {
        if self.synced.load(Ordering::Acquire) {
            return true;
        }
        let parts = self.lock();
        let synced = !self.is_removed() && parts.current.iter().all(|(_, part)| part.has_synced());
        if synced {
            self.synced.store(true, Ordering::Release);
        }
        synced
    }

    /// A part that is not in sync.
    fn awaited(&self) -> Option<Registration> {
        let parts = self.lock();
        let awaited = parts.current.iter().find(|(_, part)| !part.has_synced());
        awaited.map(|(_, part)| part.clone())
    }

    /// The parts' calls run without this lock.
    fn lock(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Send + Sync + 'static> Member for Joined<K> {
    fn name(&self) -> &str {
        &self.name
    }

    fn progress(&self) -> Progress {
        let mut sum = Progress {
            synced: self.has_synced(),
            ..Progress::default()
        };
        for part in self.all() {
            let part = part.member().progress();
            sum.backlog += part.backlog;
            sum.delivered += part.delivered;
            sum.merged += part.merged;
            sum.panics += part.panics;
            sum.calling |= part.calling;
        }
        sum
    }

    fn synced(&self) -> BoxFuture<'_, Result<(), Stopped>> {
        Box::pin(async {
            loop {
                if self.has_synced() {
                    return Ok(());
                }
                let Some(part) = self.awaited() else {
                    if self.is_removed() {
                        return Err(Stopped {
                            name: self.name.clone(),
                        });
                    }
                    continue;
                };
                if let Err(stopped) = part.synced().await {
                    // A namespace that was removed meanwhile is not waited for.
                    let awaited = self.awaited().is_some_and(|it| it.is_same(&part));
                    if awaited || self.is_removed() {
                        return Err(stopped);
                    }
                }
            }
        })
    }

    fn removed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // Parts that wait for this call to end must not be waited for by it.
            while !self.is_calling() {
                let all = self.all();
                match all.iter().find(|part| !part.member().has_ended()) {
                    Some(part) => part.removed().await,
                    None if self.is_removed() || !self.lock().current.is_empty() => return,
                    // There is no namespace now. The sender lives as long as `self`.
                    None => drop(self.gone.subscribe().wait_for(|gone| *gone).await),
                }
            }
        })
    }

    fn has_ended(&self) -> bool {
        self.is_removed() && self.all().iter().all(|part| part.member().has_ended())
    }

    fn is_calling(&self) -> bool {
        self.all().iter().any(|part| part.member().is_calling())
    }

    /// It is of no single informer.
    fn informer(&self) -> usize {
        0
    }

    fn remove(&self) {
        self.removed.store(true, Ordering::Release);
        self.all().iter().for_each(Registration::remove);
        self.gone.send_replace(true);
    }

    fn dismiss(&self, keep: Box<dyn Any + Send>) {
        // Of one informer's handlers only, whose registrations are of another kind.
        drop(keep);
        self.remove();
    }
}

/// A handler as each part calls it.
pub(super) struct Shared<H> {
    handler: Arc<Mutex<H>>,
    removed: Removed,
}

impl<H> Shared<H> {
    pub(super) fn new(handler: H, removed: Removed) -> Self {
        Self {
            handler: Arc::new(Mutex::new(handler)),
            removed,
        }
    }
}

impl<H> Clone for Shared<H> {
    fn clone(&self) -> Self {
        Self {
            handler: self.handler.clone(),
            removed: self.removed.clone(),
        }
    }
}

impl<K, H: EventHandler<ObjectKey, K>> EventHandler<ObjectKey, K> for Shared<H> {
    fn on_change(&mut self, change: &Change<ObjectKey, K>) {
        // After a panic it goes on: what it left half done is its own.
        let mut handler = self.handler.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.removed.load(Ordering::Acquire) {
            handler.on_change(change);
        }
    }
}

/// An asynchronous handler as each part calls it.
pub(super) struct SharedAsync<H> {
    handler: Arc<tokio::sync::Mutex<H>>,
    removed: Removed,
}

impl<H> SharedAsync<H> {
    pub(super) fn new(handler: H, removed: Removed) -> Self {
        Self {
            handler: Arc::new(tokio::sync::Mutex::new(handler)),
            removed,
        }
    }
}

impl<H> Clone for SharedAsync<H> {
    fn clone(&self) -> Self {
        Self {
            handler: self.handler.clone(),
            removed: self.removed.clone(),
        }
    }
}

impl<K, H> AsyncHandler<ObjectKey, K> for SharedAsync<H>
where
    K: Send + Sync,
    H: AsyncHandler<ObjectKey, K>,
{
    async fn on_change(&mut self, change: Change<ObjectKey, K>) {
        let mut handler = self.handler.lock().await;
        if !self.removed.load(Ordering::Acquire) {
            handler.on_change(change).await;
        }
    }
}
