//! Requests from the changes of a shared informer.

use std::{error::Error, fmt, marker::PhantomData, sync::Arc};

use informer_core::{Change, Key};
use informer_sharedinformer::{HandlerOptions, SharedInformer};
use informer_workqueue::{AddOptions, WorkQueue};

use crate::{Mapper, Predicate, Request, Source, Started};

/// The priority of what is not news: initial objects, resyncs, updates that changed nothing (controller-runtime `handler.LowPriority`).
pub const LOW_PRIORITY: i32 = -100;

/// The changes of a shared informer that pass a predicate, mapped to requests. The informer must be run by somebody.
///
/// Initial objects, resyncs and updates with an unchanged version are enqueued at [`LOW_PRIORITY`], all else at 0.
pub struct InformerSource<Q: Key, K, M, R, P = ()> {
    informer: SharedInformer<Q, K>,
    mapper: M,
    predicate: P,
    options: HandlerOptions,
    _request: PhantomData<fn() -> R>,
}

impl<Q: Key, K, M: Mapper<Q, K, R>, R> InformerSource<Q, K, M, R> {
    /// All changes.
    pub fn new(informer: &SharedInformer<Q, K>, mapper: M) -> Self {
        Self {
            informer: informer.clone(),
            mapper,
            predicate: (),
            options: HandlerOptions::default(),
            _request: PhantomData,
        }
    }
}

impl<Q: Key, K, M, R, P> InformerSource<Q, K, M, R, P> {
    /// Only the changes that pass this predicate, instead of the one before.
    #[must_use]
    pub fn predicate<P2: Predicate<Q, K>>(self, predicate: P2) -> InformerSource<Q, K, M, R, P2> {
        InformerSource {
            informer: self.informer,
            mapper: self.mapper,
            predicate,
            options: self.options,
            _request: PhantomData,
        }
    }

    /// With these options for the handler: name, resync, backlog.
    #[must_use]
    pub fn options(mut self, options: HandlerOptions) -> Self {
        self.options = options;
        self
    }
}

impl<Q, K, M, R, P> Source<R> for InformerSource<Q, K, M, R, P>
where
    Q: Key,
    K: Send + Sync + 'static,
    M: Mapper<Q, K, R> + 'static,
    R: Request,
    P: Predicate<Q, K> + 'static,
{
    fn name(&self) -> Arc<str> {
        self.informer.name().into()
    }

    fn start(self: Box<Self>, queue: Arc<dyn WorkQueue<R>>) -> Result<Started, Box<dyn Error + Send + Sync>> {
        let Self {
            informer,
            mut mapper,
            predicate,
            options,
            ..
        } = *self;
        let handler = move |change: &Change<Q, K>| {
            if predicate.admits(change) {
                let how = AddOptions::default().priority(priority(change));
                mapper.map(change, &mut |request| queue.add(request, how));
            }
        };
        let registration = informer.add_handler(handler, options)?;
        let synced = {
            let registration = registration.clone();
            async move { Ok(registration.synced().await?) }
        };
        Ok(Started::new(synced).on_stop(move || registration.remove()))
    }
}

fn priority<Q, K>(change: &Change<Q, K>) -> i32 {
    match change {
        Change::Added { initial: true, .. } | Change::Resynced { .. } => LOW_PRIORITY,
        Change::Updated { old, new } if old.stamp.version == new.stamp.version => LOW_PRIORITY,
        Change::Added { .. } | Change::Updated { .. } | Change::Removed { .. } => 0,
    }
}

impl<Q: Key, K: Send + Sync + 'static, M, R, P> fmt::Debug for InformerSource<Q, K, M, R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerSource")
            .field("informer", &self.informer)
            .finish_non_exhaustive()
    }
}
