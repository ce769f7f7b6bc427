//! One map behind one small interface: a writer that publishes, and readers that look.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{Arc, RwLock},
};

use arc_swap::ArcSwap;
use informer_core::{Batch, Cause, Delta, Entry, ObjectKey, Store, StoreWriter};
use informer_store::{Indexers, Reader, Writer, indexed};

use crate::{measure::Object, tree::Tree};

pub(crate) type It = Arc<Entry<ObjectKey, Object>>;

/// A map with one writer. What was written is seen by readers after `publish`.
pub(crate) trait Candidate: Sized {
    type Look: Look;

    fn new() -> Self;
    fn reader(&self) -> Self::Look;
    fn write(&mut self, entry: Entry<ObjectKey, Object>);
    fn publish(&mut self);
}

/// What readers do.
pub(crate) trait Look: Clone + Send + 'static {
    /// Whether it is there, in the state of now.
    fn has(&self, key: &ObjectKey) -> bool;
    /// Visits all of one state.
    fn visit(&self, visit: &mut dyn FnMut(&Entry<ObjectKey, Object>));
}

/// A persistent map, published by swapping a pointer to it, as the store does.
pub(crate) trait Persistent: Clone + Default + Send + Sync + 'static {
    fn put(&mut self, entry: It);
    fn has(&self, key: &ObjectKey) -> bool;
    fn visit(&self, visit: &mut dyn FnMut(&Entry<ObjectKey, Object>));
}

pub(crate) struct Published<M> {
    next: M,
    current: Arc<ArcSwap<M>>,
}

impl<M: Persistent> Candidate for Published<M> {
    type Look = Swapped<M>;

    fn new() -> Self {
        Self {
            next: M::default(),
            current: Arc::new(ArcSwap::from_pointee(M::default())),
        }
    }

    fn reader(&self) -> Swapped<M> {
        Swapped(self.current.clone())
    }

    fn write(&mut self, entry: Entry<ObjectKey, Object>) {
        self.next.put(Arc::new(entry));
    }

    fn publish(&mut self) {
        self.current.store(Arc::new(self.next.clone()));
    }
}

pub(crate) struct Swapped<M>(Arc<ArcSwap<M>>);

impl<M> Clone for Swapped<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Persistent> Look for Swapped<M> {
    fn has(&self, key: &ObjectKey) -> bool {
        self.0.load().has(key)
    }

    fn visit(&self, visit: &mut dyn FnMut(&Entry<ObjectKey, Object>)) {
        self.0.load_full().visit(visit);
    }
}

pub(crate) type Own = Published<OwnMap>;

#[derive(Clone)]
pub(crate) struct OwnMap(Tree<ObjectKey, It>);

impl Default for OwnMap {
    fn default() -> Self {
        Self(Tree::new())
    }
}

impl Persistent for OwnMap {
    fn put(&mut self, entry: It) {
        self.0.insert(entry.key.clone(), entry);
    }

    fn has(&self, key: &ObjectKey) -> bool {
        self.0.get(key).is_some()
    }

    fn visit(&self, visit: &mut dyn FnMut(&Entry<ObjectKey, Object>)) {
        self.0.values().for_each(|it| visit(it));
    }
}

pub(crate) type Imbl = Published<imbl::OrdMap<ObjectKey, It>>;

impl Persistent for imbl::OrdMap<ObjectKey, It> {
    fn put(&mut self, entry: It) {
        self.insert(entry.key.clone(), entry);
    }

    fn has(&self, key: &ObjectKey) -> bool {
        self.contains_key(key)
    }

    fn visit(&self, visit: &mut dyn FnMut(&Entry<ObjectKey, Object>)) {
        self.values().for_each(|it| visit(it));
    }
}

pub(crate) type Rpds = Published<rpds::RedBlackTreeMapSync<ObjectKey, It>>;

impl Persistent for rpds::RedBlackTreeMapSync<ObjectKey, It> {
    fn put(&mut self, entry: It) {
        self.insert_mut(entry.key.clone(), entry);
    }

    fn has(&self, key: &ObjectKey) -> bool {
        self.contains_key(key)
    }

    fn visit(&self, visit: &mut dyn FnMut(&Entry<ObjectKey, Object>)) {
        self.values().for_each(|it| visit(it));
    }
}

/// The baseline: a reader holds the lock while it looks, and the writer waits.
#[derive(Default)]
pub(crate) struct Locked {
    pending: Vec<It>,
    map: LockedMap,
}

#[derive(Clone, Default)]
pub(crate) struct LockedMap(Arc<RwLock<BTreeMap<ObjectKey, It>>>);

impl Candidate for Locked {
    type Look = LockedMap;

    fn new() -> Self {
        Self::default()
    }

    fn reader(&self) -> LockedMap {
        self.map.clone()
    }

    fn write(&mut self, entry: Entry<ObjectKey, Object>) {
        self.pending.push(Arc::new(entry));
    }

    fn publish(&mut self) {
        let mut map = self.map.0.write().expect("no thread panics");
        map.extend(self.pending.drain(..).map(|it| (it.key.clone(), it)));
    }
}

impl Look for LockedMap {
    fn has(&self, key: &ObjectKey) -> bool {
        self.0.read().expect("no thread panics").contains_key(key)
    }

    fn visit(&self, visit: &mut dyn FnMut(&Entry<ObjectKey, Object>)) {
        self.0
            .read()
            .expect("no thread panics")
            .values()
            .for_each(|it| visit(it));
    }
}

/// The store as it is, changes told and versions followed.
pub(crate) struct Whole<const INDEXED: bool> {
    writer: Writer<ObjectKey, Object>,
    reader: Reader<ObjectKey, Object>,
    batch: Batch<ObjectKey, Object>,
}

pub(crate) type StorePlain = Whole<false>;
pub(crate) type StoreTagged = Whole<true>;

impl<const INDEXED: bool> Candidate for Whole<INDEXED> {
    type Look = Reader<ObjectKey, Object>;

    fn new() -> Self {
        let mut indexers = Indexers::new();
        if INDEXED {
            indexers = indexers.with("node", |it: &Object, emit: &mut dyn FnMut(&str)| emit(it.node));
        }
        let (writer, reader) = indexed(indexers).expect("one index has one name");
        Self {
            writer,
            reader,
            batch: Batch::default(),
        }
    }

    fn reader(&self) -> Reader<ObjectKey, Object> {
        self.reader.clone()
    }

    fn write(&mut self, entry: Entry<ObjectKey, Object>) {
        self.batch.deltas.push(Delta::Upsert(entry, Cause::Modified));
    }

    fn publish(&mut self) {
        let mut changes = Vec::with_capacity(self.batch.deltas.len());
        self.writer
            .commit(&mut self.batch, &mut changes)
            .expect("the index function does not fail");
        assert!(!changes.is_empty());
    }
}

impl Look for Reader<ObjectKey, Object> {
    fn has(&self, key: &ObjectKey) -> bool {
        self.view().get(key).is_some()
    }

    fn visit(&self, visit: &mut dyn FnMut(&Entry<ObjectKey, Object>)) {
        self.snapshot().scan(None, &mut |it| {
            visit(it);
            ControlFlow::Continue(())
        });
    }
}
