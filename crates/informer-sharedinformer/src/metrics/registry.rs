//! Which informers are measured, each under a name of its own.

use std::{
    collections::BTreeSet,
    error::Error,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use informer_core::Resource;

use super::Metrics;

/// Names an informer among those that one registry measures (client-go `InformerName` with its resource).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct InformerId {
    /// Whose informer it is: the program's, or the factory's.
    pub name: Arc<str>,
    /// The kind of its objects.
    pub resource: Resource,
    /// What narrows it, as `in kube-system with app=web`; empty where nothing does.
    pub part: Arc<str>,
}

impl InformerId {
    /// All objects of a kind.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, resource: Resource) -> Self {
        Self {
            name: name.into(),
            resource,
            part: "".into(),
        }
    }

    /// The same, narrowed.
    #[must_use]
    pub fn part(mut self, part: impl Into<Arc<str>>) -> Self {
        self.part = part.into();
        self
    }
}

impl fmt::Display for InformerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.resource)?;
        if self.part.is_empty() {
            Ok(())
        } else {
            write!(f, " {}", self.part)
        }
    }
}

/// Gives each informer those who count for it: the adapter to a metrics library.
pub trait MetricsProvider: Send + Sync {
    /// Who counts for the queue, store and listeners of this informer.
    fn informer(&self, id: &InformerId) -> Box<dyn Metrics>;

    /// Shows what the objects in the store of this informer weigh: `weigh` tells it in bytes, at some cost, whenever it is asked, and 0 once the
    /// informer is gone. Called for informers that were given a way to [weigh](crate::Builder::weigh) objects.
    fn store_bytes(&self, _id: &InformerId, _weigh: Box<dyn Fn() -> u64 + Send + Sync>) {}

    /// Who counts for its reflector, where it has one.
    fn reflector(&self, _id: &InformerId) -> Option<Arc<dyn informer_reflector::Metrics>> {
        None
    }
}

/// A provider, and the names that are taken: two informers must not write one series. Clones are the same registry; a program has as many
/// as it wants, and none is global.
#[derive(Clone)]
pub struct MetricsRegistry(Arc<Registry>);

struct Registry {
    provider: Box<dyn MetricsProvider>,
    taken: Mutex<BTreeSet<InformerId>>,
}

impl MetricsRegistry {
    /// A registry in which no name is taken.
    pub fn new(provider: impl MetricsProvider + 'static) -> Self {
        Self(Arc::new(Registry {
            provider: Box::new(provider),
            taken: Mutex::default(),
        }))
    }

    pub(crate) fn provider(&self) -> &dyn MetricsProvider {
        &*self.0.provider
    }

    /// Takes a name, until the claim is dropped.
    pub(crate) fn claim(&self, id: &InformerId) -> Result<Claim, DuplicateId> {
        if !self.0.lock().insert(id.clone()) {
            return Err(DuplicateId(id.clone()));
        }
        Ok(Claim {
            registry: self.0.clone(),
            id: id.clone(),
        })
    }
}

impl Registry {
    /// No code of others runs under the lock.
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<InformerId>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MetricsRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsRegistry")
            .field("taken", &*self.0.lock())
            .finish_non_exhaustive()
    }
}

/// A name that is taken, until this is dropped.
pub(crate) struct Claim {
    registry: Arc<Registry>,
    id: InformerId,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.registry.lock().remove(&self.id);
    }
}

/// The name is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DuplicateId(InformerId);

impl fmt::Display for DuplicateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "another informer is measured as {:?}", self.0.to_string())
    }
}

impl Error for DuplicateId {}
