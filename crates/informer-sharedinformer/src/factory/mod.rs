//! One informer per kind, namespace, selectors, transform and form of object, shared by all who ask and ended by the last who lets go.

mod held;
mod selection;

use std::{
    any::{Any, TypeId},
    error::Error,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{BoxClock, BoxFuture, Clock, ListerWatcher, ObjectKey, TokioClock};
use informer_reflector::Transform;

pub use self::{held::Held, selection::Selection};
use crate::{
    error::{BuildError, NotSynced},
    informer::{Ended, Running, SharedInformer},
    status::Status,
};

/// Makes the sources of a factory: for every closure from a [`Selection`] to a [`ListerWatcher`], and for a type of yours that knows several
/// forms of object.
pub trait Sources<K>: Send + Sync {
    /// What it makes.
    type Source: ListerWatcher<Object = K> + 'static;

    /// The source of a selection.
    fn source(&self, selection: &Selection) -> Self::Source;
}

impl<F, L> Sources<L::Object> for F
where
    F: Fn(&Selection) -> L + Send + Sync,
    L: ListerWatcher + 'static,
{
    type Source = L;

    fn source(&self, selection: &Selection) -> L {
        self(selection)
    }
}

/// Shares informers (client-go `SharedInformerFactory`): who asks for the same objects in the same form gets the same informer. Clones are
/// the same factory.
///
/// Unlike client-go's it tells namespace, selectors and transform apart, and an informer ends when the last [`Held`] of it is dropped.
pub struct Factory<S>(Arc<Inner<S>>);

struct Inner<S> {
    sources: S,
    clock: BoxClock,
    resync: Duration,
    shelf: Arc<Shelf>,
}

/// What a factory has given out, in the order of the first request.
#[derive(Default)]
struct Shelf(Mutex<Contents>);

#[derive(Default)]
struct Contents {
    entries: Vec<Item>,
    last_id: u64,
    shut_down: bool,
}

struct Item {
    id: u64,
    selection: Selection,
    form: TypeId,
    /// Kept, so that its address stays its own.
    transform: Option<Arc<dyn Any + Send + Sync>>,
    /// A `SharedInformer<ObjectKey, K>` where `K` has the type id `form`.
    informer: Arc<dyn AnyInformer>,
    running: Option<Box<dyn AnyRunning>>,
    n_holders: usize,
}

/// A transform whose identity is that of the `Arc`.
pub type SharedTransform<K> = Arc<dyn Transform<K>>;

impl<S> Factory<S> {
    /// A factory whose informers do not resync.
    pub fn new(sources: S) -> Self {
        Self::with(sources, TokioClock, Duration::ZERO)
    }

    /// A factory with a clock of your own, whose informers resync this often (zero: never).
    pub fn with(sources: S, clock: impl Clock, resync: Duration) -> Self {
        Self(Arc::new(Inner {
            sources,
            clock: BoxClock::new(clock),
            resync,
            shelf: Arc::default(),
        }))
    }

    /// The informer of these objects: a new one, not started yet, or the one that there is.
    ///
    /// # Errors
    /// When the factory was shut down.
    pub fn informer<K>(&self, selection: &Selection) -> Result<Held<K>, BuildError>
    where
        S: Sources<K>,
        K: Send + Sync + 'static,
    {
        self.get(selection, None)
    }

    /// As [`informer`](Self::informer), of objects that are transformed. Another `Arc` is another transform, and so another informer.
    ///
    /// # Errors
    /// When the factory was shut down.
    pub fn transformed<K>(
        &self,
        selection: &Selection,
        transform: &Arc<impl Transform<K> + 'static>,
    ) -> Result<Held<K>, BuildError>
    where
        S: Sources<K>,
        K: Send + Sync + 'static,
    {
        let it: SharedTransform<K> = transform.clone();
        self.get(selection, Some((transform.clone(), it)))
    }

    fn get<K>(
        &self,
        selection: &Selection,
        transform: Option<(Arc<dyn Any + Send + Sync>, SharedTransform<K>)>,
    ) -> Result<Held<K>, BuildError>
    where
        S: Sources<K>,
        K: Send + Sync + 'static,
    {
        let mut shelf = self.0.shelf.lock();
        if shelf.shut_down {
            return Err(BuildError::new(format!(
                "no informer of {selection}: the factory was shut down"
            )));
        }
        let (identity, transform) = transform.unzip();
        let form = TypeId::of::<K>();
        let same = |item: &&mut Item| {
            item.form == form
                && item.selection == *selection
                && is_same(item.transform.as_ref(), identity.as_ref())
        };
        if let Some(item) = shelf.entries.iter_mut().find(same) {
            item.n_holders += 1;
            let informer = item
                .informer
                .as_any()
                .downcast_ref::<SharedInformer<ObjectKey, K>>();
            let informer = informer.expect("the type id is part of the key").clone();
            return Ok(Held::new(informer, item.id, self.0.shelf.clone()));
        }
        let mut builder = SharedInformer::builder(self.0.sources.source(selection))
            .name(selection.to_string())
            .clock(self.0.clock.clone())
            .resync(self.0.resync);
        if let Some(transform) = transform {
            builder = builder.shared_transform(transform);
        }
        let informer = builder.build()?;
        shelf.last_id += 1;
        let id = shelf.last_id;
        shelf.entries.push(Item {
            id,
            selection: selection.clone(),
            form,
            transform: identity,
            informer: Arc::new(informer.clone()),
            running: None,
            n_holders: 1,
        });
        Ok(Held::new(informer, id, self.0.shelf.clone()))
    }

    /// Starts the informers that were asked for and do not run yet, each on a task of its own. Call it again after later requests.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&self) {
        for item in &mut self.0.shelf.lock().entries {
            if item.running.is_none() {
                item.running = item.informer.spawn();
            }
        }
    }

    /// Waits until every informer that there is now is in sync, for so long at most.
    ///
    /// # Errors
    /// When some are not: which, and what each waits for.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn wait_synced(&self, within: Duration) -> Result<(), NotAllSynced> {
        let until = self.0.clock.now() + within;
        let mut missing = Vec::new();
        let informers: Vec<_> = self
            .0
            .shelf
            .lock()
            .entries
            .iter()
            .map(|item| item.informer.clone())
            .collect();
        for informer in informers {
            let left = until.saturating_duration_since(self.0.clock.now());
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

    /// How each informer is, in the order of the first requests.
    #[must_use]
    pub fn status(&self) -> Vec<Status> {
        self.0
            .shelf
            .lock()
            .entries
            .iter()
            .map(|item| item.informer.status())
            .collect()
    }

    /// Stops every informer and forbids new ones, then waits until nothing of theirs runs.
    pub async fn shut_down(&self) -> Ended {
        let items = {
            let mut shelf = self.0.shelf.lock();
            shelf.shut_down = true;
            std::mem::take(&mut shelf.entries)
        };
        items.iter().for_each(|item| item.informer.stop());
        let mut all = Ended::default();
        for running in items.into_iter().filter_map(|item| item.running) {
            all.still_running.extend(running.stop().await.still_running);
        }
        all
    }
}

fn is_same(one: Option<&Arc<dyn Any + Send + Sync>>, other: Option<&Arc<dyn Any + Send + Sync>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&self, id: u64) {
        if let Some(item) = self.lock().entries.iter_mut().find(|item| item.id == id) {
            item.n_holders += 1;
        }
    }

    fn release(&self, id: u64) {
        let mut shelf = self.lock();
        let Some(at) = shelf.entries.iter().position(|item| item.id == id) else {
            return;
        };
        shelf.entries[at].n_holders -= 1;
        if shelf.entries[at].n_holders > 0 {
            return;
        }
        let item = shelf.entries.remove(at);
        drop(shelf);
        item.informer.stop();
    }
}

/// An informer of any form of object.
trait AnyInformer: Send + Sync {
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

trait AnyRunning: Send {
    fn stop(self: Box<Self>) -> BoxFuture<'static, Ended>;
}

impl<K: Send + Sync + 'static> AnyRunning for Running<ObjectKey, K> {
    fn stop(self: Box<Self>) -> BoxFuture<'static, Ended> {
        Box::pin(Self::stop(*self))
    }
}

/// Some informers of a factory were not in sync in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAllSynced {
    missing: Vec<NotSynced>,
}

impl NotAllSynced {
    /// Each that is missing, in the order of the first requests.
    #[must_use]
    pub fn missing(&self) -> &[NotSynced] {
        &self.missing
    }
}

impl fmt::Display for NotAllSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.missing.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl Error for NotAllSynced {}

impl<S> Clone for Factory<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> fmt::Debug for Factory<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self
            .0
            .shelf
            .lock()
            .entries
            .iter()
            .map(|item| item.selection.to_string())
            .collect();
        f.debug_struct("Factory").field("informers", &names).finish()
    }
}
