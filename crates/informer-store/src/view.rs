//! One point in time of the store.

use std::{error::Error, fmt, ops::ControlFlow, sync::Arc};

use informer_core::{Entry, IndexError, Key, ObjectKey, ResourceVersion, Snapshot, UnknownIndex};
use smallvec::SmallVec;

use crate::{
    index::{Index, Values},
    tree::Tree,
};

/// One point in time of a store: however long it is held, and whatever is written meanwhile, it stays as it is.
///
/// Holding one keeps the objects of that time alive, and nothing else.
pub struct View<Q: Key, K> {
    pub(crate) objects: Tree<Q, Arc<Stored<Q, K>>>,
    pub(crate) indices: Vec<Index<Q, K>>,
    pub(crate) applied: ResourceVersion,
    /// What is there in no state that could ever be read. None of them is among the objects.
    pub(crate) unread: Tree<Q, ()>,
}

/// An entry and its values in each index, in the order of the indices.
pub(crate) struct Stored<Q, K> {
    pub(crate) entry: Entry<Q, K>,
    pub(crate) values: SmallVec<[Values; 1]>,
}

impl<Q: Key, K> View<Q, K> {
    /// Objects in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The version up to which the source's changes are in it.
    #[must_use]
    pub fn applied(&self) -> &ResourceVersion {
        &self.applied
    }

    /// The entry of a key.
    #[must_use]
    pub fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        self.stored(key).map(|it| &it.entry)
    }

    /// The keys of what is there in no state that could ever be read, in order.
    pub fn unreadable(&self) -> impl Iterator<Item = &Q> {
        self.unread.iter().map(|(key, ())| key)
    }

    /// Whether the object of a key is there in no state that could ever be read.
    #[must_use]
    pub fn is_unreadable(&self, key: &Q) -> bool {
        self.unread.get(key).is_some()
    }

    /// All entries, in key order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry<Q, K>> {
        self.objects.values().map(|it| &it.entry)
    }

    /// The entries behind `after`, in key order.
    pub fn iter_after(&self, after: &Q) -> impl Iterator<Item = &Entry<Q, K>> {
        self.objects.range(|key| key <= after).map(|(_, it)| &it.entry)
    }

    /// At most `limit` entries from behind `after`, in key order. The key of the last is the `after` of the next page; a page that is not
    /// full is the last. Pages of one view fit together, as they are of one time.
    #[must_use]
    pub fn list_page(&self, after: Option<&Q>, limit: usize) -> Vec<Entry<Q, K>> {
        let page = self.objects.range(|key| after.is_some_and(|after| key <= after));
        page.take(limit).map(|(_, it)| it.entry.clone()).collect()
    }

    /// The names of its indices.
    pub fn index_names(&self) -> impl Iterator<Item = &str> {
        self.indices.iter().map(|it| &*it.name)
    }

    /// The values of an index that lead to at least one object, in order (client-go `ListIndexFuncValues`).
    ///
    /// # Errors
    /// When there is no such index.
    pub fn index_values(&self, index: &str) -> Result<Vec<Arc<str>>, UnknownIndex> {
        Ok(self.index(index)?.values().cloned().collect())
    }

    /// The keys under a value of an index, in order (client-go `IndexKeys`).
    ///
    /// # Errors
    /// When there is no such index.
    pub fn index_keys(&self, index: &str, value: &str) -> Result<Vec<Q>, UnknownIndex> {
        Ok(self.index(index)?.keys(value).cloned().collect())
    }

    /// The values that an object has in an index, in order, each once, whether or not it is stored.
    ///
    /// # Errors
    /// When there is no such index, or its function fails or panics.
    pub fn values_of(&self, index: &str, object: &K) -> Result<Vec<Arc<str>>, ByObjectError> {
        let index = self.index(index)?;
        match index.evaluate(object) {
            Ok(values) => Ok(values.into_vec()),
            Err(cause) => Err(ByObjectError(Kind::Failed(index.name.clone(), cause))),
        }
    }

    /// The entries that share a value with an object in an index, itself included if it is stored: each once, in key order (client-go
    /// `Index`).
    ///
    /// # Errors
    /// As [`values_of`](Self::values_of).
    pub fn by_object(&self, index: &str, object: &K) -> Result<Vec<Entry<Q, K>>, ByObjectError> {
        let values = self.values_of(index, object)?;
        let index = self.index(index)?;
        let mut keys: Vec<&Q> = values.iter().flat_map(|value| index.keys(value)).collect();
        keys.sort_unstable();
        keys.dedup();
        Ok(keys
            .into_iter()
            .filter_map(|key| self.get(key))
            .cloned()
            .collect())
    }

    pub(crate) fn stored(&self, key: &Q) -> Option<&Arc<Stored<Q, K>>> {
        self.objects.get(key)
    }

    fn index(&self, name: &str) -> Result<&Index<Q, K>, UnknownIndex> {
        self.indices
            .iter()
            .find(|it| *it.name == *name)
            .ok_or_else(|| UnknownIndex::new(name, self.index_names()))
    }
}

