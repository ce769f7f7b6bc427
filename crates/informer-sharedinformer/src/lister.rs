//! The questions that controllers ask a store.

use std::{fmt, ops::ControlFlow, sync::Arc};

use informer_core::{Entry, Key, Meta, ObjectKey, Snapshot, Store, UnknownIndex};

use crate::selector::LabelSelector;

/// Reads a store by key, namespace, index and label (client-go's generated listers, `cache.ListAll`).
///
/// Each answer comes from one snapshot of its own; where two answers must fit together, ask one [`snapshot`](Self::snapshot).
pub struct Lister<Q, K> {
    store: Arc<dyn Store<Q, K>>,
}

impl<Q: Key, K> Lister<Q, K> {
    /// A lister of this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store<Q, K>>) -> Self {
        Self { store }
    }

    /// The object of a key; `None`: it is gone, was never there, or [is unreadable](Self::is_unreadable). It may be older than what could not be
    /// read: [`entry`](Self::entry) tells.
    #[must_use]
    pub fn get(&self, key: &Q) -> Option<Arc<K>> {
        self.entry(key).map(|entry| entry.object)
    }

    /// The entry of a key: the object with its version and uid.
    #[must_use]
    pub fn entry(&self, key: &Q) -> Option<Entry<Q, K>> {
        self.store.snapshot().get(key).cloned()
    }

    /// Whether the object of a key is there in no state that could ever be read: it is not absent.
    #[must_use]
    pub fn is_unreadable(&self, key: &Q) -> bool {
        self.store.snapshot().is_unreadable(key)
    }

    /// All objects, in key order.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<K>> {
        self.select(|_| true)
    }

    /// The objects under a value of an index, in key order.
    ///
    /// # Errors
    /// When there is no such index; the error names those that exist.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Vec<Arc<K>>, UnknownIndex> {
        let mut objects = Vec::new();
        self.store.snapshot().by_index(index, value, &mut |entry| {
            objects.push(entry.object.clone());
            ControlFlow::Continue(())
        })?;
        Ok(objects)
    }

    /// The objects whose labels a selector matches, in key order. `meta` reads the labels; a form of object that holds none matches as if
    /// it had none, so ask [`Meta::fields`] first where that may be.
    #[must_use]
    pub fn matching(&self, selector: &LabelSelector, meta: &impl Meta<K>) -> Vec<Arc<K>> {
        self.select(|entry| selector.matches(|name| meta.label(&entry.object, name)))
    }

    /// The objects whose entries are wanted, in key order.
    #[must_use]
    pub fn select(&self, mut wanted: impl FnMut(&Entry<Q, K>) -> bool) -> Vec<Arc<K>> {
        let mut objects = Vec::new();
        self.store.snapshot().scan(None, &mut |entry| {
            if wanted(entry) {
                objects.push(entry.object.clone());
            }
            ControlFlow::Continue(())
        });
        objects
    }

    /// Up to `limit` of the entries that are wanted, from behind `after`, in key order. The limit counts what is wanted, not what was
    /// looked at.
    ///
    /// Each page is of its own time. For all pages of one time page through one [`snapshot`](Self::snapshot).
    #[must_use]
    pub fn page(
        &self,
        after: Option<&Q>,
        limit: usize,
        mut wanted: impl FnMut(&Entry<Q, K>) -> bool,
    ) -> Page<Q, K> {
        page(&*self.store.snapshot(), after, limit, |entry| {
            ControlFlow::Continue(wanted(entry))
        })
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// One point in time, for several questions.
    #[must_use]
    pub fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        self.store.snapshot()
    }
}

impl<K> Lister<ObjectKey, K> {
    /// The objects of one namespace, by name. A range of the store: it needs no index.
    #[must_use]
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        let mut objects = Vec::new();
        let first = ObjectKey::first_of(namespace);
        self.store.snapshot().scan(Some(&first), &mut |entry| {
            if entry.key.namespace() != Some(namespace) {
                return ControlFlow::Break(());
            }
            objects.push(entry.object.clone());
            ControlFlow::Continue(())
        });
        objects
    }
}

impl<K> Lister<ObjectKey, K> {
    /// As [`page`](Self::page), of one namespace: `after` is the key of the last entry of the page before.
    #[must_use]
    pub fn page_of(
        &self,
        namespace: &str,
        after: Option<&ObjectKey>,
        limit: usize,
        mut wanted: impl FnMut(&Entry<ObjectKey, K>) -> bool,
    ) -> Page<ObjectKey, K> {
        let first = ObjectKey::first_of(namespace);
        let after = after.map_or(&first, |after| after.max(&first));
        page(&*self.store.snapshot(), Some(after), limit, |entry| {
            if entry.key.namespace() == Some(namespace) {
                ControlFlow::Continue(wanted(entry))
            } else {
                ControlFlow::Break(())
            }
        })
    }
}

/// Some entries of a list.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page<Q, K> {
    /// The entries, in key order.
    pub entries: Vec<Entry<Q, K>>,
    /// Where the next page begins: behind this key. `None`: there is no further entry.
    pub next: Option<Q>,
}

/// `wanted` breaks at the end of what is of interest.
fn page<Q: Clone, K>(
    snapshot: &dyn Snapshot<Q, K>,
    after: Option<&Q>,
    limit: usize,
    mut wanted: impl FnMut(&Entry<Q, K>) -> ControlFlow<(), bool>,
) -> Page<Q, K> {
    let mut entries: Vec<Entry<Q, K>> = Vec::new();
    let mut more = false;
    snapshot.scan(after, &mut |entry| match wanted(entry) {
        ControlFlow::Continue(true) if entries.len() == limit => {
            more = true;
            ControlFlow::Break(())
        }
        ControlFlow::Continue(true) => {
            entries.push(entry.clone());
            ControlFlow::Continue(())
        }
        ControlFlow::Continue(false) => ControlFlow::Continue(()),
        ControlFlow::Break(()) => ControlFlow::Break(()),
    });
    // A page of nothing begins where it was asked to.
    let last = entries.last().map(|entry| &entry.key).or(after);
    let next = if more { last.cloned() } else { None };
    Page { next, entries }
}

impl<Q, K> Clone for Lister<Q, K> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
        }
    }
}

impl<Q, K> fmt::Debug for Lister<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lister").field("len", &self.store.len()).finish()
    }
}
