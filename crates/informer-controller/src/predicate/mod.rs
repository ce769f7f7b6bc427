//! Which changes matter.

mod changed;
mod combine;
mod functions;
mod kinds;

use informer_core::{Change, Entry};

pub use changed::{Changed, annotations_changed, changed, labels_changed};
pub use combine::{And, Not, Or, PredicateExt};
pub use functions::{NewObjectFn, ObjectFn, PredicateFns, new_object_fn, object_fn};
pub use kinds::{GenerationChanged, LabelsMatch, VersionChanged};

/// Lets changes pass or drops them before they are mapped (controller-runtime `predicate.Predicate`).
///
/// Everything passes unless a method says otherwise. A predicate that looks at what an object is should leave removals alone: else nobody
/// hears of the end of an object that was let in before. It remembers nothing. `PredicateSuite`, behind the feature `conformance`, checks one.
pub trait Predicate<Q, K>: Send + Sync {
    /// A new object; `initial`: of the first list.
    fn added(&self, _new: &Entry<Q, K>, _initial: bool) -> bool {
        true
    }

    /// A new state.
    fn updated(&self, _old: &Entry<Q, K>, _new: &Entry<Q, K>) -> bool {
        true
    }

    /// The end of an object. Not `observed`: it was missing from a list, and the state is the last one known.
    fn removed(&self, _last: &Entry<Q, K>, _observed: bool) -> bool {
        true
    }

    /// The current state again.
    fn resynced(&self, _current: &Entry<Q, K>) -> bool {
        true
    }

    /// Whether a change passes: asks the method of its kind.
    fn admits(&self, change: &Change<Q, K>) -> bool {
        match change {
            Change::Added { new, initial } => self.added(new, *initial),
            Change::Updated { old, new } => self.updated(old, new),
            Change::Removed { last, observed } => self.removed(last, *observed),
            Change::Resynced { current } => self.resynced(current),
        }
    }
}

/// Lets everything pass.
impl<Q, K> Predicate<Q, K> for () {}

impl<Q, K, P: Predicate<Q, K> + ?Sized> Predicate<Q, K> for Box<P> {
    fn added(&self, new: &Entry<Q, K>, initial: bool) -> bool {
        (**self).added(new, initial)
    }

    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        (**self).updated(old, new)
    }

    fn removed(&self, last: &Entry<Q, K>, observed: bool) -> bool {
        (**self).removed(last, observed)
    }

    fn resynced(&self, current: &Entry<Q, K>) -> bool {
        (**self).resynced(current)
    }

    fn admits(&self, change: &Change<Q, K>) -> bool {
        (**self).admits(change)
    }
}
