//! `KubeEvents`: an informer as a kube watcher.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use informer_core::{BoxFuture, Change, ObjectKey};
use informer_sharedinformer::{HandlerOptions, Registration, SharedInformer, Stopped, Subscription};
use kube::runtime::watcher::{self, Event};

use super::{Mirror, Shared};

/// What an informer offers to programs that use kube-runtime.
///
/// ```
/// use informer_client::{Client, Selectors};
/// use informer_kube::{KubeClientExt, KubeInformerExt, KubeTransport};
/// use informer_sharedinformer::SharedInformer;
/// use k8s_openapi::api::core::v1::Pod;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = informer_apiserver::Server::start(Default::default()).await?;
/// # let client = kube::Client::try_from(kube::Config::new(server.url().parse()?))?;
/// let source = Client::new(KubeTransport::new(client)).kube::<Pod>().source(Selectors::all());
/// let pods = SharedInformer::builder(source).build()?;
/// let mirror = pods.kube_store(())?;
/// // What reads a kube store reads this one; it holds the informer's objects.
/// let store = mirror.store();
/// let running = pods.spawn()?;
/// tokio::select! {
///     () = mirror => {} // Run it for as long as the store is wanted: here, until it is ready.
///     ready = store.wait_until_ready() => ready?,
/// }
/// assert!(store.is_empty());
/// # running.stop().await;
/// # Ok(())
/// # }
/// ```
pub trait KubeInformerExt<K: Send + Sync + 'static> {
    /// Its objects as the events of a kube watcher, for `reflector`, `WatchStreamExt`, and `Controller::for_stream`.
    ///
    /// # Errors
    /// When the informer has stopped.
    fn kube_events(&self, options: HandlerOptions) -> Result<KubeEvents<K>, Stopped>;

    /// A kube store that follows the informer, and what has to be run for that.
    ///
    /// # Errors
    /// When the informer has stopped.
    fn kube_store(&self, dynamic: K::DynamicType) -> Result<Mirror<K>, Stopped>
    where
        K: kube::Resource<DynamicType: Eq + std::hash::Hash + Clone> + Clone;
}

impl<K: Send + Sync + 'static> KubeInformerExt<K> for SharedInformer<ObjectKey, K> {
    fn kube_events(&self, options: HandlerOptions) -> Result<KubeEvents<K>, Stopped> {
        self.subscribe(options).map(KubeEvents::new)
    }

    fn kube_store(&self, dynamic: K::DynamicType) -> Result<Mirror<K>, Stopped>
    where
        K: kube::Resource<DynamicType: Eq + std::hash::Hash + Clone> + Clone,
    {
        let name = HandlerOptions::named("kube store");
        Ok(Mirror::new(self.kube_events(name)?, dynamic))
    }
}

/// The changes of an informer as the events of a kube watcher: `Init`, an `InitApply` for each object, `InitDone` when all were told, then
/// `Apply` and `Delete`.
///
/// It differs from a watcher's stream for the better: it never fails, since the informer retries; `Init` comes once, since a relist arrives as
/// what it changed; an object that vanished unseen arrives as a `Delete`; and one that was replaced by another of its name as `Delete`, then
/// `Apply`. It ends when the informer stops.
pub struct KubeEvents<K: Send + Sync + 'static> {
    subscription: Subscription<ObjectKey, K>,
    phase: Phase<K>,
}

enum Phase<K> {
    /// `Init` is to come.
    New,
    /// The initial objects are told.
    Initial(BoxFuture<'static, Result<(), Stopped>>),
    /// `InitDone` was just told, and this comes next.
    Held(Change<ObjectKey, K>),
    Following,
}

type Item<K> = watcher::Result<Event<Shared<K>>>;

impl<K: Send + Sync + 'static> KubeEvents<K> {
    fn new(subscription: Subscription<ObjectKey, K>) -> Self {
        Self {
            subscription,
            phase: Phase::New,
        }
    }

    /// The registration with the informer: sync, backlog, removal.
    #[must_use]
    pub fn registration(&self) -> Registration {
        self.subscription.registration()
    }

    fn poll_initial(&mut self, cx: &mut Context<'_>) -> Poll<Option<Item<K>>> {
        let Phase::Initial(synced) = &mut self.phase else {
            unreachable!("only called in that phase");
        };
        match self.subscription.poll_change(cx) {
            Poll::Ready(Some(Change::Added { new, initial: true })) => {
                Poll::Ready(Some(Ok(Event::InitApply(new.object.into()))))
            }
            // The initial objects come first, so they were all told.
            Poll::Ready(Some(change)) => {
                self.phase = Phase::Held(change);
                Poll::Ready(Some(Ok(Event::InitDone)))
            }
            Poll::Ready(None) => Poll::Ready(None),
            // That nothing more is there says that everything told was handled: it may have been the last.
            Poll::Pending => match synced.as_mut().poll(cx) {
                Poll::Ready(Ok(())) => {
                    self.phase = Phase::Following;
                    Poll::Ready(Some(Ok(Event::InitDone)))
                }
                Poll::Ready(Err(_)) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

fn event<K>(change: Change<ObjectKey, K>) -> Event<Shared<K>> {
    match change {
        Change::Added { new, .. } | Change::Updated { new, .. } => Event::Apply(new.object.into()),
        Change::Resynced { current } => Event::Apply(current.object.into()),
        Change::Removed { last, .. } => Event::Delete(last.object.into()),
    }
}

impl<K: Send + Sync + 'static> Stream for KubeEvents<K> {
    type Item = Item<K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item<K>>> {
        let this = self.get_mut();
        match std::mem::replace(&mut this.phase, Phase::Following) {
            Phase::New => {
                let registration = this.subscription.registration();
                this.phase = Phase::Initial(Box::pin(async move { registration.synced().await }));
                Poll::Ready(Some(Ok(Event::Init)))
            }
            Phase::Held(change) => Poll::Ready(Some(Ok(event(change)))),
            Phase::Following => {
                let polled = this.subscription.poll_change(cx);
                polled.map(|change| change.map(|change| Ok(event(change))))
            }
            initial @ Phase::Initial(_) => {
                this.phase = initial;
                this.poll_initial(cx)
            }
        }
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for KubeEvents<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeEvents")
            .field("subscription", &self.subscription)
            .finish_non_exhaustive()
    }
}
