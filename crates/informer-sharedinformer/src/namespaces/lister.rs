//! A lister that knows which namespaces it covers.

use std::{error::Error, fmt, sync::Arc};

use informer_core::{Entry, Meta, ObjectKey, Snapshot, UnknownIndex};

use super::Namespaces;
use crate::{LabelSelector, Lister, Page};

/// Reads several namespaces as one. A question about a namespace that is not covered is an error: nothing is known of it, which is not the
/// same as that nothing is there.
#[derive(Debug, Clone)]
pub struct NamespacesLister<K: Send + Sync + 'static> {
    namespaces: Namespaces<K>,
    all: Lister<ObjectKey, K>,
}

impl<K: Send + Sync + 'static> NamespacesLister<K> {
    pub(super) fn new(namespaces: Namespaces<K>) -> Self {
        let all = Lister::new(namespaces.store());
        Self { namespaces, all }
    }

    fn covered(&self, namespace: Option<&str>) -> Result<(), NotCovered> {
        if self.namespaces.covers(namespace) {
            Ok(())
        } else {
            Err(NotCovered {
                informer: self.namespaces.name().into(),
                namespace: namespace.unwrap_or_default().into(),
                covered: self.namespaces.names(),
            })
        }
    }

    /// The object of a key; `None`: it is gone, or was never there.
    ///
    /// # Errors
    /// When its namespace is not covered.
    pub fn get(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, NotCovered> {
        self.covered(key.namespace())?;
        Ok(self.all.get(key))
    }

    /// The objects of one namespace, by name.
    ///
    /// # Errors
    /// When it is not covered.
    pub fn list_namespace(&self, namespace: &str) -> Result<Vec<Arc<K>>, NotCovered> {
        self.covered(Some(namespace))?;
        Ok(self.all.list_namespace(namespace))
    }

    /// As [`Lister::page_of`].
    ///
    /// # Errors
    /// When the namespace is not covered.
    pub fn page_of(
        &self,
        namespace: &str,
        after: Option<&ObjectKey>,
        limit: usize,
        wanted: impl FnMut(&Entry<ObjectKey, K>) -> bool,
    ) -> Result<Page<ObjectKey, K>, NotCovered> {
        self.covered(Some(namespace))?;
        Ok(self.all.page_of(namespace, after, limit, wanted))
    }

    /// As [`Lister::page`], of all covered namespaces.
    #[must_use]
    pub fn page(
        &self,
        after: Option<&ObjectKey>,
        limit: usize,
        wanted: impl FnMut(&Entry<ObjectKey, K>) -> bool,
    ) -> Page<ObjectKey, K> {
        self.all.page(after, limit, wanted)
    }

    /// The objects of all covered namespaces, in key order.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<K>> {
        self.all.list()
    }

    /// As [`Lister::by_index`], of all covered namespaces.
    ///
    /// # Errors
    /// When there is no such index.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Vec<Arc<K>>, UnknownIndex> {
        self.all.by_index(index, value)
    }

    /// As [`Lister::matching`], of all covered namespaces.
    #[must_use]
    pub fn matching(&self, selector: &LabelSelector, meta: &impl Meta<K>) -> Vec<Arc<K>> {
        self.all.matching(selector, meta)
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Each namespace at one moment, for several questions.
    #[must_use]
    pub fn snapshot(&self) -> Arc<dyn Snapshot<ObjectKey, K>> {
        self.all.snapshot()
    }
}

/// A namespace that nothing is known of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCovered {
    informer: Arc<str>,
    namespace: Box<str>,
    covered: Vec<Arc<str>>,
}

impl NotCovered {
    /// The namespace; empty for an object without one.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Those that are covered.
    #[must_use]
    pub fn covered(&self) -> &[Arc<str>] {
        &self.covered
    }
}

impl fmt::Display for NotCovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            informer,
            namespace,
            covered,
        } = self;
        write!(f, "informer {informer:?} does not cover ")?;
        if namespace.is_empty() {
            f.write_str("objects without a namespace")?;
        } else {
            write!(f, "namespace {namespace:?}")?;
        }
        write!(f, ", but {}", covered.join(", "))
    }
}

impl Error for NotCovered {}