impl<K> View<ObjectKey, K> {
    /// The entries of one namespace, in name order. Keys are ordered by namespace, so this is a range and needs no index.
    pub fn namespace(&self, namespace: &str) -> impl Iterator<Item = &Entry<ObjectKey, K>> {
        let first = ObjectKey::first_of(namespace);
        let from_there = self.objects.range(|key| *key < first);
        let of_it = from_there.take_while(move |(key, _)| key.namespace() == first.namespace());
        of_it.map(|(_, it)| &it.entry)
    }
}

impl<Q: Key, K: Send + Sync + 'static> Snapshot<Q, K> for View<Q, K> {
    fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        self.get(key)
    }

    fn scan(&self, after: Option<&Q>, visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>) {
        for (_, it) in self.objects.range(|key| after.is_some_and(|after| key <= after)) {
            if visit(&it.entry).is_break() {
                return;
            }
        }
    }

    fn by_index(
        &self,
        index: &str,
        value: &str,
        visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        let entries = self.index(index)?.keys(value).filter_map(|key| self.get(key));
        for entry in entries {
            if visit(entry).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn applied(&self) -> &ResourceVersion {
        &self.applied
    }

    fn unreadable(&self, visit: &mut dyn FnMut(&Q) -> ControlFlow<()>) {
        for key in self.unreadable() {
            if visit(key).is_break() {
                return;
            }
        }
    }

    fn is_unreadable(&self, key: &Q) -> bool {
        self.is_unreadable(key)
    }

    fn len(&self) -> usize {
        self.len()
    }
}

impl<Q: Key, K> Clone for View<Q, K> {
    fn clone(&self) -> Self {
        Self {
            objects: self.objects.clone(),
            indices: self.indices.clone(),
            applied: self.applied.clone(),
            unread: self.unread.clone(),
        }
    }
}

impl<Q: Key, K> fmt::Debug for View<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("len", &self.len())
            .field("applied", &self.applied)
            .field("indices", &self.index_names().collect::<Vec<_>>())
            .finish()
    }
}

/// An index could not be asked by an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByObjectError(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Unknown(UnknownIndex),
    Failed(Arc<str>, IndexError),
}

impl From<UnknownIndex> for ByObjectError {
    fn from(error: UnknownIndex) -> Self {
        Self(Kind::Unknown(error))
    }
}

impl fmt::Display for ByObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Unknown(_) => f.write_str("cannot ask the index by an object"),
            Kind::Failed(name, _) => write!(f, "index {name:?} fails for the object"),
        }
    }
}

impl Error for ByObjectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Kind::Unknown(error) => Some(error),
            Kind::Failed(_, error) => Some(error),
        }
    }
}
