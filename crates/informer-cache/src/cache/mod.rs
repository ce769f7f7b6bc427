//! `Cache`: the map from kind to informer.

mod builder;
mod read;

use std::{
    any::TypeId,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_client::{Form, Kinds, LiveClient};
use informer_core::{Clock, IndexFunc, ObjectKey, Resource};
use informer_sharedinformer::{Ended, SharedInformer, Status};
use tokio::sync::watch;

pub use self::builder::CacheBuilder;
pub(crate) use self::builder::Settings;
use crate::{
    cached::Cached,
    error::{CacheError, Reason},
    options::{KindOptions, Missing},
    slot::{AnySlot, Slot},
};

/// A cache of kinds: an informer for each, started on first use or with the cache. Clones are the same cache; it stops when the last one is
/// dropped.
///
/// # One store per kind
/// A kind is listed and watched once and held in one form: that which the options of the kind say, else that which is asked for first.
/// Whoever reads it in that form shares the objects, which are never copied. Who reads it in another form is given objects that are made of
/// those that are held, through JSON, anew by each read: it costs no memory and no second watch, and as much time for each object as
/// writing and reading its JSON. Hold a kind in the form in which most is read of it. Nothing can be made of metadata, and of types that may
/// hold a part of the object only: that is an error that says so.
///
/// Handlers are of the form that is held: they are told of objects and not asked what they want.
pub struct Cache(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    state: Mutex<State>,
    life: watch::Sender<Life>,
}

/// Hears of a kind that was removed.
type RemoveHook = Arc<dyn Fn(&Resource) + Send + Sync>;

#[derive(Default)]
struct State {
    slots: BTreeMap<Resource, Arc<dyn AnySlot>>,
    hooks: Vec<RemoveHook>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Life {
    #[default]
    Idle,
    Started,
    Stopped,
}

/// How a kind of a cache is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KindStatus {
    /// The kind.
    pub resource: Resource,
    /// The form in which it is held.
    pub form: &'static str,
    /// Its informers: one, or one for each namespace.
    pub informers: Vec<Status>,
}

impl KindStatus {
    /// Whether every informer has its first list.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.informers.iter().all(|informer| informer.synced)
    }

    /// Objects in the store.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.informers.iter().map(|informer| informer.objects).sum()
    }
}

impl Cache {
    /// Begins a cache of what this client reads.
    pub fn builder(live: LiveClient) -> CacheBuilder {
        CacheBuilder::new(live)
    }

    /// A cache with the options that are the default.
    #[must_use]
    pub fn new(live: LiveClient) -> Self {
        let cache = Self::builder(live).build();
        cache.expect("it has no kinds whose options could be wrong")
    }

    fn with(settings: Settings) -> Self {
        Self(Arc::new(Inner {
            settings,
            state: Mutex::default(),
            life: watch::Sender::default(),
        }))
    }

    /// The client that it reads through.
    #[must_use]
    pub fn live(&self) -> &LiveClient {
        &self.0.settings.live
    }

    /// The kinds that are known by type.
    #[must_use]
    pub fn kinds(&self) -> &Kinds {
        self.0.settings.live_kinds()
    }

    /// The kind that an object or owner reference says it is of, registered or not: [`LiveClient::resolve`].
    ///
    /// # Errors
    /// When the server has no such kind, or could not be asked.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    pub async fn resolve(&self, api_version: &str, kind: &str) -> Result<Resource, CacheError> {
        Ok(self.live().resolve(api_version, kind).await?)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Starts it: the informers that there are now, and each later one when it is first used. Starting twice changes nothing.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(&self) {
        let state = self.lock();
        let started = self.0.life.send_if_modified(|life| {
            let idle = *life == Life::Idle;
            if idle {
                *life = Life::Started;
            }
            idle
        });
        if started {
            state.slots.values().for_each(|slot| slot.start());
        }
    }

    /// Starts it and waits until it is shut down.
    ///
    /// # Cancel safety
    /// Dropping the future leaves it running: shut it down, or drop the last clone.
    pub async fn run(&self) {
        self.start();
        let mut life = self.0.life.subscribe();
        // The sender lives as long as `self`.
        let _stopped = life.wait_for(|life| *life == Life::Stopped).await;
    }

