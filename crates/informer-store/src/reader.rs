//! The reading side.

use std::{
    error::Error,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{
    CommitFailure, Entry, IndexFunc, Key, ObjectKey, ResourceVersion, Snapshot, Store, UnknownIndex,
};
use smallvec::SmallVec;

use crate::{
    index::Index,
    indexers::{DuplicateIndex, Named},
    page::Page,
    shared::Shared,
    tree::Tree,
    view::{ByObjectError, Stored, View},
};

/// Reads a store. Clones are cheap and read the same store; none ever waits for the writer, nor makes it wait.
///
/// Each method here answers from the state at its call. Where two answers must fit together, ask one [`view`](Self::view).
pub struct Reader<Q: Key, K> {
    pub(crate) shared: Arc<Shared<Q, K>>,
}

impl<Q: Key, K: Send + Sync + 'static> Reader<Q, K> {
    /// The state now. Costs one pointer.
    #[must_use]
    pub fn view(&self) -> Arc<View<Q, K>> {
        self.shared.view()
    }

    /// Adds an index at any time; when this returns, the index holds every object (client-go `AddIndexers`).
    ///
    /// Visits each stored object once. A commit at the same time waits for it; readers do not.
    ///
    /// # Errors
    /// When there is an index of that name, or the function fails for a stored object. Then nothing changed.
    pub fn add_index(
        &self,
        name: impl Into<Arc<str>>,
        function: impl IndexFunc<K> + 'static,
    ) -> Result<(), AddIndexError<Q>> {
        let named = Named {
            name: name.into(),
            function: Arc::new(function),
        };
        self.shared.write(|view| match with_index(view, named) {
            Ok(view) => (Some(view), Ok(())),
            Err(error) => (None, Err(error)),
        })
    }

    /// [`View::list_page`] of the state now.
    #[must_use]
    pub fn list_page(&self, after: Option<&Q>, limit: usize) -> Vec<Entry<Q, K>> {
        self.view().list_page(after, limit)
    }

    /// The first page of the state now, in key order. Its [`Page::next`] leads through the rest of that state, whatever is written
    /// meanwhile. A limit of 0 is none.
    #[must_use]
    pub fn page(&self, limit: usize) -> Page<Q, K> {
        Page::first(self.view(), limit)
    }

    /// [`View::by_object`] of the state now.
    ///
    /// # Errors
    /// When there is no such index, or its function fails or panics for the object.
    pub fn by_object(&self, index: &str, object: &K) -> Result<Vec<Entry<Q, K>>, ByObjectError> {
        self.view().by_object(index, object)
    }

    /// [`View::index_values`] of the state now.
    ///
    /// # Errors
    /// When there is no such index.
    pub fn index_values(&self, index: &str) -> Result<Vec<Arc<str>>, UnknownIndex> {
        self.view().index_values(index)
    }

    /// [`View::index_keys`] of the state now.
    ///
    /// # Errors
    /// When there is no such index.
    pub fn index_keys(&self, index: &str, value: &str) -> Result<Vec<Q>, UnknownIndex> {
        self.view().index_keys(index, value)
    }
}

impl<K: Send + Sync + 'static> Reader<ObjectKey, K> {
    /// The entries of one namespace, in name order. A range of the store: it needs no index.
    #[must_use]
    pub fn list_namespace(&self, namespace: &str) -> Vec<Entry<ObjectKey, K>> {
        self.view().namespace(namespace).cloned().collect()
    }
}

impl<Q: Key, K: Send + Sync + 'static> Store<Q, K> for Reader<Q, K> {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        self.view()
    }

    fn len(&self) -> usize {
        self.view().len()
    }

    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        self.shared.poll_changed(cx.waker(), seen)
    }
}

impl<Q: Key, K> Clone for Reader<Q, K> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<Q: Key, K> fmt::Debug for Reader<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reader").field(&self.shared.view()).finish()
    }
}

/// The same view with one index more.
fn with_index<Q: Key, K>(view: &View<Q, K>, named: Named<K>) -> Result<View<Q, K>, AddIndexError<Q>> {
    if view.index_names().any(|name| *name == *named.name) {
        let name = named.name;
        return Err(AddIndexError(Kind::Duplicate(DuplicateIndex { name })));
    }
    let mut index = Index::new(named);
    let mut objects = Tree::new();
    for stored in view.objects.values() {
        let entry = &stored.entry;
        let values = index.evaluate(&entry.object).map_err(|cause| {
            AddIndexError(Kind::Failed(CommitFailure {
                key: entry.key.clone(),
                index: Some(index.name.clone()),
                cause,
            }))
        })?;
        index.shift(&entry.key, &[], &values);
        let mut all: SmallVec<_> = stored.values.clone();
        all.push(values);
        objects.insert(
            entry.key.clone(),
            Arc::new(Stored {
                entry: entry.clone(),
                values: all,
            }),
        );
    }
    let mut indices = view.indices.clone();
    indices.push(index);
    Ok(View {
        objects,
        indices,
        applied: view.applied.clone(),
        unread: view.unread.clone(),
    })
}

/// An index could not be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddIndexError<Q>(Kind<Q>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind<Q> {
    Duplicate(DuplicateIndex),
    Failed(CommitFailure<Q>),
}

impl<Q> AddIndexError<Q> {
    /// Whether there is an index of that name already.
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        matches!(self.0, Kind::Duplicate(_))
    }

    /// The stored object for which the function failed, and why.
    #[must_use]
    pub fn failure(&self) -> Option<&CommitFailure<Q>> {
        match &self.0 {
            Kind::Duplicate(_) => None,
            Kind::Failed(failure) => Some(failure),
        }
    }
}

impl<Q: fmt::Debug> fmt::Display for AddIndexError<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Duplicate(_) => f.write_str("cannot add the index"),
            Kind::Failed(failure) => {
                let name = failure.index.as_deref().unwrap_or_default();
                write!(f, "cannot add index {name:?}: it fails for {:?}", failure.key)
            }
        }
    }
}

impl<Q: fmt::Debug> Error for AddIndexError<Q> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Kind::Duplicate(error) => Some(error),
            Kind::Failed(failure) => Some(&failure.cause),
        }
    }
}
