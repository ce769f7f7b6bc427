//! Several namespaces seen as one, each with an informer of its own that is shared with whoever else wants that namespace.

mod lister;
mod member;
mod store;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use informer_core::{EventHandler, IndexError, IndexFunc, ObjectKey, Scope, Store};

pub use self::{
    lister::{NamespacesLister, NotCovered},
    store::{PartSnapshot, Show, Visit, in_key_order},
};
use self::{
    member::{Joined, Removed, Shared, SharedAsync},
    store::{Part, UnionStore},
};
use crate::{
    AsyncHandler, BuildError, HandlerOptions, Held, NotAllSynced, Registration, Selection, SharedInformer,
    Status, Stopped, factory::wait_all, registration::Member,
};

type Make<K> = Box<dyn Fn(&Selection) -> Result<Held<K>, BuildError> + Send + Sync>;

/// Some namespaces of a kind, seen as one: made by [`Factory::namespaces`](crate::Factory::namespaces).
///
/// Each has its own list and watch, so that rights for these namespaces are enough. Namespaces come and go while it runs: the store shows
/// them from then on, and handlers are told of the objects of one that comes, as additions, and of those of one that goes, as removals that
/// were not observed. A kind that lives in no namespace is covered whole, whatever namespaces are named.
///
/// The empty name beside others stands for all the other namespaces: one more list and watch, of everything outside those that were named
/// when this was made, so that each object is held once. Those that were not named are covered as long as it is there.
///
/// Clones are the same. The informers stop when the last clone is dropped and nobody else holds them.
pub struct Namespaces<K>(Arc<Inner<K>>);

struct Inner<K> {
    /// In no namespace.
    selection: Selection,
    name: Arc<str>,
    make: Make<K>,
    store: Arc<UnionStore<K>>,
    /// What the part under the empty name leaves out, where that stands for all the others.
    others: Option<BTreeSet<Arc<str>>>,
    state: Mutex<State<K>>,
}

struct State<K> {
    parts: BTreeMap<Arc<str>, Held<K>>,
    members: Vec<Arc<Joined<K>>>,
    indices: Vec<(Arc<str>, Arc<dyn IndexFunc<K>>)>,
    last_id: u64,
}

