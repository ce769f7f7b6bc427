//! Predicates of predicates.

use informer_core::Entry;

use crate::Predicate;

/// Lets pass what both let pass.
#[derive(Debug, Clone, Copy)]
pub struct And<A, B>(pub A, pub B);

/// Lets pass what either lets pass.
#[derive(Debug, Clone, Copy)]
pub struct Or<A, B>(pub A, pub B);

/// Lets pass what the other does not; but a removal passes, whatever the other says.
#[derive(Debug, Clone, Copy)]
pub struct Not<A>(pub A);

impl<Q, K, A: Predicate<Q, K>, B: Predicate<Q, K>> Predicate<Q, K> for And<A, B> {
    fn added(&self, new: &Entry<Q, K>, initial: bool) -> bool {
        self.0.added(new, initial) && self.1.added(new, initial)
    }

    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        self.0.updated(old, new) && self.1.updated(old, new)
    }

    fn removed(&self, last: &Entry<Q, K>, observed: bool) -> bool {
        self.0.removed(last, observed) && self.1.removed(last, observed)
    }

    fn resynced(&self, current: &Entry<Q, K>) -> bool {
        self.0.resynced(current) && self.1.resynced(current)
    }
}

impl<Q, K, A: Predicate<Q, K>, B: Predicate<Q, K>> Predicate<Q, K> for Or<A, B> {
    fn added(&self, new: &Entry<Q, K>, initial: bool) -> bool {
        self.0.added(new, initial) || self.1.added(new, initial)
    }

    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        self.0.updated(old, new) || self.1.updated(old, new)
    }

    fn removed(&self, last: &Entry<Q, K>, observed: bool) -> bool {
        self.0.removed(last, observed) || self.1.removed(last, observed)
    }

    fn resynced(&self, current: &Entry<Q, K>) -> bool {
        self.0.resynced(current) || self.1.resynced(current)
    }
}

impl<Q, K, A: Predicate<Q, K>> Predicate<Q, K> for Not<A> {
    fn added(&self, new: &Entry<Q, K>, initial: bool) -> bool {
        !self.0.added(new, initial)
    }

    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        !self.0.updated(old, new)
    }

    fn resynced(&self, current: &Entry<Q, K>) -> bool {
        !self.0.resynced(current)
    }
}

/// Combines predicates.
pub trait PredicateExt: Sized {
    /// What both let pass.
    fn and<B>(self, other: B) -> And<Self, B> {
        And(self, other)
    }

    /// What either lets pass.
    fn or<B>(self, other: B) -> Or<Self, B> {
        Or(self, other)
    }

    /// What this one does not let pass, and removals.
    fn negated(self) -> Not<Self> {
        Not(self)
    }
}

impl<M> PredicateExt for super::GenerationChanged<M> {}
impl PredicateExt for super::VersionChanged {}
impl<M> PredicateExt for super::LabelsMatch<M> {}
impl<F> PredicateExt for super::ObjectFn<F> {}
impl<F> PredicateExt for super::NewObjectFn<F> {}
impl<F> PredicateExt for super::Changed<F> {}
impl<Q, K> PredicateExt for super::PredicateFns<Q, K> {}
impl<A, B> PredicateExt for And<A, B> {}
impl<A, B> PredicateExt for Or<A, B> {}
impl<A> PredicateExt for Not<A> {}
