//! Predicates on a part of the object that changes.

use std::fmt;

use informer_core::Entry;

use crate::Predicate;

/// Lets updates pass that change a part of the object; see [`changed`], [`labels_changed`], [`annotations_changed`].
#[derive(Clone, Copy)]
pub struct Changed<F>(F);

/// Drops updates that leave a part of the object as it was, and resyncs. The function finds the part, by reference.
///
/// ```
/// use informer_controller::changed;
///
/// struct Deployment {
///     replicas: u32,
/// }
/// let scaled = changed(|it: &Deployment| &it.replicas);
/// # let _: &dyn informer_controller::Predicate<informer_core::ObjectKey, Deployment> = &scaled;
/// ```
pub fn changed<K, T, F>(part: F) -> Changed<F>
where
    T: PartialEq + ?Sized,
    F: Fn(&K) -> &T + Send + Sync,
{
    Changed(part)
}

/// Drops updates that leave the labels as they were, and resyncs (controller-runtime `LabelChangedPredicate`). The function finds the
/// labels: as a map in whatever form, since [`Meta`](informer_core::Meta) reads single labels only.
pub fn labels_changed<K, T, F>(labels: F) -> Changed<F>
where
    T: PartialEq + ?Sized,
    F: Fn(&K) -> &T + Send + Sync,
{
    Changed(labels)
}

/// Drops updates that leave the annotations as they were, and resyncs (controller-runtime `AnnotationChangedPredicate`). The function
/// finds the annotations.
pub fn annotations_changed<K, T, F>(annotations: F) -> Changed<F>
where
    T: PartialEq + ?Sized,
    F: Fn(&K) -> &T + Send + Sync,
{
    Changed(annotations)
}

impl<Q, K, T, F> Predicate<Q, K> for Changed<F>
where
    T: PartialEq + ?Sized,
    F: Fn(&K) -> &T + Send + Sync,
{
    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        (self.0)(&old.object) != (self.0)(&new.object)
    }

    fn resynced(&self, _: &Entry<Q, K>) -> bool {
        false
    }
}

impl<F> fmt::Debug for Changed<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changed").finish_non_exhaustive()
    }
}
