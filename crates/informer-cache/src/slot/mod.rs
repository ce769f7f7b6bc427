//! `Slot`: one kind of a cache, in the one form that it is held in.

mod any;
mod build;
mod query;
mod seen;

use std::{
    any::type_name,
    collections::BTreeMap,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use informer_client::{ApiSource, Form};
use informer_core::{BoxClock, Clock, IndexError, IndexFunc, Meta, ObjectKey, Resource, Store};
use informer_sharedinformer::{Factory, Held, Namespaces, Selection, Status};
use informer_transport::{BoxTransport, Codec};
use tokio::{select, sync::watch};

pub(crate) use self::{
    any::{AnySlot, Place, read},
    query::{ListQuery, What},
    seen::{Gate, Look, Seen, Verdict},
};
use crate::{
    error::{CacheError, Reason},
    scope::Covered,
};

type Source<K> = ApiSource<BoxTransport, K, Arc<dyn Codec<K>>>;
type Sources<K> = Box<dyn Fn(&Selection) -> Source<K> + Send + Sync>;
type NamedStore<K> = (Arc<str>, Arc<dyn Store<ObjectKey, K>>);

/// One kind: its informers, and how they are read.
pub(crate) struct Slot<K> {
    pub(crate) resource: Resource,
    pub(crate) parts: Parts<K>,
    pub(crate) covered: Covered,
    factory: Factory<Sources<K>>,
    meta: Option<Arc<dyn Meta<K>>>,
    whole: bool,
    clock: BoxClock,
    /// The functions behind the indices, to hold further requirements against.
    fields: Mutex<BTreeMap<String, Arc<dyn IndexFunc<K>>>>,
    removed: watch::Sender<bool>,
}

/// The informers.
pub(crate) enum Parts<K> {
    All(Held<K>),
    Named(Namespaces<K>),
}

impl<K: Form> Slot<K> {
    /// The stores that a question about a namespace, or about all, is put to.
    pub(crate) fn stores(&self, namespace: Option<&str>) -> Result<Vec<NamedStore<K>>, CacheError> {
        let names = match &self.parts {
            Parts::All(held) => return Ok(vec![("".into(), held.store())]),
            Parts::Named(names) => names,
        };
        let mut stores = names.stores();
        let Some(namespace) = namespace else {
            return Ok(stores);
        };
        if !names.covers(Some(namespace)) {
            return Err(CacheError::new(Reason::NotCovered {
                resource: self.resource.clone(),
                namespace: namespace.to_owned(),
                covered: names.names().iter().map(ToString::to_string).collect(),
            }));
        }
        let named = stores.iter().any(|(name, _)| **name == *namespace);
        stores.retain(|(name, _)| **name == *(if named { namespace } else { "" }));
        Ok(stores)
    }

    pub(crate) fn status(&self) -> Vec<Status> {
        match &self.parts {
            Parts::All(held) => vec![held.status()],
            Parts::Named(names) => names.status(),
        }
    }

    pub(crate) fn has_synced(&self) -> bool {
        match &self.parts {
            Parts::All(held) => held.has_synced(),
            Parts::Named(names) => names.has_synced(),
        }
    }

    /// Waits until these have their first list: not for other namespaces, of which one may never have it.
    async fn synced(&self, stores: &[NamedStore<K>], within: Duration) -> Result<(), CacheError> {
        let until = self.clock.now() + within;
        loop {
            let seen = Seen::of(stores);
            if seen.versions().all(|version| !version.is_none()) || self.has_synced() {
                return Ok(());
            }
            select! {
                biased;
                () = self.gone() => return Err(self.was_removed()),
                () = changed(stores, &seen) => {}
                () = self.clock.sleep_until(until) => return Err(self.not_synced(within)),
            }
        }
    }

    /// Waits until every part has its first list.
    pub(crate) async fn all_synced(&self, within: Duration) -> Result<(), CacheError> {
        self.synced(&self.stores(None)?, within).await
    }

    /// One view of these in which the gate sees what it wants to.
    async fn settled(
        &self,
        stores: &[NamedStore<K>],
        gate: Option<&dyn Gate>,
        within: Duration,
    ) -> Result<Seen<K>, CacheError> {
        let until = self.clock.now() + within;
        loop {
            let seen = Seen::of(stores);
            let write = match gate.map_or(Verdict::Shown, |gate| gate.check(&seen)) {
                Verdict::Shown => return Ok(seen),
                Verdict::Missing(write) => write,
                Verdict::Incomparable(write) => {
                    let resource = self.resource.clone();
                    return Err(CacheError::new(Reason::Incomparable { resource, write }));
                }
            };
            select! {
                biased;
                () = self.gone() => return Err(self.was_removed()),
                () = changed(stores, &seen) => {}
                () = self.clock.sleep_until(until) => {
                    return Err(CacheError::new(Reason::Overdue {
                        resource: self.resource.clone(),
                        waited: within,
                        write,
                        at: self.whereabouts(),
                    }));
                }
            }
        }
    }

    fn whereabouts(&self) -> String {
        let parts = self.status();
        let say = |status: &Status| {
            let at = status.applied.as_str();
            let at = if at.is_empty() { "no version" } else { at };
            format!("{} is at {at}, {}", status.name, status.source)
        };
        parts.iter().map(say).collect::<Vec<_>>().join("; ")
    }

    fn not_synced(&self, waited: Duration) -> CacheError {
        let parts = self.status();
        let missing: Vec<&Status> = parts.iter().filter(|status| !status.synced).collect();
        let say = |status: &&Status| {
            let cause = match status.phase {
                informer_sharedinformer::Phase::Idle => "it was not started".to_owned(),
                _ => status.source.to_string(),
            };
            format!("{} is not in sync after {waited:?}: {cause}", status.name)
        };
        CacheError::new(Reason::NotSynced {
            message: missing.iter().map(say).collect::<Vec<_>>().join("; "),
            class: missing.iter().find_map(|status| status.source.class),
        })
    }

    fn was_removed(&self) -> CacheError {
        CacheError::new(Reason::Removed(self.resource.clone()))
    }

    /// Waits until the kind is removed from the cache.
    pub(crate) async fn gone(&self) {
        let mut removed = self.removed.subscribe();
        // The sender lives as long as `self`.
        let _gone = removed.wait_for(|removed| *removed).await;
    }

    pub(crate) fn index(&self, field: &str, function: Arc<dyn IndexFunc<K>>) -> Result<(), CacheError> {
        // Held until the index is there: a second one of the name must find the first.
        let mut fields = self.fields();
        if fields.contains_key(field) {
            return Err(CacheError::build(format!(
                "{} have an index of field {field:?} already",
                self.resource
            )));
        }
        let shared = SharedIndex(function.clone());
        let added = match &self.parts {
            Parts::All(held) => held.add_index(field, shared),
            Parts::Named(names) => names.add_index(field, shared),
        };
        added.map_err(CacheError::build)?;
        fields.insert(field.to_owned(), function);
        Ok(())
    }

    fn fields(&self) -> MutexGuard<'_, BTreeMap<String, Arc<dyn IndexFunc<K>>>> {
        self.fields.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn form_name() -> &'static str {
        let name = type_name::<K>();
        name.rsplit("::").next().unwrap_or(name)
    }
}

/// Resolves when any of these has another version than was seen.
async fn changed<K>(stores: &[NamedStore<K>], seen: &Seen<K>) {
    poll_fn(|cx| {
        let mut any = Poll::Pending;
        for ((_, store), applied) in stores.iter().zip(seen.versions()) {
            // Each is asked, so that each wakes.
            if store.poll_changed(cx, applied).is_ready() {
                any = Poll::Ready(());
            }
        }
        any
    })
    .await;
}

/// One index function for the informers and for further requirements.
struct SharedIndex<K>(Arc<dyn IndexFunc<K>>);

impl<K> IndexFunc<K> for SharedIndex<K> {
    fn values(&self, object: &K, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        self.0.values(object, emit)
    }
}
