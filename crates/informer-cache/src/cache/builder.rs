//! How a cache is put together.

use std::{
    fmt,
    hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState},
    sync::Arc,
    time::Duration,
};

use informer_client::{Form, Kinds, LiveClient};
use informer_core::{BoxClock, Clock, Resource, TokioClock};
use informer_sharedinformer::{MetricsRegistry, ReflectorOptions, Trouble};

use super::Cache;
use crate::{
    error::CacheError,
    options::{KindOptions, Missing, Selecting},
};

type Hook = Arc<dyn Fn(&Resource, &Trouble) + Send + Sync>;
type Add = Box<dyn FnOnce(&Cache) -> Result<(), CacheError> + Send>;

/// As controller-runtime has it: ten hours, spread by a tenth each way.
const SYNC_PERIOD: Duration = Duration::from_secs(10 * 60 * 60);

/// What a cache and its kinds are made with.
pub(crate) struct Settings {
    pub(crate) live: LiveClient,
    pub(crate) clock: BoxClock,
    pub(crate) defaults: Selecting,
    pub(crate) missing: Missing,
    pub(crate) sync_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) metrics: Option<(MetricsRegistry, Arc<str>)>,
    pub(crate) reflector: ReflectorOptions,
    pub(crate) hook: Option<Hook>,
    sync_period: Duration,
    seed: u64,
}

impl Settings {
    pub(crate) fn live_kinds(&self) -> &Kinds {
        informer_client::ReadClient::kinds(&self.live)
    }

    /// Spread by a tenth each way, so that informers do not resync all at once: between 0.9 and 1.1 of the period, by seed, kind and
    /// namespace.
    pub(crate) fn sync_period(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        said: Option<Duration>,
    ) -> Duration {
        let mut hasher = DefaultHasher::new();
        (self.seed, resource, namespace).hash(&mut hasher);
        let thousandths = u32::try_from(hasher.finish() % 200).unwrap_or(0) + 900;
        said.unwrap_or(self.sync_period).saturating_mul(thousandths) / 1000
    }
}

/// Puts a cache together: begun by [`Cache::builder`], ended by [`build`](Self::build).
#[must_use]
pub struct CacheBuilder {
    settings: Settings,
    kinds: Vec<Add>,
}

impl CacheBuilder {
    pub(super) fn new(live: LiveClient) -> Self {
        let settings = Settings {
            live,
            clock: BoxClock::new(TokioClock),
            defaults: Selecting::default(),
            missing: Missing::default(),
            sync_timeout: Duration::from_secs(120),
            write_timeout: Duration::from_secs(30),
            metrics: None,
            reflector: ReflectorOptions::default(),
            hook: None,
            sync_period: SYNC_PERIOD,
            seed: RandomState::new().hash_one(0),
        };
        Self {
            settings,
            kinds: Vec::new(),
        }
    }

    /// A kind that is cached from the start, like this.
    pub fn kind<K: Form>(mut self, options: KindOptions<K>) -> Self {
        self.kinds.push(Box::new(|cache| cache.add(options).map(|_| ())));
        self
    }

    /// Which objects are cached of kinds whose options do not say it, and how: `DefaultNamespaces`, `DefaultLabelSelector`, `DefaultFieldSelector`,
    /// `DefaultTransform` and `DefaultEnableWatchBookmarks` of controller-runtime.
    pub fn defaults(mut self, selecting: Selecting) -> Self {
        self.settings.defaults = selecting;
        self
    }

    /// What a read does that is about a kind nobody asked for before.
    pub fn missing(mut self, missing: Missing) -> Self {
        self.settings.missing = missing;
        self
    }

    /// How often handlers are told the cached state again, where the options of a kind do not say it; ten hours by default, spread by a tenth
    /// each way. Zero is never.
    pub fn sync_period(mut self, period: Duration) -> Self {
        self.settings.sync_period = period;
        self
    }

    /// How long a read waits for a kind's first list; two minutes by default.
    pub fn sync_timeout(mut self, within: Duration) -> Self {
        self.settings.sync_timeout = within;
        self
    }

    /// How long a read waits for an own write ([`ReadYourWrites`](crate::ReadYourWrites)); half a minute by default.
    pub fn write_timeout(mut self, within: Duration) -> Self {
        self.settings.write_timeout = within;
        self
    }

    /// A clock of your own; tokio's by default.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = BoxClock::new(clock);
        self
    }

    /// Has the informers measured, under the name of this cache. Another cache of the same registry needs another name. The bytes of a store are
    /// an estimate, made when somebody looks: the JSON of 64 of its objects at most, for as many as there are.
    pub fn metrics(mut self, registry: &MetricsRegistry, name: impl Into<Arc<str>>) -> Self {
        self.settings.metrics = Some((registry.clone(), name.into()));
        self
    }

    /// How the informers list and watch.
    pub fn reflector_options(mut self, options: ReflectorOptions) -> Self {
        self.settings.reflector = options;
        self
    }

    /// Calls `hook` for everything that goes wrong in an informer and is survived (controller-runtime `DefaultWatchErrorHandler`).
    pub fn on_error(mut self, hook: impl Fn(&Resource, &Trouble) + Send + Sync + 'static) -> Self {
        self.settings.hook = Some(Arc::new(hook));
        self
    }

    /// What spreads the sync periods; random by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// The cache, which does nothing until it is started.
    ///
    /// # Errors
    /// When the options of a kind do not fit, or a kind was given twice.
    pub fn build(self) -> Result<Cache, CacheError> {
        let cache = Cache::with(self.settings);
        for add in self.kinds {
            add(&cache)?;
        }
        Ok(cache)
    }
}

impl fmt::Debug for CacheBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheBuilder")
            .field("kinds", &self.kinds.len())
            .field("defaults", &self.settings.defaults)
            .field("missing", &self.settings.missing)
            .finish_non_exhaustive()
    }
}
