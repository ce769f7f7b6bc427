//! A store with the wanted objects of another.

use std::{
    ops::ControlFlow,
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{Entry, Key, ResourceVersion, Snapshot, Store, UnknownIndex};

use super::Wanted;

pub(super) struct FilteredStore<Q, K> {
    pub(super) store: Arc<dyn Store<Q, K>>,
    pub(super) wanted: Wanted<Q, K>,
}

impl<Q: Key, K: Send + Sync + 'static> Store<Q, K> for FilteredStore<Q, K> {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        Arc::new(FilteredSnapshot {
            snapshot: self.store.snapshot(),
            wanted: self.wanted.clone(),
        })
    }

    /// Looks at every object.
    fn len(&self) -> usize {
        self.snapshot().len()
    }

    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        self.store.poll_changed(cx, seen)
    }
}

struct FilteredSnapshot<Q, K> {
    snapshot: Arc<dyn Snapshot<Q, K>>,
    wanted: Wanted<Q, K>,
}

impl<Q: Key, K: Send + Sync> Snapshot<Q, K> for FilteredSnapshot<Q, K> {
    fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        self.snapshot.get(key).filter(|entry| (self.wanted)(entry))
    }

    fn scan(&self, after: Option<&Q>, visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>) {
        self.snapshot.scan(after, &mut |entry| self.visit(entry, visit));
    }

    fn by_index(
        &self,
        index: &str,
        value: &str,
        visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        self.snapshot
            .by_index(index, value, &mut |entry| self.visit(entry, visit))
    }

    fn applied(&self) -> &ResourceVersion {
        self.snapshot.applied()
    }

    /// All of them: whether one would be wanted cannot be told.
    fn unreadable(&self, visit: &mut dyn FnMut(&Q) -> ControlFlow<()>) {
        self.snapshot.unreadable(visit);
    }

    fn is_unreadable(&self, key: &Q) -> bool {
        self.snapshot.is_unreadable(key)
    }
}

impl<Q, K> FilteredSnapshot<Q, K> {
    fn visit(
        &self,
        entry: &Entry<Q, K>,
        visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if (self.wanted)(entry) {
            visit(entry)
        } else {
            ControlFlow::Continue(())
        }
    }
}