    /// Stops every informer and waits until nothing of theirs runs. What is in the stores can be read by those who hold them.
    pub async fn shut_down(&self) -> Ended {
        let slots = {
            let mut state = self.lock();
            self.0.life.send_replace(Life::Stopped);
            std::mem::take(&mut state.slots)
        };
        let mut all = Ended::default();
        for slot in slots.values() {
            all.still_running.extend(slot.remove().await.still_running);
        }
        all
    }

    pub(crate) fn life(&self) -> Life {
        *self.0.life.borrow()
    }

    /// Adds a kind: from now on it is cached, if the cache was started.
    ///
    /// # Errors
    /// When it is cached already, the type is not registered and the options name no kind, or they do not fit.
    pub fn add<K: Form>(&self, options: KindOptions<K>) -> Result<Cached<K>, CacheError> {
        let resource = match &options.resource {
            Some(resource) => resource.clone(),
            None => self.kinds().of::<K>()?,
        };
        let mut state = self.lock();
        if state.slots.contains_key(&resource) {
            return Err(CacheError::build(format!("{resource} are cached already")));
        }
        self.make(&mut state, resource, options)
    }

    fn make<K: Form>(
        &self,
        state: &mut State,
        resource: Resource,
        options: KindOptions<K>,
    ) -> Result<Cached<K>, CacheError> {
        if self.life() == Life::Stopped {
            return Err(CacheError::new(Reason::Removed(resource)));
        }
        let slot = Arc::new(Slot::new(&self.0.settings, resource.clone(), options)?);
        state.slots.insert(resource, slot.clone());
        if self.life() == Life::Started {
            AnySlot::start(&*slot);
        }
        Ok(Cached::new(slot))
    }

    /// A kind in the form `K`, which must be that in which it is held: to add handlers, to read at the store, to wait. It is cached from now on
    /// if it was not.
    ///
    /// # Errors
    /// When the type is not registered, or the kind is held in another form.
    ///
    /// # Panics
    /// Outside a tokio runtime, if the cache was started.
    pub fn kind<K: Form>(&self) -> Result<Cached<K>, CacheError> {
        self.kind_of(&self.kinds().of::<K>()?)
    }

    /// As [`kind`](Self::kind), of a kind that need not have a type: `kind_of::<DynamicObject>(&resource)`.
    ///
    /// # Errors
    /// As [`kind`](Self::kind).
    ///
    /// # Panics
    /// As [`kind`](Self::kind).
    pub fn kind_of<K: Form>(&self, resource: &Resource) -> Result<Cached<K>, CacheError> {
        let mut state = self.lock();
        let Some(slot) = state.slots.get(resource).cloned() else {
            return self.make(&mut state, resource.clone(), KindOptions::of(resource.clone()));
        };
        drop(state);
        if slot.form() != TypeId::of::<K>() {
            return Err(CacheError::new(Reason::OtherForm {
                resource: resource.clone(),
                held: slot.form_name(),
                wanted: Slot::<K>::form_name(),
                why: "handlers and stores are of the form that is held; say another form in the options of the kind",
            }));
        }
        let slot = slot.into_any().downcast::<Slot<K>>();
        Ok(Cached::new(slot.expect("the type id was compared")))
    }

    /// The informer of a kind, which is cached from now on if it was not: what a controller takes as its source.
    ///
    /// # Errors
    /// As [`kind`](Self::kind), and where namespaces are named: they have an informer each, and [`Cached::namespaces`] sees them as one.
    ///
    /// # Panics
    /// As [`kind`](Self::kind).
    pub fn informer<K: Form>(&self) -> Result<SharedInformer<ObjectKey, K>, CacheError> {
        let kind = self.kind::<K>()?;
        kind.informer().ok_or_else(|| {
            CacheError::build(format!(
                "{} have an informer for each namespace: take `kind` and its `namespaces`",
                kind.resource()
            ))
        })
    }

    /// Adds an index of a field: lists with the field selector `field=value` are answered by it from then on. Its name is that of the field as
    /// selectors write it; the function emits the values. The kind is cached from now on if it was not.
    ///
    /// # Errors
    /// As [`kind`](Self::kind), or when the field has an index, or the function fails for an object that is there.
    ///
    /// # Panics
    /// As [`kind`](Self::kind).
    pub fn index_field<K: Form>(
        &self,
        field: &str,
        function: impl IndexFunc<K> + 'static,
    ) -> Result<(), CacheError> {
        self.kind::<K>()?.index_field(field, function)
    }

