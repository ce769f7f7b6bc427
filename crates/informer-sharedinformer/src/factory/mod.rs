//! One informer per kind, namespace, selectors, transform and form of object, shared by all who ask and ended by the last who lets go.

mod builder;
mod held;
mod selection;
mod shelf;

use std::{
    any::{Any, TypeId},
    error::Error,
    fmt,
    sync::Arc,
    time::Duration,
};

use informer_core::{BoxClock, Clock, Entry, ListerWatcher, ObjectKey};
use informer_reflector::{Options as ReflectorOptions, Transform};

pub(crate) use self::shelf::wait_all;
use self::shelf::{Contents, Item, Shelf};
pub use self::{builder::FactoryBuilder, held::Held, selection::Selection};
use crate::{
    error::{BuildError, NotSynced},
    informer::{Ended, SharedInformer},
    metrics::{InformerId, MetricsRegistry},
    namespaces::Namespaces,
    status::Status,
    view::View,
    weight::Weigh,
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
    resync_of: Option<builder::ResyncOf>,
    metrics: Option<(MetricsRegistry, Arc<str>)>,
    reflector: ReflectorOptions,
    hook: Option<builder::Hook>,
    weighs: Vec<Box<dyn Any + Send + Sync>>,
    shelf: Arc<Shelf>,
}

/// A transform whose identity is that of the `Arc`.
pub type SharedTransform<K> = Arc<dyn Transform<K>>;

impl<S> Factory<S> {
    /// A factory with tokio's clock, whose informers neither resync nor are measured.
    pub fn new(sources: S) -> Self {
        Self::builder(sources).build()
    }

    /// A factory with a clock of your own, whose informers resync this often (zero: never).
    pub fn with(sources: S, clock: impl Clock, resync: Duration) -> Self {
        Self::builder(sources).clock(clock).resync(resync).build()
    }

    /// Begins a factory.
    pub fn builder(sources: S) -> FactoryBuilder<S> {
        FactoryBuilder::new(sources)
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
        self.get(selection, Some(&SharedBy::of(transform)))
    }

    /// Those objects of a selection that are wanted, over the one informer of the selection. The view holds a share of it.
    ///
    /// # Errors
    /// When the factory was shut down.
    pub fn view<K>(
        &self,
        selection: &Selection,
        wanted: impl Fn(&Entry<ObjectKey, K>) -> bool + Send + Sync + 'static,
    ) -> Result<View<ObjectKey, K>, BuildError>
    where
        S: Sources<K>,
        K: Send + Sync + 'static,
    {
        let held = self.informer(selection)?;
        Ok(held.view(wanted).keeping(held))
    }

    /// Some namespaces of a selection, seen as one: an informer each, with the selection's selectors, shared with those who ask for that
    /// namespace alone. A namespace in the selection counts as one of them. A kind that lives in no namespace is held whole.
    ///
    /// # Errors
    /// When the factory was shut down.
    pub fn namespaces<K, N: Into<Arc<str>>>(
        &self,
        selection: &Selection,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Namespaces<K>, BuildError>
    where
        S: Sources<K> + 'static,
        K: Send + Sync + 'static,
    {
        self.joined(selection, names, None)
    }

    /// As [`namespaces`](Self::namespaces), of objects that are transformed, as by [`transformed`](Self::transformed).
    ///
    /// # Errors
    /// When the factory was shut down.
    pub fn transformed_namespaces<K, N: Into<Arc<str>>>(
        &self,
        selection: &Selection,
        names: impl IntoIterator<Item = N>,
        transform: &Arc<impl Transform<K> + 'static>,
    ) -> Result<Namespaces<K>, BuildError>
    where
        S: Sources<K> + 'static,
        K: Send + Sync + 'static,
    {
        self.joined(selection, names, Some(SharedBy::of(transform)))
    }

    fn joined<K, N: Into<Arc<str>>>(
        &self,
        selection: &Selection,
        names: impl IntoIterator<Item = N>,
        transform: Option<SharedBy<K>>,
    ) -> Result<Namespaces<K>, BuildError>
    where
        S: Sources<K> + 'static,
        K: Send + Sync + 'static,
    {
        let mut selection = selection.clone();
        let own = selection.namespace.take();
        let names = own.into_iter().chain(names.into_iter().map(Into::into));
        let factory = self.clone();
        Namespaces::new(&selection, names, move |selection| {
            factory.get(selection, transform.as_ref())
        })
    }

    fn get<K>(&self, selection: &Selection, transform: Option<&SharedBy<K>>) -> Result<Held<K>, BuildError>
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
        let form = TypeId::of::<K>();
        let identity = transform.map(|transform| &transform.identity);
        let same = |item: &&mut Item| {
            item.form == form && item.selection == *selection && is_same(item.transform.as_ref(), identity)
        };
        if let Some(item) = shelf.items.iter_mut().find(same) {
            item.n_holders += 1;
            let informer = item
                .informer
                .as_any()
                .downcast_ref::<SharedInformer<ObjectKey, K>>();
            let informer = informer.expect("the type id is part of the key").clone();
            return Ok(Held::new(informer, item.id, self.0.shelf.clone()));
        }
        let informer = self.make(&shelf, selection, transform)?;
        shelf.last_id += 1;
        let id = shelf.last_id;
        shelf.items.push(Item {
            id,
            selection: selection.clone(),
            form,
            transform: identity.cloned(),
            informer: Arc::new(informer.clone()),
            running: None,
            n_holders: 1,
        });
        Ok(Held::new(informer, id, self.0.shelf.clone()))
    }

