//! How an informer is put together.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use informer_core::{
    BoxClock, Clock, DeltaQueue, EventHandler, Handle, IndexFunc, Key, KeyFunc, ListerWatcher, ObjectKey,
    Store, StoreWriter, TokioClock,
};
use informer_reflector::{Options, Transform};
use informer_store::{Indexers, Reader};

use crate::{
    error::{BuildError, Trouble},
    informer::SharedInformer,
    listed::Listed,
    metrics::{InformerId, Meter, MetricsRegistry},
    pump::Pump,
    queue::QueueKind,
    resync::Resyncs,
    retry::LastWord,
    shared::{Parts, Shared},
    source::{Sink, Source, SourceContext},
    weight::{Weigh, estimate},
};

type Hook = Arc<dyn Fn(&Trouble) + Send + Sync>;
type StoreParts<Q, K> = (Box<dyn StoreWriter<Q, K>>, Arc<dyn Store<Q, K>>);

/// Puts an informer together: begun by [`SharedInformer::builder`] or [`SharedInformer::fed_by`], ended by [`build`](Self::build).
pub struct Builder<Q, K, S> {
    source: S,
    name: Option<Arc<str>>,
    indexers: Indexers<K>,
    queue: Option<QueueKind<Q, K>>,
    store: Option<StoreParts<Q, K>>,
    clock: BoxClock,
    resync: Option<Duration>,
    hooks: Vec<Hook>,
    measured: Option<(MetricsRegistry, InformerId)>,
    weigh: Option<Weigh<K>>,
    /// A call that came too late.
    refused: Option<BuildError>,
}

impl<Q: Key, K: Send + Sync + 'static, S> Builder<Q, K, S> {
    pub(crate) fn new(source: S) -> Self {
        Self {
            source,
            name: None,
            indexers: Indexers::new(),
            queue: None,
            store: None,
            clock: BoxClock::new(TokioClock),
            resync: None,
            hooks: Vec::new(),
            measured: None,
            weigh: None,
            refused: None,
        }
    }

    /// Its name in status, logs and errors; `informer` by default. Usually the plural of its kind.
    #[must_use]
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds an index: a closure that emits the values under which an object stands, or any [`IndexFunc`].
    #[must_use]
    pub fn index(mut self, name: impl Into<Arc<str>>, function: impl IndexFunc<K> + 'static) -> Self {
        self.indexers = self.indexers.with(name, function);
        self
    }

    /// Which queue joins source and store; in order by default.
    #[must_use]
    pub fn queue(mut self, queue: QueueKind<Q, K>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// A store of your own: its writing side, and its reading side. It brings its own indices.
    #[must_use]
    pub fn store(mut self, writer: impl StoreWriter<Q, K> + 'static, reader: Arc<dyn Store<Q, K>>) -> Self {
        self.store = Some((Box::new(writer), reader));
        self
    }

    /// A clock of your own; tokio's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = BoxClock::new(clock);
        self
    }

    /// How often handlers are told the cached state again, if they say nothing else; never by default, and then none can ask for it. Zero
    /// is never.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Has it measured by the registry's provider, under a name that no other informer of the registry has while this one is not stopped.
    #[must_use]
    pub fn metrics(mut self, registry: &MetricsRegistry, id: InformerId) -> Self {
        self.measured = Some((registry.clone(), id));
        self
    }

    /// Tells those who measure it what an object weighs, in bytes. They are told an estimate of all from a sample of 64 at most, when they ask:
    /// it costs nothing meanwhile.
    #[must_use]
    pub fn weigh(self, weigh: impl Fn(&K) -> u64 + Send + Sync + 'static) -> Self {
        self.weigh_by(Arc::new(weigh))
    }

    pub(crate) fn weigh_by(mut self, weigh: Weigh<K>) -> Self {
        self.weigh = Some(weigh);
        self
    }

    /// Calls `hook` for everything that goes wrong and is survived, beside those that were given before. It should be quick.
    #[must_use]
    pub fn on_error(mut self, hook: impl Fn(&Trouble) + Send + Sync + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }
}

impl<K, L, F> Builder<F::Key, K, Listed<L, F>>
where
    K: Send + Sync + 'static,
    L: ListerWatcher<Object = K> + 'static,
    F: KeyFunc<K>,
{
    /// Changes each object before it is kept.
    #[must_use]
    pub fn transform(mut self, transform: impl Transform<K> + 'static) -> Self {
        self.source.transform = Some(Arc::new(transform));
        self
    }

    pub(crate) fn shared_transform(mut self, transform: Arc<dyn Transform<K>>) -> Self {
        self.source.transform = Some(transform);
        self
    }

    /// How it lists and watches. The name is that of the informer, whatever the options say.
    #[must_use]
    pub fn reflector_options(mut self, options: Options) -> Self {
        self.source.options = options;
        self
    }
}

