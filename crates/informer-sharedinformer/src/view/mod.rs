//! Some of an informer's objects, as if they were an informer's own.

mod store;

use std::{
    any::Any,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use informer_core::{Change, Entry, EventHandler, Key, Meta, Store};

use self::store::FilteredStore;
use crate::{
    AsyncHandler, Filter, Filtered, HandlerOptions, LabelSelector, Lister, Registration, SharedInformer,
    Stopped, Subscription,
};

type Wanted<Q, K> = Arc<dyn Fn(&Entry<Q, K>) -> bool + Send + Sync>;

/// Some of an informer's objects: handlers and store show only these. Any number of views share one informer, so that the server is asked
/// once for the superset; what it costs is the look at each object that is not wanted.
///
/// Made by [`SharedInformer::view`], or by [`Factory::view`](crate::Factory::view), where it holds a share of the informer. Clones are of the
/// same view.
pub struct View<Q: Key, K> {
    informer: SharedInformer<Q, K>,
    wanted: Wanted<Q, K>,
    /// A share in the informer.
    keep: Option<Arc<dyn Any + Send + Sync>>,
}

impl<Q: Key, K: Send + Sync + 'static> View<Q, K> {
    pub(crate) fn new(
        informer: SharedInformer<Q, K>,
        wanted: impl Fn(&Entry<Q, K>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            informer,
            wanted: Arc::new(wanted),
            keep: None,
        }
    }

    pub(crate) fn keeping(mut self, keep: impl Any + Send + Sync) -> Self {
        self.keep = Some(Arc::new(keep));
        self
    }

    /// The informer of the superset.
    #[must_use]
    pub fn informer(&self) -> &SharedInformer<Q, K> {
        &self.informer
    }

    /// A view of this view: the objects that both want.
    #[must_use]
    pub fn view(&self, wanted: impl Fn(&Entry<Q, K>) -> bool + Send + Sync + 'static) -> Self {
        let first = self.wanted.clone();
        Self {
            informer: self.informer.clone(),
            wanted: Arc::new(move |entry| first(entry) && wanted(entry)),
            keep: self.keep.clone(),
        }
    }

    /// As [`SharedInformer::add_handler`]; an object that begins to be wanted is added, one that ceases to be is removed ([`Filter`]).
    ///
    /// # Errors
    /// When the informer has stopped.
    pub fn add_handler(
        &self,
        handler: impl EventHandler<Q, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        self.informer.add_handler(self.filtered(handler), options)
    }

    /// As [`SharedInformer::add_async_handler`], of the wanted objects.
    ///
    /// # Errors
    /// When the informer has stopped.
    pub fn add_async_handler(
        &self,
        handler: impl AsyncHandler<Q, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        self.informer.add_async_handler(self.filtered(handler), options)
    }

    /// As [`SharedInformer::add_blocking_handler`], of the wanted objects.
    ///
    /// # Errors
    /// When the informer has stopped.
    pub fn add_blocking_handler(
        &self,
        handler: impl EventHandler<Q, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        self.informer
            .add_blocking_handler(self.filtered(handler), options)
    }

    fn filtered<H>(
        &self,
        handler: H,
    ) -> Filtered<Q, impl FnMut(&Entry<Q, K>) -> bool + Send + use<Q, K, H>, H> {
        let wanted = self.wanted.clone();
        Filtered::new(move |entry: &Entry<Q, K>| wanted(entry), handler)
    }

    /// As [`SharedInformer::subscribe`], of the wanted objects.
    ///
    /// # Errors
    /// When the informer has stopped.
    pub fn subscribe(&self, options: HandlerOptions) -> Result<ViewSubscription<Q, K>, Stopped> {
        let wanted = self.wanted.clone();
        Ok(ViewSubscription {
            subscription: self.informer.subscribe(options)?,
            filter: Box::new(Filter::new(Box::new(move |entry| wanted(entry)))),
        })
    }

    /// The wanted part of the store. Its `len` looks at every object.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store<Q, K>> {
        Arc::new(FilteredStore {
            store: self.informer.store(),
            wanted: self.wanted.clone(),
        })
    }

    /// The wanted part of the store, with the questions that controllers ask.
    #[must_use]
    pub fn lister(&self) -> Lister<Q, K> {
        Lister::new(self.store())
    }
}

/// The predicate of a label selector, for views and filters. `meta` reads the labels.
pub fn matching<Q, K>(
    selector: LabelSelector,
    meta: impl Meta<K> + 'static,
) -> impl Fn(&Entry<Q, K>) -> bool + Send + Sync + 'static {
    move |entry| selector.matches(|name| meta.label(&entry.object, name))
}

impl<Q: Key, K> Clone for View<Q, K> {
    fn clone(&self) -> Self {
        Self {
            informer: self.informer.clone(),
            wanted: self.wanted.clone(),
            keep: self.keep.clone(),
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static> fmt::Debug for View<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("informer", &self.informer.name())
            .finish_non_exhaustive()
    }
}

/// In a box, so that a key that must not move may stand in it.
type BoxedFilter<Q, K> = Box<Filter<Q, Box<dyn FnMut(&Entry<Q, K>) -> bool + Send>>>;

/// A view's changes, to be asked for: a [`Subscription`] through a [`Filter`].
///
/// # Cancel safety
/// Dropping the future of `next` loses no change.
pub struct ViewSubscription<Q: Key, K: Send + Sync + 'static> {
    subscription: Subscription<Q, K>,
    filter: BoxedFilter<Q, K>,
}

impl<Q: Key, K: Send + Sync + 'static> ViewSubscription<Q, K> {
    /// The next change; `None` after the end.
    pub async fn next(&mut self) -> Option<Change<Q, K>> {
        std::future::poll_fn(|cx| self.poll_change(cx)).await
    }

    /// The next change, if it is there.
    pub fn poll_change(&mut self, cx: &mut Context<'_>) -> Poll<Option<Change<Q, K>>> {
        loop {
            match self.subscription.poll_change(cx) {
                Poll::Ready(Some(change)) => {
                    if let Some(change) = self.filter.apply(change) {
                        return Poll::Ready(Some(change));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Its registration: sync, backlog, removal.
    #[must_use]
    pub fn registration(&self) -> Registration {
        self.subscription.registration()
    }
}

impl<Q: Key, K: Send + Sync + 'static> Stream for ViewSubscription<Q, K> {
    type Item = Change<Q, K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change<Q, K>>> {
        self.get_mut().poll_change(cx)
    }
}

impl<Q: Key, K: Send + Sync + 'static> fmt::Debug for ViewSubscription<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewSubscription")
            .field("subscription", &self.subscription)
            .finish_non_exhaustive()
    }
}
