//! `RestMapper`: discovery that is kept, and done anew for what it does not know.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::lock::Mutex as AsyncMutex;
use informer_core::Clock;
use informer_transport::{BoxTransport, Transport};

use super::{ApiResource, Discovery, ResolveError, UnknownResource};
use crate::{Client, Error};

/// Between two discoveries for what is not known.
const FLOOR: Duration = Duration::from_secs(5);

/// Names and kinds to resources, from a discovery that is kept (client-go `restmapper.NewDeferredDiscoveryRESTMapper`, controller-runtime
/// `apiutil.NewDynamicRESTMapper`). Clones share what is kept.
///
/// * What it knows it answers without a request.
/// * For what it does not know the server is asked once more, since kinds come with custom resource definitions; the first time at once, then
///   five seconds apart at least ([`floor`](Self::floor)). In between, what is not known is an error that says so, without a request.
/// * Those who miss at the same time share one discovery.
pub struct RestMapper {
    client: Client<BoxTransport>,
    floor: Duration,
    now: Arc<dyn Fn() -> Instant + Send + Sync>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    kept: Mutex<Kept>,
    /// Held by the one who asks the server.
    asking: AsyncMutex<()>,
}

#[derive(Default)]
struct Kept {
    discovery: Option<Arc<Discovery>>,
    /// How many discoveries there were.
    n: u64,
    /// When the last one was done for what was not known.
    missed: Option<Instant>,
}

impl RestMapper {
    /// Knows nothing yet, and asks when it is asked.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "where no clock is given, time enters here"
    )]
    pub fn new<T: Transport + 'static>(client: &Client<T>) -> Self {
        Self {
            client: Client::new(BoxTransport::new(client.shared_transport())),
            floor: FLOOR,
            now: Arc::new(Instant::now),
            shared: Arc::default(),
        }
    }

    /// The same, that leaves this much time between two discoveries for what it does not know.
    #[must_use]
    pub fn floor(mut self, floor: Duration) -> Self {
        self.floor = floor;
        self
    }

    /// The same, by this clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.now = Arc::new(move || clock.now());
        self
    }

    /// Finds a kind by what people call it, as [`Discovery::resolve`].
    ///
    /// # Errors
    /// When the server does not answer, or has no such kind now.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what is kept as it was, and lets the next one ask.
    pub async fn resolve(&self, name: &str) -> Result<ApiResource, ResolveError> {
        self.find(|discovery| discovery.resolve(name).cloned()).await
    }

    /// Finds a kind by what an object or owner reference says of itself: `apps/v1` and `Deployment`.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    ///
    /// # Cancel safety
    /// As [`resolve`](Self::resolve).
    pub async fn of_kind(&self, api_version: &str, kind: &str) -> Result<ApiResource, ResolveError> {
        self.find(|discovery| {
            let is_it =
                |it: &&ApiResource| *it.resource.kind == *kind && it.resource.api_version() == api_version;
            let found = discovery.kinds.iter().find(is_it).cloned();
            found.ok_or_else(|| UnknownResource {
                name: format!("{kind} of {api_version}"),
                near: Vec::new(),
                failures: discovery.failures.clone(),
            })
        })
        .await
    }

    /// Forgets what is kept: the next answer is of a new discovery.
    pub fn reset(&self) {
        let mut kept = self.lock();
        (kept.discovery, kept.missed) = (None, None);
    }

    async fn find(
        &self,
        look: impl Fn(&Discovery) -> Result<ApiResource, UnknownResource>,
    ) -> Result<ApiResource, ResolveError> {
        let (discovery, before) = self.kept();
        if let Some(found) = discovery.and_then(|kept| look(&kept).ok()) {
            return Ok(found);
        }
        let _alone = self.shared.asking.lock().await;
        let (discovery, now) = self.kept();
        if let Some(kept) = discovery {
            // What somebody else has asked for meanwhile counts for all who waited.
            let is_fresh = now != before || self.is_too_early();
            match look(&kept) {
                Err(unknown) if is_fresh => return Err(ResolveError::Unknown(unknown)),
                Err(_) => {}
                found => return found.map_err(ResolveError::Unknown),
            }
        }
        let fresh = self.ask().await.map_err(ResolveError::Failed)?;
        look(&fresh).map_err(ResolveError::Unknown)
    }

    async fn ask(&self) -> Result<Arc<Discovery>, Error> {
        let fresh = Arc::new(Discovery::fetch(&self.client).await?);
        let now = (self.now)();
        let mut kept = self.lock();
        let before = kept.discovery.replace(fresh.clone());
        kept.n += 1;
        // The first was for nobody's miss.
        kept.missed = before.map(|_| now);
        Ok(fresh)
    }

    fn kept(&self) -> (Option<Arc<Discovery>>, u64) {
        let kept = self.lock();
        (kept.discovery.clone(), kept.n)
    }

    fn is_too_early(&self) -> bool {
        let missed = self.lock().missed;
        missed.is_some_and(|missed| (self.now)().saturating_duration_since(missed) < self.floor)
    }

    /// What runs under the lock cannot panic half way.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for RestMapper {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            floor: self.floor,
            now: self.now.clone(),
            shared: self.shared.clone(),
        }
    }
}

impl fmt::Debug for RestMapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestMapper")
            .field("floor", &self.floor)
            .finish_non_exhaustive()
    }
}
