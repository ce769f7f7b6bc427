//! The predicates that most controllers need.

use informer_core::{Entry, Meta};
use informer_sharedinformer::LabelSelector;

use crate::{MissingMeta, Predicate};

/// Drops updates that leave the generation as it was, which changes with the specification, and resyncs (controller-runtime
/// `GenerationChangedPredicate`). An object without a generation passes. An object that begins to be deleted passes: its generation
/// grows with the deletion mark.
#[derive(Debug, Clone, Copy)]
pub struct GenerationChanged<M>(M);

impl<M> GenerationChanged<M> {
    /// As `meta` reads the generation of objects `K`.
    ///
    /// # Errors
    /// When that form of object holds none.
    pub fn new<K: ?Sized>(meta: M) -> Result<Self, MissingMeta>
    where
        M: Meta<K>,
    {
        if meta.fields().generation {
            Ok(Self(meta))
        } else {
            Err(MissingMeta {
                who: "the predicate on generations",
                what: "generation",
            })
        }
    }
}

impl<Q, K, M: Meta<K>> Predicate<Q, K> for GenerationChanged<M> {
    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        let generation = self.0.generation(&new.object);
        generation.is_none() || generation != self.0.generation(&old.object)
    }

    fn resynced(&self, _: &Entry<Q, K>) -> bool {
        false
    }
}

/// Drops updates that leave the resource version as it was, and resyncs (controller-runtime `ResourceVersionChangedPredicate`).
#[derive(Debug, Clone, Copy, Default)]
pub struct VersionChanged;

impl<Q, K> Predicate<Q, K> for VersionChanged {
    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        old.stamp.version != new.stamp.version
    }

    fn resynced(&self, _: &Entry<Q, K>) -> bool {
        false
    }
}

/// Lets objects pass whose labels match a selector; an update if the old or the new state does, so that an object which leaves the
/// selection is heard of once more. Removals pass.
#[derive(Debug, Clone)]
pub struct LabelsMatch<M> {
    selector: LabelSelector,
    meta: M,
}

impl<M> LabelsMatch<M> {
    /// As `meta` reads the labels of objects `K`.
    ///
    /// # Errors
    /// When that form of object holds none.
    pub fn new<K: ?Sized>(selector: LabelSelector, meta: M) -> Result<Self, MissingMeta>
    where
        M: Meta<K>,
    {
        if meta.fields().labels {
            Ok(Self { selector, meta })
        } else {
            Err(MissingMeta {
                who: "the predicate on labels",
                what: "labels",
            })
        }
    }

    fn matches<K>(&self, object: &K) -> bool
    where
        M: Meta<K>,
    {
        self.selector.matches(|name| self.meta.label(object, name))
    }
}

impl<Q, K, M: Meta<K>> Predicate<Q, K> for LabelsMatch<M> {
    fn added(&self, new: &Entry<Q, K>, _: bool) -> bool {
        self.matches(&*new.object)
    }

    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        self.matches(&*new.object) || self.matches(&*old.object)
    }

    fn resynced(&self, current: &Entry<Q, K>) -> bool {
        self.matches(&*current.object)
    }
}