impl<K, L, F> Builder<ObjectKey, K, Listed<L, F>>
where
    K: Send + Sync + 'static,
    L: ListerWatcher<Object = K> + 'static,
    F: KeyFunc<K, Key = ObjectKey>,
{
    /// How objects are named; by namespace and name by default. Comes before [`queue`](Self::queue) and [`store`](Self::store), which are
    /// of one type of key: else the build fails.
    #[must_use]
    pub fn key<F2>(self, key: F2) -> Builder<F2::Key, K, Listed<L, F2>>
    where
        F2: KeyFunc<K> + 'static,
    {
        let too_late = self.queue.is_some() || self.store.is_some();
        Builder {
            source: self.source.keyed(key),
            name: self.name,
            indexers: self.indexers,
            queue: None,
            store: None,
            clock: self.clock,
            resync: self.resync,
            hooks: self.hooks,
            measured: self.measured,
            weigh: self.weigh,
            refused: too_late
                .then(|| BuildError::new("the key function must be given before the queue and the store")),
        }
    }
}

impl<Q: Key, K: Send + Sync + 'static, S: Source<Q, K>> Builder<Q, K, S> {
    /// The informer, which does nothing until it is run.
    ///
    /// # Errors
    /// When the parts do not fit: two indices of one name, index functions for a store of your own, a key function that came too late, a
    /// name for metrics that is taken.
    pub fn build(self) -> Result<SharedInformer<Q, K>, BuildError> {
        self.share().map(SharedInformer::new)
    }

    /// The same for one handler alone, called in step with the store and without task or backlog.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_pump<H: EventHandler<Q, K>>(self, handler: H) -> Result<Pump<Q, K, H>, BuildError> {
        self.share().map(|shared| Pump::new(shared, handler))
    }

    fn share(self) -> Result<Shared<Q, K>, BuildError> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let name = self.name.unwrap_or_else(|| "informer".into());
        let refuse = |why: String| BuildError::new(format!("informer {name:?}: {why}"));
        let (writer, store, own): (_, _, Option<Reader<Q, K>>) = match self.store {
            None => {
                let (writer, reader) =
                    informer_store::indexed(self.indexers).map_err(|error| refuse(error.to_string()))?;
                let store: Arc<dyn Store<Q, K>> = Arc::new(reader.clone());
                (
                    Box::new(writer) as Box<dyn StoreWriter<Q, K>>,
                    store,
                    Some(reader),
                )
            }
            Some(_) if self.indexers.names().next().is_some() => {
                return Err(refuse("a store of your own brings its own indices".to_owned()));
            }
            Some((writer, store)) => (writer, store, None),
        };
        let queue: Box<dyn DeltaQueue<Q, K>> = self.queue.unwrap_or_default().into_queue(&store);
        let queue = Handle::new(queue);
        let report = reporter(name.clone(), self.hooks);
        let mut context = SourceContext::new(name.clone(), self.clock.clone(), report.clone());
        let mut measured = None;
        if let Some((registry, id)) = self.measured {
            let claim = registry.claim(&id).map_err(|error| refuse(error.to_string()))?;
            let meter = Meter::new(registry.provider().informer(&id), self.clock.clone());
            context.metrics = registry.provider().reflector(&id);
            if let Some(weigh) = self.weigh {
                // Whoever shows it must not keep the objects.
                let store = Arc::downgrade(&store);
                let bytes = move || store.upgrade().map_or(0, |store| estimate(&*store, &*weigh));
                registry.provider().store_bytes(&id, Box::new(bytes));
            }
            measured = Some((meter, claim));
        }
        let meter = measured.as_ref().map(|(meter, _)| meter.clone());
        let last_word = LastWord::default();
        let sink = Sink::new(queue.clone(), store.clone(), last_word.clone(), meter);
        let source = self.source.connect(sink, context);
        Ok(Shared::new(Parts {
            name,
            store,
            own,
            writer,
            queue,
            clock: self.clock,
            report,
            resyncs: Resyncs::new(self.resync),
            source,
            last_word,
            measured,
        }))
    }
}

/// Logs what goes wrong and tells the hooks.
fn reporter(informer: Arc<str>, hooks: Vec<Hook>) -> Arc<dyn Fn(Trouble) + Send + Sync> {
    Arc::new(move |trouble| {
        // A source reports for itself.
        if !matches!(trouble, Trouble::Source { .. }) {
            tracing::warn!(informer = &*informer, %trouble, "Trouble");
        }
        for hook in &hooks {
            // A hook that panics must not take down what it is told of.
            if catch_unwind(AssertUnwindSafe(|| hook(&trouble))).is_err() {
                tracing::error!(informer = &*informer, "An error hook panicked");
            }
        }
    })
}

impl<Q, K, S> fmt::Debug for Builder<Q, K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("name", &self.name)
            .field("indexers", &self.indexers)
            .field("resync", &self.resync)
            .finish_non_exhaustive()
    }
}