impl<K: Send + Sync + 'static> Namespaces<K> {
    pub(crate) fn new<N: Into<Arc<str>>>(
        selection: &Selection,
        names: impl IntoIterator<Item = N>,
        make: impl Fn(&Selection) -> Result<Held<K>, BuildError> + Send + Sync + 'static,
    ) -> Result<Self, BuildError> {
        let mut names: Vec<Arc<str>> = names.into_iter().map(Into::into).collect();
        let others = if selection.resource.scope == Scope::Cluster {
            names = vec!["".into()];
            None
        } else {
            let named = names.iter().filter(|name| !name.is_empty()).cloned().collect();
            names.iter().any(|name| name.is_empty()).then_some(named)
        };
        let inner = Inner {
            selection: selection.clone(),
            name: selection.to_string().into(),
            make: Box::new(make),
            store: Arc::new(UnionStore::new()),
            others,
            state: Mutex::new(State {
                parts: BTreeMap::new(),
                members: Vec::new(),
                indices: Vec::new(),
                last_id: 0,
            }),
        };
        let it = Self(Arc::new(inner));
        let mut state = it.lock();
        for name in names {
            it.enter(&mut state, name)?;
        }
        drop(state);
        Ok(it)
    }

    /// Its name in errors: the kind, and what narrows it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The namespaces, by name; none for a kind that lives in no namespace.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        let state = self.lock();
        let names = state.parts.keys().filter(|name| !name.is_empty());
        names.cloned().collect()
    }

    /// Whether objects of this namespace, or without one, are among those that are held.
    #[must_use]
    pub fn covers(&self, namespace: Option<&str>) -> bool {
        self.is_cluster_wide()
            || namespace.is_some_and(|name| !name.is_empty() && self.part_of(&self.lock(), name).is_some())
    }

    /// Under which name the objects of a namespace are held.
    fn part_of(&self, state: &State<K>, namespace: &str) -> Option<Arc<str>> {
        let other = || match &self.0.others {
            Some(named) if !named.contains(namespace) => state.parts.get_key_value(""),
            _ => None,
        };
        let found = state.parts.get_key_value(namespace).or_else(other);
        found.map(|(name, _)| name.clone())
    }

    /// Adds a namespace, and starts its informer if the factory was started. Handlers are told of its objects as initial adds. `false`: it
    /// was there, or is covered as all or all the others are. Where a handler is still being told that the same namespace is gone, this
    /// waits for it. The empty name is for the beginning only.
    ///
    /// # Errors
    /// When the factory was shut down, or an index cannot be added.
    ///
    /// # Panics
    /// Outside a tokio runtime, if the factory was started.
    ///
    /// # Cancel safety
    /// Dropping the future while it waits adds nothing.
    pub async fn add(&self, namespace: impl Into<Arc<str>>) -> Result<bool, BuildError> {
        let namespace = namespace.into();
        if self.is_cluster_wide() {
            return Ok(false);
        }
        loop {
            let leaving = {
                let mut state = self.lock();
                if self.part_of(&state, &namespace).is_some() {
                    return Ok(false);
                }
                let leaving = state.members.iter().find_map(|member| member.leaving(&namespace));
                match leaving {
                    Some(leaving) => leaving,
                    None => {
                        return self.enter(&mut state, namespace).map(|()| true);
                    }
                }
            };
            leaving.removed().await;
        }
    }

    /// Removes a namespace: its objects are out of the store when this returns, and handlers are told so. Its informer stops after that
    /// if nobody else holds it. `false`: it was not there.
    pub fn remove(&self, namespace: &str) -> bool {
        let (held, members) = {
            let mut state = self.lock();
            if self.is_cluster_wide() {
                return false;
            }
            let Some(held) = state.parts.remove(namespace) else {
                return false;
            };
            self.show(&state);
            // Before anybody can add it again.
            for member in &state.members {
                member.leave(namespace, held.clone());
            }
            (held, state.members.clone())
        };
        // Informers, handlers: foreign code may go with them.
        drop((held, members));
        true
    }

    fn enter(&self, state: &mut State<K>, namespace: Arc<str>) -> Result<(), BuildError> {
        if state.parts.contains_key(&namespace) {
            return Ok(());
        }
        let mut selection = self.0.selection.clone();
        match &self.0.others {
            Some(named) if namespace.is_empty() => selection = outside(selection, named),
            _ if self.is_cluster_wide() => {}
            _ => selection = selection.namespace(namespace.clone()),
        }
        let held = (self.0.make)(&selection)?;
        for (name, function) in &state.indices {
            held.add_index(name.clone(), SharedIndex(function.clone()))?;
        }
        state.parts.insert(namespace.clone(), held.clone());
        self.show(state);
        state.members.retain(|member| !member.is_removed());
        for member in &state.members {
            member
                .enter(&namespace, &held)
                .map_err(|error| BuildError::new(error.to_string()))?;
        }
        held.start_with_factory();
        Ok(())
    }

    fn show(&self, state: &State<K>) {
        let parts = state.parts.iter();
        self.0
            .store
            .set(parts.map(|(namespace, held)| (namespace.clone(), held.store())));
    }

    /// As [`SharedInformer::add_handler`], for all namespaces, present and future. The handler is called by one of them at a time, each of
    /// which waits for the others' calls; it is told of each object in order, and nothing is said of the order across namespaces.
    ///
    /// # Errors
    /// When an informer has stopped.
    pub fn add_handler(
        &self,
        handler: impl EventHandler<ObjectKey, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        let removed = Removed::default();
        let shared = Shared::new(handler, removed.clone());
        self.join(removed, options, move |informer, options| {
            informer.add_handler(shared.clone(), options)
        })
    }

    /// As [`add_handler`](Self::add_handler), for a handler that awaits.
    ///
    /// # Errors
    /// When an informer has stopped.
    pub fn add_async_handler(
        &self,
        handler: impl AsyncHandler<ObjectKey, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        let removed = Removed::default();
        let shared = SharedAsync::new(handler, removed.clone());
        self.join(removed, options, move |informer, options| {
            informer.add_async_handler(shared.clone(), options)
        })
    }

    /// As [`add_handler`](Self::add_handler), for a handler that may block: each namespace calls it from a thread of its own.
    ///
    /// # Errors
    /// When an informer has stopped.
    pub fn add_blocking_handler(
        &self,
        handler: impl EventHandler<ObjectKey, K> + 'static,
        options: HandlerOptions,
    ) -> Result<Registration, Stopped> {
        let removed = Removed::default();
        let shared = Shared::new(handler, removed.clone());
        self.join(removed, options, move |informer, options| {
            informer.add_blocking_handler(shared.clone(), options)
        })
    }

    fn join(
        &self,
        removed: Arc<AtomicBool>,
        mut options: HandlerOptions,
        add: impl Fn(&SharedInformer<ObjectKey, K>, HandlerOptions) -> Result<Registration, Stopped>
        + Send
        + Sync
        + 'static,
    ) -> Result<Registration, Stopped> {
        let mut state = self.lock();
        state.last_id += 1;
        let default_name = || format!("handler {} of {}", state.last_id, self.0.name).into();
        let name = options.name.take().unwrap_or_else(default_name);
        options.name = Some(name.clone());
        let member = Joined::new(name, removed, move |informer| add(informer, options.clone()));
        for (namespace, held) in &state.parts {
            if let Err(stopped) = member.enter(namespace, held) {
                member.remove();
                return Err(stopped);
            }
        }
        let member = Arc::new(member);
        state.members.retain(|member| !member.is_removed());
        state.members.push(member.clone());
        Ok(Registration::of(member))
    }

    /// The stores of all namespaces as one. Namespaces are not read at one point in time; each by itself is. The applied version is the
    /// earliest of theirs, where they can be compared.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store<ObjectKey, K>> {
        self.0.store.clone()
    }

    /// The store of each namespace by itself, by name; the empty name stands for a kind that lives in no namespace, or for all the other
    /// namespaces. What waits for a version waits for the store of the namespace that it is about.
    #[must_use]
    pub fn stores(&self) -> Vec<Part<K>> {
        let state = self.lock();
        let parts = state.parts.iter();
        parts.map(|(name, held)| (name.clone(), held.store())).collect()
    }

    /// Reads them as one; a question about a namespace that is not covered is an error.
    #[must_use]
    pub fn lister(&self) -> NamespacesLister<K> {
        NamespacesLister::new(self.clone())
    }

    /// Adds an index to every namespace, present and future.
    ///
    /// # Errors
    /// When an informer has an index of that name, whoever added it, or the function fails for a stored object. Then the namespaces before
    /// that one have it.
    pub fn add_index(
        &self,
        name: impl Into<Arc<str>>,
        function: impl IndexFunc<K> + 'static,
    ) -> Result<(), BuildError> {
        let (name, function): (Arc<str>, Arc<dyn IndexFunc<K>>) = (name.into(), Arc::new(function));
        let mut state = self.lock();
        for held in state.parts.values() {
            held.add_index(name.clone(), SharedIndex(function.clone()))?;
        }
        state.indices.push((name, function));
        Ok(())
    }

    /// Whether the first list of every namespace is in the store.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.lock().parts.values().all(|held| held.has_synced())
    }

    /// Waits until every namespace that there is now is in sync, for so long at most.
    ///
    /// # Errors
    /// When some are not: which, and what each waits for.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    pub async fn wait_synced(&self, within: Duration) -> Result<(), NotAllSynced> {
        let parts: Vec<Held<K>> = self.lock().parts.values().cloned().collect();
        let Some(clock) = parts.first().map(|held| held.clock().clone()) else {
            return Ok(());
        };
        let informers = parts.iter().map(|held| held.any()).collect();
        wait_all(informers, &clock, within).await
    }

    /// How each informer is, by namespace.
    #[must_use]
    pub fn status(&self) -> Vec<Status> {
        self.lock().parts.values().map(|held| held.status()).collect()
    }

    fn is_cluster_wide(&self) -> bool {
        self.0.selection.resource.scope == Scope::Cluster
    }

    /// What runs under the lock is ours and whole between any two calls, but for an index function's panic, which changes nothing here.
    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of these, the ones outside of these namespaces.
fn outside(selection: Selection, named: &BTreeSet<Arc<str>>) -> Selection {
    let pins = named.iter().map(|name| format!("metadata.namespace!={name}"));
    let fields = Some(selection.fields.to_string()).filter(|fields| !fields.is_empty());
    let all: Vec<_> = fields.into_iter().chain(pins).collect();
    selection.fields(all.join(","))
}

/// One index function for several stores.
struct SharedIndex<K>(Arc<dyn IndexFunc<K>>);

impl<K> IndexFunc<K> for SharedIndex<K> {
    fn values(&self, object: &K, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        self.0.values(object, emit)
    }
}

impl<K> Clone for Namespaces<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for Namespaces<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Namespaces")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}