    fn make<K>(
        &self,
        shelf: &Contents,
        selection: &Selection,
        transform: Option<&SharedBy<K>>,
    ) -> Result<SharedInformer<ObjectKey, K>, BuildError>
    where
        S: Sources<K>,
        K: Send + Sync + 'static,
    {
        let mut builder = SharedInformer::builder(self.0.sources.source(selection))
            .name(selection.to_string())
            .clock(self.0.clock.clone())
            .resync(
                self.0
                    .resync_of
                    .as_ref()
                    .map_or(self.0.resync, |of| of(selection)),
            )
            .reflector_options(self.0.reflector.clone());
        if let Some(hook) = self.0.hook.clone() {
            builder = builder.on_error(move |trouble| hook(trouble));
        }
        if let Some(transform) = transform {
            builder = builder.shared_transform(transform.transform.clone());
        }
        let mut weighs = self.0.weighs.iter().rev();
        if let Some(weigh) = weighs.find_map(|weigh| weigh.downcast_ref::<Weigh<K>>()) {
            builder = builder.weigh_by(weigh.clone());
        }
        if let Some((registry, name)) = &self.0.metrics {
            let mut part = selection.narrowed();
            // Another form or another transform of the same objects.
            if shelf.items.iter().any(|item| item.selection == *selection) {
                part.push_str(&format!(" #{}", shelf.last_id + 1));
            }
            let id = InformerId::new(name.clone(), selection.resource.clone());
            builder = builder.metrics(registry, id.part(part.trim_start()));
        }
        builder.build()
    }

    /// Starts the informers that were asked for and do not run yet, each on a task of its own. Call it again after later requests.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&self) {
        let mut shelf = self.0.shelf.lock();
        shelf.started = true;
        shelf.items.iter_mut().for_each(Item::start);
    }

    /// Waits until every informer that there is now is in sync, for so long at most.
    ///
    /// # Errors
    /// When some are not: which, and what each waits for.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn wait_synced(&self, within: Duration) -> Result<(), NotAllSynced> {
        wait_all(self.0.shelf.informers(), &self.0.clock, within).await
    }

    /// How each informer is, in the order of the first requests.
    #[must_use]
    pub fn status(&self) -> Vec<Status> {
        self.0
            .shelf
            .lock()
            .items
            .iter()
            .map(|item| item.informer.status())
            .collect()
    }

    /// Stops every informer and forbids new ones, then waits until nothing of theirs runs.
    pub async fn shut_down(&self) -> Ended {
        let items = {
            let mut shelf = self.0.shelf.lock();
            shelf.shut_down = true;
            std::mem::take(&mut shelf.items)
        };
        items.iter().for_each(|item| item.informer.stop());
        let mut all = Ended::default();
        for running in items.into_iter().filter_map(|item| item.running) {
            all.still_running.extend(running.stop().await.still_running);
        }
        all
    }
}

/// A transform, and what it is known by.
struct SharedBy<K> {
    identity: Arc<dyn Any + Send + Sync>,
    transform: SharedTransform<K>,
}

impl<K: 'static> SharedBy<K> {
    fn of(transform: &Arc<impl Transform<K> + 'static>) -> Self {
        Self {
            identity: transform.clone(),
            transform: transform.clone(),
        }
    }
}

fn is_same(one: Option<&Arc<dyn Any + Send + Sync>>, other: Option<&Arc<dyn Any + Send + Sync>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        _ => false,
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
            .items
            .iter()
            .map(|item| item.selection.to_string())
            .collect();
        f.debug_struct("Factory").field("informers", &names).finish()
    }
}
