//! Requests from the changes of a kind of object.

use std::{
    fmt,
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{BoxClock, Change, Clock, Key, Snapshot};
use informer_sharedinformer::{HandlerOptions, Registration, Stopped};
use tokio::{join, sync::oneshot};

use super::{EventFilter, Source, SourceContext, Started, feed::Feed};
use crate::{BoxError, Kind, KindProvider, Mapper, Predicate, Request, Watchable, kind::Origin};

/// How long a provider that has nothing yet is left alone (controller-runtime `pkg/internal/source/kind.go`, `Start`).
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// The changes of a kind that pass a predicate, mapped to requests. Informers must be run by somebody.
///
/// Initial objects, resyncs and updates with an unchanged version are enqueued at [`LOW_PRIORITY`](crate::LOW_PRIORITY), all else at 0.
/// A change whose mapping fails or panics is kept, one for each object, and tried again after 5 ms, doubling up to a minute.
///
/// A kind that a [provider](KindProvider) has may be absent at first and go away later. When it comes back, what was deleted meanwhile is
/// told as removals that were not observed.
pub struct KindSource<Q: Key, K, R> {
    kind: Kind<Q, K>,
    mapper: Box<dyn Mapper<Q, K, R>>,
    pub(crate) filter: Option<EventFilter>,
}

/// The same: the source of a shared informer.
pub type InformerSource<Q, K, R> = KindSource<Q, K, R>;

impl<Q: Key, K: Send + Sync + 'static, R> KindSource<Q, K, R> {
    /// The changes of this kind: of an informer, for example.
    pub fn new(kind: impl Into<Kind<Q, K>>, mapper: impl Mapper<Q, K, R> + 'static) -> Self {
        Self {
            kind: kind.into(),
            mapper: Box::new(mapper),
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
        let Self { kind, mapper, filter } = *self;
        let clock = context.clock.clone();
        let mut feed = Feed::new(mapper, context);
        feed.filter = filter;
        feed.meta = kind.meta;
        feed.predicate = kind.predicate;
        let feed = Arc::new(feed);
        let started = match kind.origin {
            Origin::Here(watchable) => follow_here(watchable, feed, kind.options)?,
            Origin::From(provider) => follow_provided(provider, feed, kind.options, clock),
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

type Followed<Q, K, R> = Arc<Feed<Q, K, R>>;

fn attach<Q: Key, K: Send + Sync + 'static, R: Request>(
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
        let registration = registration.clone();
        async move { Ok(registration.synced().await?) }
    };
    let (asked, told) = (watchable.clone(), feed.clone());
    Ok(Started::new(synced)
        .run(async move { feed.retry().await })
        .trouble(move || told.trouble().or_else(|| asked.trouble()))
        .on_stop(move || {
            registration.remove();
            drop(watchable);
        }))
}

/// What a provider has, for as long as it has it.
fn follow_provided<Q: Key, K: Send + Sync + 'static, R: Request>(
    provider: Arc<dyn KindProvider<Q, K>>,
    feed: Followed<Q, K, R>,
    options: HandlerOptions,
    clock: BoxClock,
) -> Started {
    let (tell, synced) = oneshot::channel();
    let slot = Arc::new(Slot::default());
    let follower = Follower {
        provider,
        clock,
        slot: slot.clone(),
    };
    let (told, asked) = (feed.clone(), slot.clone());
    Started::new(async move { synced.await.map_err(Into::into) })
        .run(async move {
            join!(feed.retry(), follower.follow(&feed, options, tell));
        })
        .trouble(move || told.trouble().or_else(|| asked.trouble()))
        .on_stop(move || slot.close())
}

/// Waits until what a provider has is in sync; no request comes from it.
pub(super) fn wait_for<Q: Key, K: Send + Sync + 'static>(
    provider: Arc<dyn KindProvider<Q, K>>,
    clock: BoxClock,
) -> Started {
    let slot = Arc::new(Slot::<Q, K>::default());
    let follower = Follower {
        provider,
        clock,
        slot: slot.clone(),
    };
    let asked = slot.clone();
    Started::new(async move {
        loop {
            let watchable = follower.open().await;
            match watchable.synced().await {
                Ok(()) => return Ok(()),
                Err(error) => follower.pause(error.to_string()).await,
            }
        }
    })
    .trouble(move || asked.trouble())
    .on_stop(move || slot.close())
}

