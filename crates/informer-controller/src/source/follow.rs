//! Following what a provider has: it may be absent at first, go away, and come back.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{BoxClock, Change, Clock, Key, Snapshot};
use informer_sharedinformer::{HandlerOptions, Registration};
use tokio::sync::oneshot;

use super::{
    Started,
    kind::{Followed, attach},
};
use crate::{Fault, KindProvider, Request, Watchable, contain::Contained, source::Report};

/// How long a provider that has nothing yet is left alone (controller-runtime `pkg/internal/source/kind.go`, `Start`).
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// Waits until what a provider has is in sync; no request comes from it.
pub(super) fn wait_for<Q: Key, K: Send + Sync + 'static>(
    provider: Arc<dyn KindProvider<Q, K>>,
    clock: BoxClock,
    report: Option<Report>,
) -> Started {
    let slot = Arc::new(Slot::<Q, K>::default());
    let follower = Follower::new(provider, clock, report, slot.clone());
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

/// Asks a provider, follows what it gives, and asks again when that is gone.
pub(super) struct Follower<Q: Key, K> {
    provider: Arc<dyn KindProvider<Q, K>>,
    clock: BoxClock,
    report: Option<Report>,
    slot: Arc<Slot<Q, K>>,
}

/// What is followed now, for those who ask and those who end it.
pub(super) struct Slot<Q: Key, K>(Mutex<Now<Q, K>>);

struct Now<Q: Key, K> {
    closed: bool,
    watchable: Option<Arc<dyn Watchable<Q, K>>>,
    registration: Option<Registration>,
    trouble: Option<String>,
}

impl<Q: Key, K: Send + Sync + 'static> Follower<Q, K> {
    pub(super) fn new(
        provider: Arc<dyn KindProvider<Q, K>>,
        clock: BoxClock,
        report: Option<Report>,
        slot: Arc<Slot<Q, K>>,
    ) -> Self {
        Self {
            provider,
            clock,
            report,
            slot,
        }
    }

    /// Follows it for ever, whatever panics in what it follows; tells when it is in sync for the first time.
    pub(super) async fn follow<R: Request>(
        &self,
        feed: &Followed<Q, K, R>,
        options: HandlerOptions,
        tell: oneshot::Sender<()>,
    ) {
        let tell = Mutex::new(Some(tell));
        // What was followed is followed until there is something else: nothing is lost meanwhile.
        while let Err(panic) = Contained(Box::pin(self.follow_on(feed, &options, &tell))).await {
            self.panicked(&panic).await;
        }
    }

    async fn follow_on<R: Request>(
        &self,
        feed: &Followed<Q, K, R>,
        options: &HandlerOptions,
        tell: &Mutex<Option<oneshot::Sender<()>>>,
    ) {
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
            let first = tell.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(tell) = first {
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
            // The call itself is inside the future, so that a panic of it is one of the future's.
            match Contained(Box::pin(async { self.provider.open().await })).await {
                Err(panic) => self.panicked(&panic).await,
                Ok(Ok(watchable)) => {
                    self.slot.lock().watchable = Some(watchable.clone());
                    return watchable;
                }
                Ok(Err(error)) => {
                    let kind = self.provider.resource();
                    tracing::warn!(%kind, error = &*error, "Cannot watch the kind yet: is its definition installed?");
                    self.pause(error.to_string()).await;
                }
            }
        }
    }

    /// Foreign code panicked: it is asked again later.
    async fn panicked(&self, panic: &str) {
        let why = format!("it panicked: {panic}");
        if let Some(report) = &self.report {
            report(Fault::Panicked(Some(ASK_AGAIN)), (&*why).into());
        }
        self.pause(why).await;
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
        if now.closed {
            return false;
        }
        let before = now.registration.replace(registration.clone());
        drop(now);
        // Already gone, as a rule.
        if let Some(before) = before {
            before.remove();
        }
        true
    }

    fn set_trouble(&self, trouble: Option<String>) {
        self.lock().trouble = trouble;
    }

    pub(super) fn trouble(&self) -> Option<String> {
        let (trouble, watchable) = {
            let now = self.lock();
            (now.trouble.clone(), now.watchable.clone())
        };
        trouble.or_else(|| watchable?.trouble())
    }

    pub(super) fn close(&self) {
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