    /// Waits until every kind that is cached now has its first list, for so long at most.
    ///
    /// # Errors
    /// When some have not: which, and what each waits for.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn wait_synced(&self, within: Duration) -> Result<(), CacheError> {
        let slots: Vec<_> = self.lock().slots.values().cloned().collect();
        let clock = &self.0.settings.clock;
        let until = clock.now() + within;
        let mut missing: Vec<(String, Option<informer_core::FailureClass>)> = Vec::new();
        for slot in slots {
            let left = until.saturating_duration_since(clock.now());
            if let Err(error) = slot.all_synced(left).await {
                missing.push((error.to_string(), Some(informer_core::Classify::class(&error))));
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let texts: Vec<_> = missing.iter().map(|(text, _)| &**text).collect();
        Err(CacheError::new(Reason::NotSynced {
            message: texts.join("; "),
            class: missing[0].1,
        }))
    }

    /// Whether every kind that is cached now has its first list.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.status().iter().all(KindStatus::has_synced)
    }

    /// How each kind is, in the order of group, version and plural. One that cannot be listed says why, and stops no other.
    #[must_use]
    pub fn status(&self) -> Vec<KindStatus> {
        let slots: Vec<_> = self.lock().slots.values().cloned().collect();
        let of = |slot: &Arc<dyn AnySlot>| KindStatus {
            resource: slot.resource().clone(),
            form: slot.form_name(),
            informers: slot.status(),
        };
        slots.iter().map(of).collect()
    }

    /// Removes a kind: its informers stop, and its memory is given back once nobody holds the store. Whoever depends on it is told: every
    /// [`Cached::removed`] resolves, hooks are called, and registrations of handlers end. Whoever asks for the kind again caches it anew,
    /// without the handlers of before. `false`: it was not cached.
    pub async fn remove(&self, resource: &Resource) -> bool {
        let (slot, hooks) = {
            let mut state = self.lock();
            let Some(slot) = state.slots.remove(resource) else {
                return false;
            };
            (slot, state.hooks.clone())
        };
        let ended = slot.remove();
        for hook in hooks {
            hook(resource);
        }
        let still: Vec<_> = ended.await.still_running;
        if !still.is_empty() {
            tracing::warn!(kind = %resource, handlers = ?still, "Removed while handlers still run");
        }
        true
    }

    /// Calls `hook` when a kind is removed. It should be quick.
    pub fn on_remove(&self, hook: impl Fn(&Resource) + Send + Sync + 'static) {
        self.lock().hooks.push(Arc::new(hook));
    }

    /// The slot of a kind, to read from.
    pub(crate) fn slot<K: Form>(&self, resource: &Resource) -> Result<Arc<dyn AnySlot>, CacheError> {
        let mut state = self.lock();
        if let Some(slot) = state.slots.get(resource) {
            return match self.life() {
                Life::Idle => Err(CacheError::new(Reason::NotStarted(resource.clone()))),
                _ => Ok(slot.clone()),
            };
        }
        if self.0.settings.missing == Missing::Fail {
            return Err(CacheError::new(Reason::NotCached {
                wanted: resource.clone(),
                cached: state.slots.keys().cloned().collect(),
            }));
        }
        self.make::<K>(&mut state, resource.clone(), KindOptions::of(resource.clone()))?;
        match self.life() {
            // It stays, and starts with the cache.
            Life::Idle => Err(CacheError::new(Reason::NotStarted(resource.clone()))),
            _ => Ok(state.slots.get(resource).cloned().expect("it was made just now")),
        }
    }

    /// The slot of a kind, if it is cached.
    pub(crate) fn find(&self, resource: &Resource) -> Option<Arc<dyn AnySlot>> {
        self.lock().slots.get(resource).cloned()
    }

    /// Maps and flags change under the lock, and foreign code, which might panic, changes none of them half way.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<String> = self.lock().slots.keys().map(ToString::to_string).collect();
        f.debug_struct("Cache")
            .field("life", &self.life())
            .field("kinds", &kinds)
            .finish()
    }
}
