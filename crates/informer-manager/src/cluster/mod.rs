//! A cluster: a cache and the client that reads from it.

mod kind;

use std::{fmt, sync::Arc, time::Duration};

use informer_cache::{Cache, CachedClient};
use informer_client::LiveClient;
use informer_core::{BoxClock, BoxFuture, TokioClock};
use informer_sharedinformer::Status;

use crate::{BoxError, Group, Informers, Life, Runnable, kinds};

/// One API server: a cache of its kinds, and a client that reads from the cache and writes at the server (controller-runtime's `Cluster`).
/// A manager may run several. Clones are the same cluster.
///
/// Among the caches of a manager, it is ready when each kind that it holds by then is in sync, or known to fail.
#[derive(Clone)]
pub struct Cluster {
    name: Arc<str>,
    cache: Cache,
    client: CachedClient,
}

impl Cluster {
    /// The cluster that this client reaches, cached with the options that are the default. The name is for readiness and logs; that of the
    /// only cluster may be empty.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, live: LiveClient) -> Self {
        Self::cached(name, Cache::new(live))
    }

    /// The cluster that this cache is of, which nobody else starts or shuts down.
    #[must_use]
    pub fn cached(name: impl Into<Arc<str>>, cache: Cache) -> Self {
        let client = CachedClient::new(cache.clone());
        Self {
            name: name.into(),
            cache,
            client,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its cache.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Reads from the cache, writes at the server.
    #[must_use]
    pub fn client(&self) -> &CachedClient {
        &self.client
    }

    /// Reads and writes at the server (controller-runtime's `GetAPIReader`).
    #[must_use]
    pub fn live(&self) -> &LiveClient {
        self.cache.live()
    }

    /// What its runnable is called.
    pub(crate) fn runnable_name(name: &str) -> String {
        if name.is_empty() {
            "cluster".to_owned()
        } else {
            format!("cluster/{name}")
        }
    }
}

impl Informers for Cache {
    fn statuses(&self) -> Vec<Status> {
        self.status()
            .into_iter()
            .flat_map(|kind| kind.informers)
            .collect()
    }
}

impl Informers for Cluster {
    fn statuses(&self) -> Vec<Status> {
        self.cache.statuses()
    }
}

impl Runnable for Cluster {
    fn name(&self) -> Arc<str> {
        Self::runnable_name(&self.name).into()
    }

    fn group(&self) -> Group {
        Group::Caches
    }

    fn ready(&self) -> BoxFuture<'static, ()> {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        let cache = self.cache.clone();
        let synced = async move {
            if cache.wait_synced(YEAR).await.is_err() {
                std::future::pending().await
            }
        };
        let all = Arc::new(self.cache.clone());
        Box::pin(kinds::settled(all, BoxClock::new(TokioClock), synced))
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            self.cache.start();
            // Also when this is dropped: what else stops it is the last clone.
            let stopping = Stopping(self.cache.clone());
            life.stopping().await;
            let ended = self.cache.shut_down().await;
            drop(stopping);
            for handler in ended.still_running {
                life.leave_undone(format!("handler {handler} still runs"));
            }
            Ok(())
        })
    }
}

/// Shuts a cache down when it is dropped, without waiting.
struct Stopping(Cache);

impl Drop for Stopping {
    fn drop(&mut self) {
        use std::{future::Future as _, pin::pin, task};
        // When it is first polled it takes all kinds out of the cache; they end when they are dropped.
        let mut shut_down = pin!(self.0.shut_down());
        let _ = shut_down
            .as_mut()
            .poll(&mut task::Context::from_waker(task::Waker::noop()));
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("name", &self.name)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}