struct Follower<Q: Key, K> {
    provider: Arc<dyn KindProvider<Q, K>>,
    clock: BoxClock,
    slot: Arc<Slot<Q, K>>,
}

/// What is followed now, for those who ask and those who end it.
struct Slot<Q: Key, K>(Mutex<Now<Q, K>>);

struct Now<Q: Key, K> {
    closed: bool,
    watchable: Option<Arc<dyn Watchable<Q, K>>>,
    registration: Option<Registration>,
    trouble: Option<String>,
}

impl<Q: Key, K: Send + Sync + 'static> Follower<Q, K> {
    async fn follow<R: Request>(
        &self,
        feed: &Followed<Q, K, R>,
        options: HandlerOptions,
        tell: oneshot::Sender<()>,
    ) {
        let mut tell = Some(tell);
        let mut before: Option<Arc<dyn Snapshot<Q, K>>> = None;
        loop {
            let watchable = self.open().await;
            let registration = match attach(&*watchable, feed, options.clone()) {
                Ok(registration) => registration,
                Err(stopped) => {
                    self.pause(stopped.to_string()).await;
                    continue;
                }
            };
            if !self.slot.follow(&registration) {
                return registration.remove();
            }
            if let Err(error) = registration.synced().await {
                self.pause(error.to_string()).await;
                continue;
            }
            self.slot.set_trouble(None);
            if let Some(before) = before.take() {
                tell_removed(&*before, &*watchable.store().snapshot(), feed);
            }
            if let Some(tell) = tell.take() {
                let _ = tell.send(());
            }
            registration.removed().await;
            if self.slot.lock().closed {
                return;
            }
            before = Some(watchable.store().snapshot());
            tracing::warn!(kind = %self.provider.resource(), "What the controller watches is gone: asking for it again");
            self.slot.set_trouble(Some("it is gone".to_owned()));
        }
    }

    /// Asks until there is something.
    async fn open(&self) -> Arc<dyn Watchable<Q, K>> {
        loop {
            match self.provider.open().await {
                Ok(watchable) => {
                    self.slot.lock().watchable = Some(watchable.clone());
                    return watchable;
                }
                Err(error) => {
                    let kind = self.provider.resource();
                    tracing::warn!(%kind, error = &*error, "Cannot watch the kind yet: is its definition installed?");
                    self.pause(error.to_string()).await;
                }
            }
        }
    }

    async fn pause(&self, why: String) {
        self.slot.set_trouble(Some(why));
        match self.clock.now().checked_add(ASK_AGAIN) {
            Some(at) => self.clock.sleep_until(at).await,
            None => std::future::pending().await,
        }
    }
}

/// Tells of what was there before and is not there now.
fn tell_removed<Q: Key, K: Send + Sync + 'static, R: Request>(
    before: &dyn Snapshot<Q, K>,
    now: &dyn Snapshot<Q, K>,
    feed: &Followed<Q, K, R>,
) {
    before.scan(None, &mut |last| {
        if now.get(&last.key).is_none() {
            feed.on_change(&Change::Removed {
                last: last.clone(),
                observed: false,
            });
        }
        ControlFlow::Continue(())
    });
}

impl<Q: Key, K> Default for Slot<Q, K> {
    fn default() -> Self {
        Self(Mutex::new(Now {
            closed: false,
            watchable: None,
            registration: None,
            trouble: None,
        }))
    }
}

impl<Q: Key, K> Slot<Q, K> {
    /// `false`: it was ended meanwhile.
    fn follow(&self, registration: &Registration) -> bool {
        let mut now = self.lock();
        if !now.closed {
            now.registration = Some(registration.clone());
        }
        !now.closed
    }

    fn set_trouble(&self, trouble: Option<String>) {
        self.lock().trouble = trouble;
    }

    fn trouble(&self) -> Option<String> {
        let (trouble, watchable) = {
            let now = self.lock();
            (now.trouble.clone(), now.watchable.clone())
        };
        trouble.or_else(|| watchable?.trouble())
    }

    fn close(&self) {
        let (registration, watchable) = {
            let mut now = self.lock();
            now.closed = true;
            (now.registration.take(), now.watchable.take())
        };
        // Foreign code may go with them.
        if let Some(registration) = registration {
            registration.remove();
        }
        drop(watchable);
    }

    fn lock(&self) -> MutexGuard<'_, Now<Q, K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
