//! Requests from the changes of a kind of object.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use informer_core::{Change, Key};
use informer_sharedinformer::{HandlerOptions, Registration, Stopped};
use tokio::{join, sync::oneshot};

use super::{
    EventFilter, Source, SourceContext, Started,
    feed::{Feed, Mapping},
    follow::{Follower, Slot},
};
use crate::{AsyncMapFn, BoxError, Kind, Mapper, Predicate, Request, Watchable, kind::Origin};

/// The changes of a kind that pass a predicate, mapped to requests. Informers must be run by somebody.
///
/// Initial objects, resyncs and updates with an unchanged version are enqueued at [`LOW_PRIORITY`](crate::LOW_PRIORITY), all else at 0.
/// A change whose mapping fails or panics is kept, one for each object, and tried again after 5 ms, doubling up to a minute. A mapping that
/// must wait is an [`async_map_fn`](crate::async_map_fn).
///
/// A kind that a [provider](crate::KindProvider) has may be absent at first and go away later. When it comes back, what was deleted meanwhile is
/// told as removals that were not observed.
pub struct KindSource<Q: Key, K, R> {
    kind: Kind<Q, K>,
    mapping: Mapping<Q, K, R>,
    pub(crate) filter: Option<EventFilter>,
}

/// The same: the source of a shared informer.
pub type InformerSource<Q, K, R> = KindSource<Q, K, R>;

impl<Q: Key, K: Send + Sync + 'static, R> KindSource<Q, K, R> {
    /// The changes of this kind: of an informer, for example.
    pub fn new(kind: impl Into<Kind<Q, K>>, mapper: impl Mapper<Q, K, R> + 'static) -> Self {
        Self::with(kind.into(), Mapping::Now(Mutex::new(Box::new(mapper))))
    }

    /// The same, mapped by a function that must wait: an [`async_map_fn`](crate::async_map_fn).
    pub fn new_async(kind: impl Into<Kind<Q, K>>, function: AsyncMapFn<Q, K, R>) -> Self {
        Self::with(kind.into(), Mapping::Later(function))
    }

    fn with(kind: Kind<Q, K>, mapping: Mapping<Q, K, R>) -> Self {
        Self {
            kind,
            mapping,
            filter: None,
        }
    }

    /// Only the changes that pass this predicate, instead of the one before.
    #[must_use]
    pub fn predicate(mut self, predicate: impl Predicate<Q, K> + 'static) -> Self {
        self.kind = self.kind.predicate(predicate);
        self
    }

    /// With these options for the handler: name, resync, backlog.
    #[must_use]
    pub fn options(mut self, options: HandlerOptions) -> Self {
        self.kind = self.kind.options(options);
        self
    }
}

impl<Q: Key, K: Send + Sync + 'static, R: Request> Source<R> for KindSource<Q, K, R> {
    fn name(&self) -> Arc<str> {
        self.kind.name()
    }

    fn start(self: Box<Self>, context: SourceContext<R>) -> Result<Started, BoxError> {
        let Self {
            kind,
            mapping,
            filter,
        } = *self;
        let (clock, report) = (context.clock.clone(), context.report.clone());
        let mut feed = Feed::new(mapping, context);
        feed.filter = filter;
        feed.meta = kind.meta;
        feed.predicate = kind.predicate;
        let feed = Arc::new(feed);
        let started = match kind.origin {
            Origin::Here(watchable) => follow_here(watchable, feed, kind.options)?,
            Origin::From(provider) => {
                let slot = Arc::new(Slot::default());
                let follower = Follower::new(provider, clock, report, slot.clone());
                follow_provided(follower, slot, feed, kind.options)
            }
        };
        Ok(if kind.optional {
            started.optional()
        } else {
            started
        })
    }
}

impl<Q: Key, K, R> fmt::Debug for KindSource<Q, K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindSource")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

pub(super) type Followed<Q, K, R> = Arc<Feed<Q, K, R>>;

pub(super) fn attach<Q: Key, K: Send + Sync + 'static, R: Request>(
    watchable: &dyn Watchable<Q, K>,
    feed: &Followed<Q, K, R>,
    options: HandlerOptions,
) -> Result<Registration, Stopped> {
    let feed = feed.clone();
    watchable.attach(
        Box::new(move |change: &Change<Q, K>| feed.on_change(change)),
        options,
    )
}

/// What is there already: it must be there.
fn follow_here<Q: Key, K: Send + Sync + 'static, R: Request>(
    watchable: Arc<dyn Watchable<Q, K>>,
    feed: Followed<Q, K, R>,
    options: HandlerOptions,
) -> Result<Started, BoxError> {
    let registration = attach(&*watchable, &feed, options)?;
    let synced = {
        let (registration, feed) = (registration.clone(), feed.clone());
        async move {
            registration.synced().await?;
            feed.first_tried().await;
            Ok(())
        }
    };
    let (asked, told, closed) = (watchable.clone(), feed.clone(), feed.clone());
    Ok(Started::new(synced)
        .run(async move { feed.run().await })
        .trouble(move || told.trouble().or_else(|| asked.trouble()))
        .on_stop(move || {
            registration.remove();
            closed.close();
            drop(watchable);
        }))
}

/// What a provider has, for as long as it has it.
fn follow_provided<Q: Key, K: Send + Sync + 'static, R: Request>(
    follower: Follower<Q, K>,
    slot: Arc<Slot<Q, K>>,
    feed: Followed<Q, K, R>,
    options: HandlerOptions,
) -> Started {
    let (tell, synced) = oneshot::channel();
    let (told, asked) = (feed.clone(), slot.clone());
    let (begun, closed) = (feed.clone(), feed.clone());
    Started::new(async move {
        synced.await?;
        begun.first_tried().await;
        Ok(())
    })
    .run(async move {
        join!(feed.run(), follower.follow(&feed, options, tell));
    })
    .trouble(move || told.trouble().or_else(|| asked.trouble()))
    .on_stop(move || {
        slot.close();
        closed.close();
    })
}
