//! What a factory has given out, and to how many.

use std::{
    any::{Any, TypeId},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{BoxClock, BoxFuture, Clock, ObjectKey};

use super::Selection;
use crate::{
    error::NotSynced,
    factory::NotAllSynced,
    informer::{Ended, Running, SharedInformer},
    status::Status,
};

/// In the order of the first request.
#[derive(Default)]
pub(super) struct Shelf(Mutex<Contents>);

#[derive(Default)]
pub(super) struct Contents {
    pub(super) items: Vec<Item>,
    pub(super) last_id: u64,
    /// Later informers that are part of something that runs start by themselves.
    pub(super) started: bool,
    pub(super) shut_down: bool,
}

pub(super) struct Item {
    pub(super) id: u64,
    pub(super) selection: Selection,
    pub(super) form: TypeId,
    /// Kept, so that its address stays its own.
    pub(super) transform: Option<Arc<dyn Any + Send + Sync>>,
    /// A `SharedInformer<ObjectKey, K>` where `K` has the type id `form`.
    pub(super) informer: Arc<dyn AnyInformer>,
    pub(super) running: Option<Box<dyn AnyRunning>>,
    pub(super) n_holders: usize,
}

impl Item {
    pub(super) fn start(&mut self) {
        if self.running.is_none() {
            self.running = self.informer.spawn();
        }
    }
}

impl Shelf {
    pub(super) fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn informers(&self) -> Vec<Arc<dyn AnyInformer>> {
        let items = &self.lock().items;
        items.iter().map(|item| item.informer.clone()).collect()
    }

    pub(super) fn hold(&self, id: u64) {
        if let Some(item) = self.lock().items.iter_mut().find(|item| item.id == id) {
            item.n_holders += 1;
        }
    }

    pub(super) fn release(&self, id: u64) {
        let mut shelf = self.lock();
        let Some(at) = shelf.items.iter().position(|item| item.id == id) else {
            return;
        };
        shelf.items[at].n_holders -= 1;
        if shelf.items[at].n_holders > 0 {
            return;
        }
        let item = shelf.items.remove(at);
        drop(shelf);
        item.informer.stop();
    }

    /// Starts an informer that does not run yet; with `late` only if the factory was started.
    pub(super) fn start(&self, id: u64, late: bool) {
        let mut shelf = self.lock();
        if late && !shelf.started {
            return;
        }
        if let Some(item) = shelf.items.iter_mut().find(|item| item.id == id) {
            item.start();
        }
    }
}

/// An informer of any form of object.
pub(crate) trait AnyInformer: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn spawn(&self) -> Option<Box<dyn AnyRunning>>;
    fn stop(&self);
    fn status(&self) -> Status;
    fn wait_synced(&self, within: Duration) -> BoxFuture<'_, Result<(), NotSynced>>;
}

impl<K: Send + Sync + 'static> AnyInformer for SharedInformer<ObjectKey, K> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    /// `None`: somebody runs it by hand, or it was stopped.
    fn spawn(&self) -> Option<Box<dyn AnyRunning>> {
        let running = Self::spawn(self).ok()?;
        Some(Box::new(running))
    }

    fn stop(&self) {
        Self::stop(self);
    }

    fn status(&self) -> Status {
        Self::status(self)
    }

    fn wait_synced(&self, within: Duration) -> BoxFuture<'_, Result<(), NotSynced>> {
        Box::pin(Self::wait_synced(self, within))
    }
}

pub(crate) trait AnyRunning: Send {
    fn stop(self: Box<Self>) -> BoxFuture<'static, Ended>;
}

impl<K: Send + Sync + 'static> AnyRunning for Running<ObjectKey, K> {
    fn stop(self: Box<Self>) -> BoxFuture<'static, Ended> {
        Box::pin(Self::stop(*self))
    }
}

/// Waits until all are in sync, for so long at most.
pub(crate) async fn wait_all(
    informers: Vec<Arc<dyn AnyInformer>>,
    clock: &BoxClock,
    within: Duration,
) -> Result<(), NotAllSynced> {
    let until = clock.now() + within;
    let mut missing = Vec::new();
    for informer in informers {
        let left = until.saturating_duration_since(clock.now());
        if let Err(mut error) = informer.wait_synced(left).await {
            error.waited = error.waited.map(|_| within);
            missing.push(error);
        }
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(NotAllSynced { missing })
    }
}
